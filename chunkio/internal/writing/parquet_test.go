package writing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/metadata"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// readBack reads all columns of a Parquet file with v15's own reader: nulls are NaN.
func readBack(t *testing.T, data []byte) (d *formattest.Dump, columns [][]float64) {
	t.Helper()
	d = formattest.ReadFrom(t, bytes.NewReader(data))
	for i := range d.Leaves {
		columns = append(columns, d.Leaves[i].RowNumbers(t))
	}
	return d, columns
}

func equalColumns(a, b []float64) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d values, want %d", len(a), len(b))
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return fmt.Errorf("row %d: %v, want %v", i, a[i], b[i])
		}
	}
	return nil
}

func TestWriteParquetRoundTrip(t *testing.T) {
	for _, rows := range []int{0, 1, 99, 100, 101, 2500} {
		for _, block := range []int{7, 100, 5000} {
			for _, required := range []bool{false, true} {
				src := chunkiotest.EveryNumber(rows, block, !required)
				var out bytes.Buffer
				opt := writing.WriteOptions{RowGroupRows: 100, Required: required, Label: func(p int64) int32 { return int32(p % 3) }}
				n, leaves, err := writing.WriteSource(t.Context(), &out, src, opt)
				if err != nil || n != int64(rows) || leaves != len(src.Cols)+1 {
					t.Fatalf("%d rows, %d leaves, %v", n, leaves, err)
				}
				d, cols := readBack(t, out.Bytes())
				if len(d.Groups) != (rows+99)/100 {
					t.Fatalf("%d row groups of 100 for %d rows", len(d.Groups), rows)
				}
				for j, want := range src.Cols {
					if err := equalColumns(cols[j], want); err != nil || d.Leaves[j].Path != src.Names[j].Name {
						t.Fatalf("rows %d, block %d: column %q: %v", rows, block, src.Names[j].Name, err)
					}
				}
				for i, l := range cols[len(src.Cols)] {
					if l != float64(i%3) {
						t.Fatalf("label %v in row %d", l, i)
					}
				}
			}
		}
	}
}

// The statistics of every chunk equal the results of a plain loop over its values.
func TestWriteParquetStatistics(t *testing.T) {
	src := chunkiotest.EveryNumber(5000, 600, true)
	d, cols := readBack(t, chunkiotest.WriteToBytes(t, src, writing.WriteOptions{RowGroupRows: 2500}))
	at := int64(0)
	for g, rows := range d.Groups {
		for j, col := range cols {
			cc, err := d.Meta.RowGroup(g).ColumnChunk(j)
			formattest.Must(t, err)
			st, err := cc.Statistics()
			if err != nil || st == nil || !st.HasMinMax() {
				t.Fatalf("column %q has no statistics: %v", src.Names[j].Name, err)
			}
			lo, hi, nulls := math.Inf(1), math.Inf(-1), int64(0)
			for _, v := range col[at : at+rows] {
				if math.IsNaN(v) {
					nulls++
					continue
				}
				lo, hi = min(lo, v), max(hi, v)
			}
			gotLo, gotHi := bounds(st, writer.NumberOf(src.Names[j].Type))
			if st.NullCount() != nulls || gotLo != lo || gotHi != hi {
				t.Errorf("column %q, group %d: nulls %d, %v..%v; want %d, %v..%v",
					src.Names[j].Name, g, st.NullCount(), gotLo, gotHi, nulls, lo, hi)
			}
			if st.DistinctCount() != 0 {
				t.Errorf("a distinct count that nobody counted")
			}
		}
		at += rows
	}
}

