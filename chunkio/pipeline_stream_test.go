package chunkio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/leaktest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// arrowBytes writes the scalars of a table as an Arrow stream, or file, of batches
// of the given height.
func arrowBytes(t *testing.T, tab *table, batch int, asFile bool) []byte {
	t.Helper()
	var fields []arrow.Field
	for _, l := range tab.leaves {
		if x := tab.scalar[l.Name]; x != nil {
			fields = append(fields, arrow.Field{Name: l.Name, Type: arrow.PrimitiveTypes.Float64, Nullable: true})
		}
	}
	schema := arrow.NewSchema(fields, nil)
	var records []arrow.Record
	for from := 0; from < tab.rows; from += batch {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for j, f := range fields {
			column := b.Field(j).(*array.Float64Builder)
			for _, v := range tab.scalar[f.Name][from:min(from+batch, tab.rows)] {
				if format.IsNull(v) {
					column.AppendNull()
				} else {
					column.Append(v)
				}
			}
		}
		records = append(records, b.NewRecord())
	}
	return formattest.WriteArrow(t, !asFile, records, ipc.WithSchema(schema))
}

func TestStreamEqualsFile(t *testing.T) {
	defer leaktest.CheckGoroutines(t)()
	tab := randomTable(rand.New(rand.NewPCG(8, 8)), 20_000, 4, 0.01)
	opt := Options{Missing: stream.MissingDropRow, Exclude: []string{"a2"}}
	disk, paths := plant(tab, 1, 3000, 1)
	fakeOpt := opt
	fakeOpt.Exclude = []string{"a2", "emb"}
	want, err := collect(disk.dataset(t, paths, fakeOpt), stream.Range{})
	formattest.Must(t, err)
	path := filepath.Join(t.TempDir(), "x")
	formattest.Must(t, os.WriteFile(path, arrowBytes(t, tab, 3000, true), 0o600))
	file, err := Open(t.Context(), []string{path}, opt)
	formattest.Must(t, err)
	got, err := collect(file, stream.Range{})
	formattest.Must(t, err)
	if d := diff(got, want); d != "" {
		t.Errorf("file: %s", d)
	}

	content := arrowBytes(t, tab, 3000, false)
	opt.Meter = new(stream.Meter)
	opt.Stdin = iotest.HalfReader(bytes.NewReader(content))
	ds, err := Open(t.Context(), []string{"-"}, opt)
	formattest.Must(t, err)
	if ds.Rows() != -1 || ds.Cuts() != nil || ds.Replayable() {
		t.Errorf("rows %d, cuts %v, replayable %v", ds.Rows(), ds.Cuts(), ds.Replayable())
	}
	opt.Memory = ds.MinMemory() + 10*int64(len(content))
	ds, err = ds.With(opt)
	formattest.Must(t, err)
	if got, err = collect(ds, stream.Range{}); err != nil {
		t.Fatalf("a pass over the stream within %d bytes: %v", opt.Memory, err)
	}
	if d := diff(got, want); d != "" {
		t.Errorf("stream: %s", d)
	}
	if in := ds.Inputs(); len(in) != 1 || in[0].Rows != 20_000 || in[0].Bytes != int64(len(content)) {
		t.Errorf("inputs %+v, want 20000 rows of %d bytes", in, len(content))
	}
	if n := opt.Meter.Bytes.Load(); n != int64(len(content)) {
		t.Errorf("%d bytes counted, want %d", n, len(content))
	}
	if _, err := collect(ds, stream.Range{}); !isUsage(err) || !strings.Contains(err.Error(), "save it to a file") {
		t.Errorf("second pass: error %v", err)
	}
}

func TestBrokenStreams(t *testing.T) {
	content := arrowBytes(t, randomTable(rand.New(rand.NewPCG(8, 8)), 5000, 4, 0), 1000, false)
	broken := errors.New("broken pipe")
	for name, r := range map[string]io.Reader{
		"cut":   bytes.NewReader(content[:len(content)-8]),
		"fails": io.MultiReader(bytes.NewReader(content[:len(content)/2]), iotest.ErrReader(broken)),
	} {
		ds, err := Open(t.Context(), []string{"-"}, Options{Stdin: r})
		formattest.Must(t, err)
		got, err := collect(ds, stream.Range{})
		if !isData(err) || name == "fails" && !errors.Is(err, broken) {
			t.Errorf("%s: error %v after %d rows", name, err, len(got.rows))
		}
	}
	ds, err := Open(t.Context(), []string{"-"}, Options{Stdin: bytes.NewReader(arrowBytes(t, randomTable(rand.New(rand.NewPCG(8, 8)), 0, 1, 0), 1, false))})
	formattest.Must(t, err)
	if err := passError(ds); !isData(err) || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("a stream without rows: error %v", err)
	}
	for _, opt := range []Options{{}, {Stdin: bytes.NewReader(content), Sample: 5}} {
		if _, err := Open(context.Background(), []string{"-"}, opt); !isUsage(err) {
			t.Errorf("%+v: error %v, want a usage error", opt, err)
		}
	}
}
