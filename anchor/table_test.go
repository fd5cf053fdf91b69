package anchor

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// table is a small table in memory: columns of equal length, NaN where missing.
type table struct {
	cols   [][]float64
	sparse bool
}

func fromRows(rows [][]float64) (t table) {
	for j := range rows[0] {
		col := make([]float64, len(rows))
		for i := range col {
			col[i] = rows[i][j]
		}
		t.cols = append(t.cols, col)
	}
	return t
}

// clusters makes n rows of d columns around d centres, with unlike spreads and means.
func clusters(n, d int, seed uint64) (t table) {
	r := rand.New(rand.NewPCG(seed, 3))
	group := make([]int, n)
	for i := range group {
		group[i] = r.IntN(d)
	}
	for j := range d {
		col := make([]float64, n)
		for i := range col {
			col[i] = 5*math.Cos(float64(group[i]*(j+1))) + r.NormFloat64()*(1+float64(j%3)) - float64(j)
		}
		t.cols = append(t.cols, col)
	}
	return t
}

// holes makes entries of every other column missing.
func (t table) holes() table {
	out := table{cols: make([][]float64, len(t.cols))}
	for j, col := range t.cols {
		out.cols[j] = append([]float64(nil), col...)
		for i := range col {
			if j%2 == 1 && (i*7+j)%5 == 0 {
				out.cols[j][i] = math.NaN()
			}
		}
	}
	return out
}

func (t table) shifted(by float64) table {
	out := table{cols: make([][]float64, len(t.cols))}
	for j, col := range t.cols {
		for _, x := range col {
			out.cols[j] = append(out.cols[j], x+by)
		}
	}
	return out
}

func (t table) rows() int { return len(t.cols[0]) }

func (t table) Rows() int64   { return int64(t.rows()) }
func (t table) Cuts() []int64 { return []int64{0, t.Rows()} }
func (t table) Columns() []stream.Column {
	out := make([]stream.Column, len(t.cols))
	for j := range out {
		out[j].Name = fmt.Sprintf("c%d", j)
	}
	return out
}

func (t table) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for from := 0; from < t.rows(); from += 7 {
			if !yield(t.chunk(from, min(from+7, t.rows())), nil) {
				return
			}
		}
	}
}

// chunk returns the rows [from, to) surrounded by NaN: reading a row too many gives NaN.
func (t table) chunk(from, to int) *stream.Chunk {
	n := to - from
	c := &stream.Chunk{Start: int64(from), Block: n, Rows: n, Cols: len(t.cols)}
	if t.sparse {
		c.Sparse = &stream.CSR{RowPtr: []int{0}}
		for i := from; i < to; i++ {
			for j, col := range t.cols {
				if col[i] != 0 {
					c.Sparse.Index, c.Sparse.Value = append(c.Sparse.Index, int32(j)), append(c.Sparse.Value, col[i])
				}
			}
			c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Index))
		}
		return c
	}
	c.Stride = n + 2
	c.Data, c.Missing = make([]float64, c.Cols*c.Stride), make([]stream.MissingCount, c.Cols)
	for i := range c.Data {
		c.Data[i] = math.NaN()
	}
	for j, col := range t.cols {
		copy(c.Data[j*c.Stride:], col[from:to])
		for _, x := range col[from:to] {
			if x != x {
				c.Missing[j].Nulls++
			}
		}
	}
	return c
}

// add adds the rows [from, to) in chunks of the given height.
func (t table) add(tb testing.TB, a stream.Adder, from, to, height int) {
	tb.Helper()
	for ; from < to; from += height {
		must.Do(tb, a.Add(t.chunk(from, min(from+height, to))))
	}
}

func (t table) standardizer(tb testing.TB, scale gram.Scale) *gram.Standardizer {
	tb.Helper()
	p := gram.NewProfile(len(t.cols))
	t.add(tb, p, 0, t.rows(), 64)
	std := must.Get(gram.NewStandardizer(p, t.Columns(), scale, gram.FillMean))(tb)
	return std
}

func (t table) sampler(tb testing.TB, rows int) *Sampler {
	s := NewSampler(len(t.cols), SamplerOptions{Rows: rows, Seed: 1})
	t.add(tb, s, 0, t.rows(), 64)
	return s
}

// random makes m anchors of the table's own rows.
func (t table) random(tb testing.TB, m int, scale gram.Scale) *Anchors {
	tb.Helper()
	a := must.Get(Random(t.sampler(tb, m), m, t.standardizer(tb, scale)))(tb)
	return a
}

func (t table) statistics(tb testing.TB, a *Anchors, opt Options, height int) *Statistics {
	tb.Helper()
	s := must.Get(NewStatistics(a, opt))(tb)
	t.add(tb, s, 0, t.rows(), height)
	return s
}

