package writing_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Rows written as lists read back as the same rows, from dense and from sparse chunks, at every edge of a row group;
// the file is the same, too.
func TestWriteSparseRoundTrip(t *testing.T) {
	for _, typ := range []string{"float", "double"} {
		for _, rows := range []int{0, 1, 63, 64, 65, 300} {
			for _, d := range []int{1, 5, 40} {
				src := CountTable(rows, d, 50, typ)
				opt := writing.WriteOptions{Sparse: true, RowGroupRows: 64, Label: func(p int64) int32 { return int32(p % 3) }, LabelName: "kind"}
				dense := chunkiotest.WriteToBytes(t, src, opt)
				src.Sparse = true
				opt.Threads = 1
				if !bytes.Equal(dense, chunkiotest.WriteToBytes(t, src, opt)) {
					t.Errorf("%s, %d×%d: sparse chunks write another file than dense ones", typ, rows, d)
				}
				path := filepath.Join(t.TempDir(), "x.parquet")
				formattest.Must(t, writing.WriteParquet(t.Context(), path, src, opt))
				checkSparseFile(t, path, src, typ)
			}
		}
	}
}

// checkSparseFile compares a file with its source, by v15's reader and by ours.
func checkSparseFile(t *testing.T, path string, src *chunkiotest.TableSource, typ string) {
	t.Helper()
	d := formattest.ReadDump(t, path)
	index, value := d.FindLeaf("indices.list.element"), d.FindLeaf("values.list.element")
	if index.Node.PhysicalType() != parquet.Types.Int32 || value.Node.PhysicalType() != writer.NumberOf(typ).Physical {
		t.Fatalf("indices of type %v, values of type %v", index.Node, value.Node)
	}
	var indices, values, labels []string
	for i := range src.Height {
		for j, col := range src.Cols {
			if x := col[i]; x != 0 {
				indices = append(indices, fmt.Sprint(j))
				if typ == "float" {
					values = append(values, fmt.Sprintf("%v %08x", float32(x), math.Float32bits(float32(x))))
				} else {
					values = append(values, fmt.Sprintf("%v %016x", x, math.Float64bits(x)))
				}
			}
		}
		labels = append(labels, fmt.Sprint(i%3))
	}
	if !slices.Equal(index.Values, indices) || !slices.Equal(value.Values, values) || !slices.Equal(d.FindLeaf("kind").Values, labels) {
		t.Fatalf("%d rows: v15 reads other values", src.Height)
	}
	if src.Height == 0 {
		return
	}
	ds, err := dataset.OpenInputs(t.Context(), []string{path}, settings.Options{Sparse: fmt.Sprintf("indices,values,%d", len(src.Cols)), Label: "kind", Classes: true})
	formattest.Must(t, err)
	got, err := chunkiotest.CollectRows(ds, stream.Range{})
	if err != nil || len(got.Rows) != src.Height {
		t.Fatalf("%d rows, error %v", len(got.Rows), err)
	}
	for i, row := range got.Rows {
		for j, x := range row {
			if math.Float64bits(x) != math.Float64bits(src.Cols[j][i]) {
				t.Fatalf("row %d, column %d: %v, want %v", i, j, x, src.Cols[j][i])
			}
		}
	}
	var names []string
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		formattest.Must(t, err)
		for _, class := range c.Class {
			names = append(names, ds.Classes()[class])
		}
	}
	if !slices.Equal(names, labels) {
		t.Error("the rows have other classes")
	}
}

