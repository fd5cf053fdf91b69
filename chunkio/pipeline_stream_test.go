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

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestStreamEqualsFile(t *testing.T) {
	defer leaktest.CheckGoroutines(t)()
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(8, 8)), 20_000, 4, 0.01)
	opt := Options{Missing: stream.MissingDropRow, Exclude: []string{"a2"}}
	disk, paths := PlantTable(tab, 1, 3000, 1)
	fakeOpt := opt
	fakeOpt.Exclude = []string{"a2", "emb"}
	want, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, fakeOpt), stream.Range{})
	formattest.Must(t, err)
	path := filepath.Join(t.TempDir(), "x")
	formattest.Must(t, os.WriteFile(path, chunkiotest.ArrowBytes(t, tab, 3000, true), 0o600))
	file, err := Open(t.Context(), []string{path}, opt)
	formattest.Must(t, err)
	got, err := chunkiotest.CollectRows(file, stream.Range{})
	formattest.Must(t, err)
	if d := chunkiotest.DescribeDiff(got, want); d != "" {
		t.Errorf("file: %s", d)
	}

	content := chunkiotest.ArrowBytes(t, tab, 3000, false)
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
	if got, err = chunkiotest.CollectRows(ds, stream.Range{}); err != nil {
		t.Fatalf("a pass over the stream within %d bytes: %v", opt.Memory, err)
	}
	if d := chunkiotest.DescribeDiff(got, want); d != "" {
		t.Errorf("stream: %s", d)
	}
	if in := ds.Inputs(); len(in) != 1 || in[0].Rows != 20_000 || in[0].Bytes != int64(len(content)) {
		t.Errorf("inputs %+v, want 20000 rows of %d bytes", in, len(content))
	}
	if n := opt.Meter.Bytes.Load(); n != int64(len(content)) {
		t.Errorf("%d bytes counted, want %d", n, len(content))
	}
	if _, err := chunkiotest.CollectRows(ds, stream.Range{}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "save it to a file") {
		t.Errorf("second pass: error %v", err)
	}
}

func TestBrokenStreams(t *testing.T) {
	content := chunkiotest.ArrowBytes(t, chunkiotest.RandomTable(rand.New(rand.NewPCG(8, 8)), 5000, 4, 0), 1000, false)
	broken := errors.New("broken pipe")
	for name, r := range map[string]io.Reader{
		"cut":   bytes.NewReader(content[:len(content)-8]),
		"fails": io.MultiReader(bytes.NewReader(content[:len(content)/2]), iotest.ErrReader(broken)),
	} {
		ds, err := Open(t.Context(), []string{"-"}, Options{Stdin: r})
		formattest.Must(t, err)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		if !chunkiotest.IsData(err) || name == "fails" && !errors.Is(err, broken) {
			t.Errorf("%s: error %v after %d rows", name, err, len(got.Rows))
		}
	}
	ds, err := Open(t.Context(), []string{"-"}, Options{Stdin: bytes.NewReader(chunkiotest.ArrowBytes(t, chunkiotest.RandomTable(rand.New(rand.NewPCG(8, 8)), 0, 1, 0), 1, false))})
	formattest.Must(t, err)
	if err := chunkiotest.PassError(ds); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("a stream without rows: error %v", err)
	}
	for _, opt := range []Options{{}, {Stdin: bytes.NewReader(content), Sample: 5}} {
		if _, err := Open(context.Background(), []string{"-"}, opt); !chunkiotest.IsUsage(err) {
			t.Errorf("%+v: error %v, want a usage error", opt, err)
		}
	}
}