// gram is the centred Gram matrix that Statistics.Graph wants.
func (t table) gram(tb testing.TB) *gram.Gram {
	tb.Helper()
	m := gram.NewMoments(len(t.cols), gram.Options{})
	t.add(tb, m, 0, t.rows(), 64)
	g := must.Get(m.Finish(t.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(tb)
	return g
}

func (t table) graph(tb testing.TB, a *Anchors, opt Options) *Graph {
	tb.Helper()
	g := must.Get(t.statistics(tb, a, opt, 64).Graph(t.gram(tb)))(tb)
	return g
}

// dense is the naive twin: everything by its definition, n×n matrices included.
type dense struct {
	x        [][]float64 // filled, scaled and centred rows of the kept columns
	distance [][]float64
	z        [][]float64
	delta    []float64
	a        [][]float64
}

// dense takes anchors as rows of the table's raw columns.
func (t table) dense(scale gram.Scale, anchors [][]float64, k int) (w dense) {
	n := t.rows()
	var y [][]float64 // anchors
	w.x = zeros(n, 0)
	y = zeros(len(anchors), 0)
	for j, col := range t.cols {
		var sum, square, count float64
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, x := range col {
			if x == x {
				sum, count = sum+x, count+1
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		if lo == hi {
			continue
		}
		mean := sum / count
		fill := func(x float64) float64 {
			if x != x {
				return 0
			}
			return x - mean
		}
		for _, x := range col {
			square += fill(x) * fill(x)
		}
		factor := 1.0
		switch scale {
		case gram.ScaleMinMax:
			factor = 1 / (hi - lo)
		case gram.ScaleStandard:
			factor = 1 / math.Sqrt(square/float64(n))
		case gram.ScaleUnit:
			factor = 1 / math.Sqrt(square+float64(n)*mean*mean)
		}
		for i, x := range col {
			w.x[i] = append(w.x[i], fill(x)*factor)
		}
		for i := range anchors {
			y[i] = append(y[i], fill(anchors[i][j])*factor)
		}
	}
	m := len(anchors)
	w.distance, w.z, w.delta, w.a = zeros(n, m), zeros(n, m), make([]float64, m), zeros(n, n)
	for i := range n {
		for j := range m {
			for l := range w.x[i] {
				e := w.x[i][l] - y[j][l]
				w.distance[i][j] += e * e
			}
		}
		w.weigh(i, k)
		for j := range m {
			w.delta[j] += w.z[i][j]
		}
	}
	for i := range n {
		for l := range n {
			for j := range m {
				if w.delta[j] > 0 {
					w.a[i][l] += w.z[i][j] * w.z[l][j] / w.delta[j]
				}
			}
		}
	}
	return w
}

// weigh is eq. (2.13) as printed.
func (w *dense) weigh(i, k int) {
	m := len(w.delta)
	order := make([]int, m)
	for j := range order {
		at := j
		for at > 0 && w.distance[i][order[at-1]] > w.distance[i][j] {
			order[at] = order[at-1]
			at--
		}
		order[at] = j
	}
	last := w.distance[i][order[k]]
	sum := float64(k) * last
	for _, j := range order[:k] {
		sum -= w.distance[i][j]
	}
	for _, j := range order[:k] {
		w.z[i][j] = (last - w.distance[i][j]) / sum
		if w.distance[i][order[0]] == last {
			w.z[i][j] = 1 / float64(k)
		}
	}
}

func zeros(n, m int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, m)
	}
	return out
}

func transposed(a [][]float64) [][]float64 {
	out := zeros(len(a[0]), len(a))
	for i := range a {
		for j, v := range a[i] {
			out[j][i] = v
		}
	}
	return out
}

func times(a, b [][]float64) [][]float64 {
	out := zeros(len(a), len(b[0]))
	for i := range a {
		for l, v := range a[i] {
			for j, w := range b[l] {
				out[i][j] += v * w
			}
		}
	}
	return out
}

// checkNear fails unless got, row-major, is want to tol of the largest magnitude in want.
func checkNear(tb testing.TB, what string, got []float64, want [][]float64, tol float64) {
	tb.Helper()
	largest := 0.0
	for _, row := range want {
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
	}
	if len(got) != len(want)*len(want[0]) {
		tb.Fatalf("%s: %d values, want %d×%d", what, len(got), len(want), len(want[0]))
	}
	for i, row := range want {
		for j, v := range row {
			if g := got[i*len(row)+j]; !(math.Abs(g-v) <= tol*largest) {
				tb.Fatalf("%s[%d,%d] = %.17g, want %.17g: off by %.2g of the largest", what, i, j, g, v, math.Abs(g-v)/largest)
			}
		}
	}
}

func flat(rows [][]float64) (out []float64) {
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}
