package chunkio

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// triple is an entry of a table; NaN is written as null.
type triple struct {
	row   int64
	index int32
	value float64
}

// writeTriples writes columns r, i and v, and one more, in groups of height triples.
func writeTriples(t *testing.T, path string, all []triple, height int) string {
	t.Helper()
	groups := slices.Collect(slices.Chunk(all, height))
	if strings.HasSuffix(path, ".arrow") {
		number := func(name string, typ arrow.DataType) arrow.Field {
			return arrow.Field{Name: name, Type: typ, Nullable: true}
		}
		fields := arrow.NewSchema([]arrow.Field{number("v", arrow.PrimitiveTypes.Float64), number("r", arrow.PrimitiveTypes.Uint32), number("i", arrow.PrimitiveTypes.Int16)}, nil)
		var records []arrow.Record
		for _, g := range groups {
			b := array.NewRecordBuilder(memory.DefaultAllocator, fields)
			for _, e := range g {
				if v := b.Field(0).(*array.Float64Builder); e.value != e.value {
					v.AppendNull()
				} else {
					v.Append(e.value)
				}
				b.Field(1).(*array.Uint32Builder).Append(uint32(e.row))
				b.Field(2).(*array.Int16Builder).Append(int16(e.index))
			}
			records = append(records, b.NewRecord())
		}
		formattest.Must(t, os.WriteFile(path, formattest.WriteArrow(t, false, records), 0o600))
		return path
	}
	required := parquet.Repetitions.Required
	fields := schema.FieldList{
		schema.NewInt64Node("r", required, -1), schema.NewInt32Node("i", required, -1),
		schema.NewByteArrayNode("note", required, -1), schema.NewFloat64Node("v", parquet.Repetitions.Optional, -1),
	}
	formattest.Must(t, os.WriteFile(path, formattest.WriteFile(t, fields, len(groups), func(g, c int, w pqfile.ColumnChunkWriter) (err error) {
		for _, e := range groups[g] {
			switch w := w.(type) {
			case *pqfile.Int64ColumnChunkWriter:
				_, err = w.WriteBatch([]int64{e.row}, nil, nil)
			case *pqfile.Int32ColumnChunkWriter:
				_, err = w.WriteBatch([]int32{e.index}, nil, nil)
			case *pqfile.ByteArrayColumnChunkWriter:
				_, err = w.WriteBatch([]parquet.ByteArray{[]byte("x")}, nil, nil)
			case *pqfile.Float64ColumnChunkWriter:
				if e.value != e.value {
					_, err = w.WriteBatch(nil, []int16{0}, nil)
				} else {
					_, err = w.WriteBatch([]float64{e.value}, []int16{1}, nil)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}), 0o600))
	return path
}

// Triples give the rows of the same lists, whatever groups and files they are cut into; rows without a
// triple are rows of zeros.
func TestTriplesEqualLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const n, d = 400, 9
	var all []triple
	indices, values := make([][]float64, n), make([][]float64, n)
	for i := range n {
		indices[i], values[i] = []float64{}, []float64{}
		for _, j := range rng.Perm(d) {
			if i%5 != 2 && (rng.IntN(4) == 0 || i == n-1) && i >= 3 {
				v := float64(1 + rng.IntN(9))
				if rng.IntN(20) == 0 {
					v = math.NaN()
				}
				all = append(all, triple{int64(i), int32(j), v})
				indices[i], values[i] = append(indices[i], float64(j)), append(values[i], v)
			}
		}
	}
	disk, planted := PlantTable(chunkiotest.NewTable(n).AddList("ix", 0, indices).AddList("v", 0, values), 1, 1<<16, 1)
	for _, policy := range []stream.MissingPolicy{stream.MissingKeep, stream.MissingZero} {
		want, err := chunkiotest.CollectRows(disk.OpenDataset(t, planted, Options{Sparse: "ix,v,9", Missing: policy}), stream.Range{})
		formattest.Must(t, err)
		for _, ending := range []string{"parquet", "arrow"} {
			for _, height := range []int{1, 7, 10_000} {
				for _, files := range []int{1, 3} {
					dir := t.TempDir()
					var paths []string
					from := 0
					for f := range files {
						to := len(all) * (f + 1) / files
						for to < len(all) && all[to].row == all[to-1].row {
							to++
						}
						paths = append(paths, writeTriples(t, filepath.Join(dir, fmt.Sprint(f, ".", ending)), all[from:to], height))
						from = to
					}
					for _, sparse := range []string{"r,i,v,9", "r,i,v"} {
						ds, err := Open(t.Context(), paths, Options{Sparse: sparse, Missing: policy})
						formattest.Must(t, err)
						got, err := chunkiotest.CollectRows(ds, stream.Range{})
						formattest.Must(t, err)
						if ds.Columns()[3].Name != "v[3]" {
							t.Errorf("names %v", ds.Columns()[3])
						}
						if !slices.EqualFunc(got.Rows, want.Rows, func(a, b []float64) bool {
							return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
						}) {
							t.Errorf("%s, %s in groups of %d, %d files: other rows", sparse, ending, height, files)
						}
					}
				}
			}
		}
	}
}

// Triples out of order, or with invalid row or feature numbers, are errors with their place.
func TestTriplesRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, all ...triple) string { return writeTriples(t, filepath.Join(dir, name), all, 2) }
	good := write("good.parquet", triple{0, 0, 1}, triple{4, 1, 2})
	for _, c := range []struct {
		paths []string
		words string
	}{
		{[]string{write("order.parquet", triple{0, 0, 1}, triple{3, 0, 1}, triple{2, 1, 1})}, `row group 1, column "r", row 2: row 2 after row 3`},
		{[]string{write("twice.parquet", triple{0, 0, 1}, triple{0, 1, 1}, triple{0, 0, 5})}, "index 0 occurs twice"},
		{[]string{write("row.parquet", triple{-1, 0, 1})}, `column "r", row 0: -1 is no whole number`},
		{[]string{write("key.parquet", triple{1, 0, 1}, triple{1 << 40, 0, 1})}, "no whole number from 0 to 2147483647"},
		{[]string{write("index.parquet", triple{0, 0, 1}, triple{0, -3, 1})}, `column "i", row 1: -3 is no whole number`},
		{[]string{good, write("later.parquet", triple{4, 2, 1})}, "row 4 after row 4 of " + good},
		{[]string{write("missing.parquet", triple{0, 0, math.NaN()}, triple{0, 1, 1})}, "missing value"},
	} {
		ds, err := Open(t.Context(), c.paths, Options{Sparse: "r,i,v,3"})
		if err == nil {
			_, err = chunkiotest.CollectRows(ds, stream.Range{})
		}
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v, want %q", c.paths, err, c.words)
		}
	}
	for sparse, words := range map[string]string{"r,i,w": "no column is named w", "r,note,v": "not numbers"} {
		if _, err := Open(t.Context(), []string{good}, Options{Sparse: sparse}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", sparse, err, words)
		}
	}
	if _, err := Open(t.Context(), []string{good}, Options{Sparse: "r,i,v,3", ForPlan: true}); !chunkiotest.IsUsage(err) {
		t.Errorf("a plan of triples: error %v", err)
	}
	if _, err := Open(t.Context(), []string{good}, Options{Sparse: "r,i,v,3", Spool: scratch.Options{Limit: 10}}); err == nil || !strings.Contains(err.Error(), "scratch") {
		t.Errorf("scratch for less: error %v", err)
	}
	// apply writes the triples dense.
	out := filepath.Join(dir, "out.parquet")
	mustApply(t, []string{good}, out, ApplyOptions{Columns: []string{"v[1]"}, Sparse: "r,i,v,3"})
	if got := formattest.ReadDump(t, out).FindLeaf("v[1]").RowNumbers(t); !slices.Equal(got, []float64{0, 0, 0, 0, 2}) {
		t.Errorf("apply writes %v", got)
	}
}