func bounds(st metadata.TypedStatistics, n writer.Number) (lo, hi float64) {
	switch st := st.(type) {
	case *metadata.BooleanStatistics:
		return truth(st.Min()), truth(st.Max())
	case *metadata.Int32Statistics:
		if !n.Signed {
			return float64(uint32(st.Min())), float64(uint32(st.Max()))
		}
		return float64(st.Min()), float64(st.Max())
	case *metadata.Int64Statistics:
		return float64(st.Min()), float64(st.Max())
	case *metadata.Float32Statistics:
		return float64(st.Min()), float64(st.Max())
	case *metadata.Float64Statistics:
		return st.Min(), st.Max()
	}
	return math.NaN(), math.NaN()
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Any chunking and any number of threads give the same bytes.
func TestWriteParquetCanonical(t *testing.T) {
	var first []byte
	for _, block := range []int{1, 64, 1000} {
		for _, threads := range []int{1, 8} {
			out := chunkiotest.WriteToBytes(t, chunkiotest.EveryNumber(1000, block, true), writing.WriteOptions{RowGroupRows: 300, Threads: threads})
			if first == nil {
				first = out
			} else if !bytes.Equal(first, out) {
				t.Fatalf("block %d, %d threads: other bytes", block, threads)
			}
		}
	}
}

func TestWriteParquetSparse(t *testing.T) {
	src := chunkiotest.EveryNumber(300, 64, false)
	dense := chunkiotest.WriteToBytes(t, src, writing.WriteOptions{})
	src.Sparse = true
	if !bytes.Equal(dense, chunkiotest.WriteToBytes(t, src, writing.WriteOptions{})) {
		t.Fatal("sparse chunks write another file than dense ones")
	}
}

func TestWriteParquetRefusesValues(t *testing.T) {
	for _, test := range []struct {
		typ      string
		value    float64
		required bool
	}{
		{"uint8", 256, false}, {"uint8", -1, false}, {"uint8", 0.5, false}, {"int8", 128, false}, {"bool", 2, false},
		{"int64", math.Ldexp(1, 63), false}, {"float", 1e300, false}, {"double", math.NaN(), true}, {"int32", math.Inf(1), false},
	} {
		src := &chunkiotest.TableSource{Names: []stream.Column{{Name: "x"}}, Cols: [][]float64{{0, 0, test.value}}, Height: 3, Block: 2}
		path := filepath.Join(t.TempDir(), "x.parquet")
		err := writing.WriteParquet(t.Context(), path, src, writing.WriteOptions{Type: test.typ, Required: test.required})
		var bad *stream.DataError
		if !errors.As(err, &bad) || bad.Column != "x" || bad.Row != 2 {
			t.Errorf("%v as %s: %v", test.value, test.typ, err)
		}
		assertEmpty(t, filepath.Dir(path))
	}
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	formattest.Must(t, err)
	for _, e := range entries {
		t.Errorf("%s was left behind", e.Name())
	}
}

// A page's dictionary that grows too large falls back to plain in mid-chunk.
func TestWriteParquetDictionaryFallback(t *testing.T) {
	const rows = 400_000
	col := make([]float64, rows)
	for i := range col {
		col[i] = float64(i)
	}
	src := &chunkiotest.TableSource{Names: []stream.Column{{Name: "int32", Type: "int32"}}, Cols: [][]float64{col}, Height: rows, Block: 8192}
	d, cols := readBack(t, chunkiotest.WriteToBytes(t, src, writing.WriteOptions{RowGroupRows: rows}))
	formattest.Must(t, equalColumns(cols[0], col))
	cc, err := d.Meta.RowGroup(0).ColumnChunk(0)
	formattest.Must(t, err)
	kinds := map[parquet.Encoding]bool{}
	for _, e := range cc.EncodingStats() {
		kinds[e.Encoding] = true
	}
	if !kinds[parquet.Encodings.Plain] || !kinds[parquet.Encodings.RLEDict] {
		t.Fatalf("pages are encoded as %v, want both dictionary and plain", cc.EncodingStats())
	}
}

// failAfter is a writer that fails, or comes short without an error, when n bytes have been written.
type failAfter struct {
	n   int
	err error
}

func (f *failAfter) Write(p []byte) (int, error) {
	if len(p) > f.n {
		n := f.n
		f.n = 0
		return n, f.err
	}
	f.n -= len(p)
	return len(p), nil
}

// Every write error comes up, wherever it strikes.
func TestWriteParquetWriteErrors(t *testing.T) {
	src := chunkiotest.EveryNumber(200, 64, true)
	whole := len(chunkiotest.WriteToBytes(t, src, writing.WriteOptions{RowGroupRows: 100}))
	full := errors.New("no space left")
	for n := 0; n < whole; n += 1 + whole/97 {
		if _, _, err := writing.WriteSource(t.Context(), &failAfter{n, full}, src, writing.WriteOptions{RowGroupRows: 100}); !errors.Is(err, full) {
			t.Fatalf("failed after %d of %d bytes: %v", n, whole, err)
		}
	}
	if _, _, err := writing.WriteSource(t.Context(), &failAfter{2, nil}, src, writing.WriteOptions{}); !errors.Is(err, io.ErrShortWrite) {
		t.Fatalf("short writes: %v", err)
	}
}

func TestWriteParquetCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if err := writing.WriteParquet(ctx, filepath.Join(dir, "x.parquet"), chunkiotest.EveryNumber(10, 5, false), writing.WriteOptions{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("writing after a cancellation: %v, want %v", err, context.Canceled)
	}
	assertEmpty(t, dir)
}

func TestWriteParquetBadPlace(t *testing.T) {
	var out *stream.OutputError
	err := writing.WriteParquet(t.Context(), filepath.Join(t.TempDir(), "absent", "x.parquet"), chunkiotest.EveryNumber(10, 5, false), writing.WriteOptions{})
	if !errors.As(err, &out) {
		t.Fatalf("writing to a missing folder: %v, want an OutputError", err)
	}
	twice := chunkiotest.EveryNumber(10, 5, false)
	twice.Names[1] = twice.Names[0]
	class := func(int64) int32 { return 0 }
	for name, opt := range map[string]writing.WriteOptions{
		"columns":         {},
		"a list, classes": {List: "x", Label: class, LabelName: "x"},
		"sparse, classes": {Sparse: true, Label: class, LabelName: writing.SparseValues},
	} {
		src := twice
		if opt.Label != nil {
			src = CountTable(10, 5, 5, "double")
			opt.Type = "double"
		}
		var usage *stream.UsageError
		if err := writing.WriteParquet(t.Context(), filepath.Join(t.TempDir(), "x.parquet"), src, opt); !errors.As(err, &usage) || !strings.Contains(err.Error(), "two columns are named") {
			t.Errorf("writing %s: %v, want a UsageError about two columns of one name", name, err)
		}
	}
}
