package chunkio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/metadata"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// tableSource is a stream.Source over columns in memory, cut into blocks of block rows.
type tableSource struct {
	names  []stream.Column
	cols   [][]float64
	rows   int
	block  int
	sparse bool
}

func (s *tableSource) Columns() []stream.Column { return s.names }
func (s *tableSource) Rows() int64              { return int64(s.rows) }
func (s *tableSource) Cuts() []int64            { return []int64{0, int64(s.rows)} }

func (s *tableSource) Chunks(_ context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for at := 0; at < s.rows; at += s.block {
			n := min(s.block, s.rows-at)
			c := &stream.Chunk{Start: int64(at), Block: n, Rows: n, Cols: len(s.cols), Stride: n}
			if s.sparse {
				c.Sparse = &stream.CSR{RowPtr: []int{0}}
				for i := range n {
					for j, col := range s.cols {
						if col[at+i] != 0 {
							c.Sparse.Index = append(c.Sparse.Index, int32(j))
							c.Sparse.Value = append(c.Sparse.Value, col[at+i])
						}
					}
					c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Index))
				}
			} else {
				for _, col := range s.cols {
					c.Data = append(c.Data, col[at:at+n]...)
				}
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// everyNumber makes a column of each numeric type with its extreme values, and nulls (NaN) in all rows divisible by 5
// if missing is set.
func everyNumber(rows, block int, missing bool) *tableSource {
	s := &tableSource{rows: rows, block: block}
	types := []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float", "double"}
	for t, typ := range types {
		r := rand.New(rand.NewPCG(7, uint64(t)))
		n := writer.NumberOf(typ)
		col := make([]float64, rows)
		for i := range col {
			switch {
			case missing && i%5 == 0:
				col[i] = math.NaN()
			case typ == "bool":
				col[i] = float64(r.IntN(2))
			case n.Bits == 0:
				col[i] = float64(float32(r.NormFloat64()))
			case n.Signed:
				col[i] = math.Floor((r.Float64() - 0.5) * math.Ldexp(1, n.Bits))
			default:
				col[i] = math.Floor(r.Float64() * math.Ldexp(1, n.Bits))
			}
		}
		if rows > 4 && n.Bits > 1 {
			limit := math.Ldexp(1, n.Bits)
			if n.Signed {
				col[1], col[2] = -limit/2, limit/2-math.Max(1, limit/(1<<53))
			} else {
				col[1], col[2] = 0, limit-1
			}
		}
		s.names = append(s.names, stream.Column{Name: typ, Type: typ})
		s.cols = append(s.cols, col)
	}
	return s
}

// readBack reads all columns of a Parquet file with v15's own reader: nulls are NaN.
func readBack(t *testing.T, data []byte) (d *formattest.Dump, columns [][]float64) {
	t.Helper()
	d = formattest.ReadFrom(t, bytes.NewReader(data))
	for i := range d.Leaves {
		columns = append(columns, d.Leaves[i].RowNumbers(t))
	}
	return d, columns
}

// written is the file that writeSource writes.
func written(t *testing.T, src stream.Source, opt WriteOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	_, _, err := writeSource(t.Context(), &out, src, opt)
	formattest.Must(t, err)
	return out.Bytes()
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
				src := everyNumber(rows, block, !required)
				var out bytes.Buffer
				opt := WriteOptions{RowGroupRows: 100, Required: required, Label: func(p int64) int32 { return int32(p % 3) }}
				n, leaves, err := writeSource(t.Context(), &out, src, opt)
				if err != nil || n != int64(rows) || leaves != len(src.cols)+1 {
					t.Fatalf("%d rows, %d leaves, %v", n, leaves, err)
				}
				d, cols := readBack(t, out.Bytes())
				if len(d.Groups) != (rows+99)/100 {
					t.Fatalf("%d row groups of 100 for %d rows", len(d.Groups), rows)
				}
				for j, want := range src.cols {
					if err := equalColumns(cols[j], want); err != nil || d.Leaves[j].Path != src.names[j].Name {
						t.Fatalf("rows %d, block %d: column %q: %v", rows, block, src.names[j].Name, err)
					}
				}
				for i, l := range cols[len(src.cols)] {
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
	src := everyNumber(5000, 600, true)
	d, cols := readBack(t, written(t, src, WriteOptions{RowGroupRows: 2500}))
	at := int64(0)
	for g, rows := range d.Groups {
		for j, col := range cols {
			cc, err := d.Meta.RowGroup(g).ColumnChunk(j)
			formattest.Must(t, err)
			st, err := cc.Statistics()
			if err != nil || st == nil || !st.HasMinMax() {
				t.Fatalf("column %q has no statistics: %v", src.names[j].Name, err)
			}
			lo, hi, nulls := math.Inf(1), math.Inf(-1), int64(0)
			for _, v := range col[at : at+rows] {
				if math.IsNaN(v) {
					nulls++
					continue
				}
				lo, hi = min(lo, v), max(hi, v)
			}
			gotLo, gotHi := bounds(st, writer.NumberOf(src.names[j].Type))
			if st.NullCount() != nulls || gotLo != lo || gotHi != hi {
				t.Errorf("column %q, group %d: nulls %d, %v..%v; want %d, %v..%v",
					src.names[j].Name, g, st.NullCount(), gotLo, gotHi, nulls, lo, hi)
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
			out := written(t, everyNumber(1000, block, true), WriteOptions{RowGroupRows: 300, Threads: threads})
			if first == nil {
				first = out
			} else if !bytes.Equal(first, out) {
				t.Fatalf("block %d, %d threads: other bytes", block, threads)
			}
		}
	}
}

func TestWriteParquetSparse(t *testing.T) {
	src := everyNumber(300, 64, false)
	dense := written(t, src, WriteOptions{})
	src.sparse = true
	if !bytes.Equal(dense, written(t, src, WriteOptions{})) {
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
		src := &tableSource{names: []stream.Column{{Name: "x"}}, cols: [][]float64{{0, 0, test.value}}, rows: 3, block: 2}
		path := filepath.Join(t.TempDir(), "x.parquet")
		err := WriteParquet(t.Context(), path, src, WriteOptions{Type: test.typ, Required: test.required})
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
	src := &tableSource{names: []stream.Column{{Name: "int32", Type: "int32"}}, cols: [][]float64{col}, rows: rows, block: 8192}
	d, cols := readBack(t, written(t, src, WriteOptions{RowGroupRows: rows}))
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
	src := everyNumber(200, 64, true)
	whole := len(written(t, src, WriteOptions{RowGroupRows: 100}))
	full := errors.New("no space left")
	for n := 0; n < whole; n += 1 + whole/97 {
		if _, _, err := writeSource(t.Context(), &failAfter{n, full}, src, WriteOptions{RowGroupRows: 100}); !errors.Is(err, full) {
			t.Fatalf("failed after %d of %d bytes: %v", n, whole, err)
		}
	}
	if _, _, err := writeSource(t.Context(), &failAfter{2, nil}, src, WriteOptions{}); !errors.Is(err, io.ErrShortWrite) {
		t.Fatalf("short writes: %v", err)
	}
}

func TestWriteParquetCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if err := WriteParquet(ctx, filepath.Join(dir, "x.parquet"), everyNumber(10, 5, false), WriteOptions{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("writing after a cancellation: %v, want %v", err, context.Canceled)
	}
	assertEmpty(t, dir)
}

func TestWriteParquetBadPlace(t *testing.T) {
	var out *stream.OutputError
	err := WriteParquet(t.Context(), filepath.Join(t.TempDir(), "absent", "x.parquet"), everyNumber(10, 5, false), WriteOptions{})
	if !errors.As(err, &out) {
		t.Fatalf("writing to a missing folder: %v, want an OutputError", err)
	}
	twice := everyNumber(10, 5, false)
	twice.names[1] = twice.names[0]
	class := func(int64) int32 { return 0 }
	for name, opt := range map[string]WriteOptions{
		"columns":         {},
		"a list, classes": {List: "x", Label: class, LabelName: "x"},
		"sparse, classes": {Sparse: true, Label: class, LabelName: sparseValues},
	} {
		src := twice
		if opt.Label != nil {
			src = countTable(10, 5, 5, "double")
			opt.Type = "double"
		}
		var usage *stream.UsageError
		if err := WriteParquet(t.Context(), filepath.Join(t.TempDir(), "x.parquet"), src, opt); !errors.As(err, &usage) || !strings.Contains(err.Error(), "two columns are named") {
			t.Errorf("writing %s: %v, want a UsageError about two columns of one name", name, err)
		}
	}
}