// A missing value is a null entry; a value that its type cannot hold, or a missing one
// in REQUIRED lists, is an error with its place, and leaves no file.
func TestWriteSparseMissing(t *testing.T) {
	src := CountTable(100, 3, 30, "double")
	src.Cols[2][41] = math.NaN()
	path := filepath.Join(t.TempDir(), "x.parquet")
	formattest.Must(t, writing.WriteParquet(t.Context(), path, src, writing.WriteOptions{Sparse: true}))
	ds, err := dataset.OpenInputs(t.Context(), []string{path}, settings.Options{Sparse: "indices,values,3", Missing: stream.MissingDropRow})
	formattest.Must(t, err)
	got, err := chunkiotest.CollectRows(ds, stream.Range{})
	if err != nil || len(got.Rows) != 99 || slices.Contains(got.Positions, 41) || got.Missing[2].Nulls != 1 {
		t.Errorf("%d rows, missing %v, error %v", len(got.Rows), got.Missing, err)
	}
	dir := t.TempDir()
	for _, opt := range []writing.WriteOptions{{Required: true}, {Type: "float"}} {
		opt.Sparse = true
		if opt.Type == "float" {
			src.Cols[2][41] = 1e300
		}
		err := writing.WriteParquet(t.Context(), filepath.Join(dir, "x.parquet"), src, opt)
		if e, ok := errors.AsType[*stream.DataError](err); !ok || e.Column != "w2" || e.Row != 41 {
			t.Errorf("%+v: error %v", opt, err)
		}
	}
	if err := writing.WriteParquet(t.Context(), filepath.Join(dir, "x.parquet"), src, writing.WriteOptions{Sparse: true, Type: "int8"}); !chunkiotest.IsUsage(err) {
		t.Errorf("integers: error %v, want a usage error", err)
	}
	assertEmpty(t, dir)
}

// The real sparse table survives being written again.
func TestWriteSparseBasehock(t *testing.T) {
	opt := settings.Options{Sparse: "indices,values", Label: "label", Classes: true}
	from, err := dataset.OpenInputs(t.Context(), []string{fixtures.DatasetPath(t, "basehock_sparse.parquet")}, opt)
	formattest.Must(t, err)
	path := filepath.Join(t.TempDir(), "x.parquet")
	formattest.Must(t, writing.WriteParquet(t.Context(), path, from, writing.WriteOptions{Sparse: true}))
	opt.Label, opt.Classes, opt.Sparse = "", false, fmt.Sprint("indices,values,", len(from.Columns()))
	to, err := dataset.OpenInputs(t.Context(), []string{path}, opt)
	formattest.Must(t, err)
	want, err := chunkiotest.CollectRows(from, stream.Range{})
	formattest.Must(t, err)
	got, err := chunkiotest.CollectRows(to, stream.Range{})
	formattest.Must(t, err)
	if d := chunkiotest.DescribeDiff(got, want); d != "" {
		t.Errorf("rows read back differ: %s", d)
	}
	if len(from.Classes()) != 2 {
		t.Errorf("classes %q", from.Classes())
	}
}

// Rows of more entries than the guess are planned with the number in the file's footer: they are read within the
// least memory that the error names.
func TestSparseRowsAreAsDenseAsTheFooterSays(t *testing.T) {
	for _, d := range []int{400, 2400} { // a sixth of these are entries, on average
		src := CountTable(2000, d, 500, "float")
		path := filepath.Join(t.TempDir(), "x.parquet")
		formattest.Must(t, writing.WriteParquet(t.Context(), path, src, writing.WriteOptions{Sparse: true, RowGroupRows: 1000}))
		opt := settings.Options{Sparse: fmt.Sprint("indices,values,", d)}
		ds, err := dataset.OpenInputs(t.Context(), []string{path}, opt)
		formattest.Must(t, err)
		defer ds.Close()
		entries := 0
		for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
			formattest.Must(t, err)
			entries += len(c.Sparse.Value)
		}
		mean := int64(entries) / 2000
		if got := ds.RowEntries(); got < max(mean, 100) || got > max(2*mean, 100) {
			t.Errorf("%d columns: %d entries a row are planned with, %d are there", d, got, mean)
		}
		opt.Memory = ds.MinMemory()
		tight, err := ds.With(opt)
		formattest.Must(t, err)
		if err := chunkiotest.PassError(tight); err != nil {
			t.Errorf("%d columns, within %d bytes: %v", d, opt.Memory, err)
		}
	}
}
