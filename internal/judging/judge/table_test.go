package judge

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// chunks cuts x into chunks of the given height, sparse ones if asked for.
func chunks(x kernel.Matrix[float64], class []int32, height int, sparse bool) []*stream.Chunk {
	src := rowstest.Source{N: x.Rows, D: x.Cols, Sparse: sparse, At: func(i, j int) float64 { return x.Data[j*x.ColStride+i] }}
	var out []*stream.Chunk
	for from := 0; from < x.Rows; from += height {
		c := src.Chunk(from, min(from+height, x.Rows))
		if class != nil {
			c.Class = class[from:][:c.Rows]
		}
		if !sparse {
			c.Data, c.Stride = x.Data[from:], x.ColStride
		}
		out = append(out, c)
	}
	return out
}

// TestTable: any cutting, dense or sparse, known height or not, gives the same rows,
// without the rows that have no class.
func TestTable(t *testing.T) {
	x := noise(37, 5, 1)
	x.Data[3], x.Data[40] = 0, 0
	class := make([]int32, 37)
	var kept []int
	for i := range class {
		if class[i] = int32(i % 3); i%5 == 0 {
			class[i] = -1
		} else {
			kept = append(kept, i)
		}
	}
	for _, height := range []int{1, 5, 36, 37, 50} {
		for _, rows := range []int{0, 10, 37} {
			for _, sparse := range []bool{false, true} {
				tb := NewTable(5, rows, 2, 1<<20)
				for _, c := range chunks(x, class, height, sparse) {
					must.Do(t, tb.Add(c))
				}
				if tb.Bytes() < TableBytes(max(rows, len(kept)), 5) || cap(tb.data) > 5*tb.stride {
					t.Fatalf("it says it holds %d bytes", tb.Bytes())
				}
				if tb.Rows != len(kept) || tb.Unlabelled != 37-int64(len(kept)) || len(tb.Classes) != len(kept) {
					t.Fatalf("%d rows, %d without class, %d classes", tb.Rows, tb.Unlabelled, len(tb.Classes))
				}
				m := tb.GatherColumns([]int{4, 0})
				for at, i := range kept {
					if m.Data[at] != x.Data[4*37+i] || m.Data[len(kept)+at] != x.Data[i] || tb.Classes[at] != class[i] {
						t.Fatalf("height %d, room for %d, sparse %v: row %d differs", height, rows, sparse, i)
					}
				}
			}
		}
	}
}

func TestTableLimit(t *testing.T) {
	tb := NewTable(5, 0, 1, 100)
	err := tb.Add(chunks(noise(37, 5, 1), nil, 37, false)[0])
	if m := (*stream.MemoryError)(nil); !errors.As(err, &m) || m.Need != TableBytes(37, 5)+TableBytes(0, 5) {
		t.Errorf("adding above the limit: got %v, want a MemoryError that needs %d bytes", err, TableBytes(37, 5)+TableBytes(0, 5))
	}
	if err := tb.Add(&stream.Chunk{Cols: 4}); err == nil {
		t.Error("took a chunk of other columns")
	}
}

// TestTableScale: filling and scaling agree with the Gram matrix of package gram.
func TestTableScale(t *testing.T) {
	nan := math.NaN()
	const n = 6
	data := slices.Concat(
		[]float64{1, 2, nan, 4, 5, 9}, []float64{7, 7, 7, 7, 7, 7},
		[]float64{nan, nan, nan, nan, nan, nan}, []float64{-1, 3, 2, nan, 0, 8})
	cols := []stream.Column{{Name: "a"}, {Name: "constant"}, {Name: "empty"}, {Name: "b"}}
	for _, fill := range []gram.Fill{gram.FillMean, gram.FillZero} {
		for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleCenter, gram.ScaleMinMax, gram.ScaleUnit, gram.ScaleStandard} {
			tb := NewTable(4, n, 1, 1<<20)
			c := chunks(kernel.ColMajor(slices.Clone(data), n, 4, n), nil, n, false)[0]
			c.Missing = []stream.MissingCount{{NaNs: 1}, {}, {Nulls: 6}, {Infs: 1}}
			must.Do(t, tb.Add(c))
			p := gram.NewProfile(4)
			must.Do(t, p.Add(c))
			s := must.Get(gram.NewStandardizer(p, cols, scale, fill))(t)
			want := make([]float64, n*len(s.Columns))
			s.To(want, n, c)
			tb.FillMissing(fill)
			left, err := tb.ScaleColumns(scale, cols)
			if err != nil || len(left) != 2 {
				t.Fatalf("%v left out, %v", left, err)
			}
			got := tb.GatherColumns(s.Columns)
			equal(t, scale.String(), got.Data, want, 1e-14)
			if z := tb.GatherColumns([]int{1, 2}).Data; slices.ContainsFunc(z, func(v float64) bool { return v != 0 }) {
				t.Errorf("%v: useless columns are %v", scale, z)
			}
		}
	}
}
