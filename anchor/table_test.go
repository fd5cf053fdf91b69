package anchor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
)

// table is a table with its anchors, statistics and graph, and their naive twin.
type table struct{ tabletest.Table }

func fromRows(rows [][]float64) table { return table{tabletest.Table{Cols: transposed(rows)}} }

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
		t.Cols = append(t.Cols, col)
	}
	return t
}

// holes makes entries of every other column missing.
func (t table) holes() table {
	return table{t.MapEntries(func(i, j int, x float64) float64 {
		if j%2 == 1 && (i*7+j)%5 == 0 {
			return math.NaN()
		}
		return x
	})}
}

// thinned keeps one in `every` entries and clears the others, in rows of either storage.
func (t table) thinned(every int) (dense, sparse table) {
	dense.Table = t.MapEntries(func(i, j int, x float64) float64 {
		if (i+j)%every > 0 {
			return 0
		}
		return x
	})
	sparse = dense
	sparse.Sparse = true
	return dense, sparse
}

func (t table) shifted(by float64) table {
	return table{t.MapEntries(func(_, _ int, x float64) float64 { return x + by })}
}

func (t table) standardizer(tb testing.TB, scale gram.Scale) *gram.Standardizer {
	tb.Helper()
	p := gram.NewProfile(len(t.Cols))
	t.AddRows(tb, p, 0, t.N(), 64)
	return must.Get(gram.NewStandardizer(p, t.Columns(), scale, gram.FillMean))(tb)
}

func (t table) sampler(tb testing.TB, rows int) *Sampler {
	s := NewSampler(len(t.Cols), SamplerOptions{Rows: rows, Seed: 1})
	t.AddRows(tb, s, 0, t.N(), 64)
	return s
}

// random makes m anchors of the table's own rows.
func (t table) random(tb testing.TB, m int, scale gram.Scale) *Anchors {
	tb.Helper()
	return must.Get(Random(t.sampler(tb, m), m, t.standardizer(tb, scale), 2))(tb)
}

func (t table) statistics(tb testing.TB, a *Anchors, opt Options, height int) *Statistics {
	tb.Helper()
	s := must.Get(NewStatistics(a, opt))(tb)
	t.AddRows(tb, s, 0, t.N(), height)
	return s
}

// gram is the Gram matrix; Statistics.Graph wants the centred one.
func (t table) gram(tb testing.TB, scale gram.Scale) *gram.Gram {
	tb.Helper()
	m := gram.NewMoments(len(t.Cols), gram.Options{})
	t.AddRows(tb, m, 0, t.N(), 64)
	return must.Get(m.Finish(t.Columns(), gram.FinishOptions{Scale: scale}))(tb)
}

func (t table) graph(tb testing.TB, a *Anchors, opt Options) *Graph {
	tb.Helper()
	return must.Get(t.statistics(tb, a, opt, 64).Graph(t.gram(tb, gram.ScaleCenter)))(tb)
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
	n := t.N()
	w.x = zeros(n, 0)
	y := zeros(len(anchors), 0)
	for j, col := range t.Cols {
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
		case gram.ScalePareto:
			factor = 1 / math.Sqrt(math.Sqrt(square/float64(n)))
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
	w.distance, w.z, w.delta = zeros(n, m), zeros(n, m), make([]float64, m)
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
	w.a = affinity(w.z, w.delta)
	return w
}

// affinity is A = ZΔ⁻¹Zᵀ, without the anchors that no row uses.
func affinity(z [][]float64, delta []float64) [][]float64 {
	return matrix(len(z), len(z), func(i, l int) (sum float64) {
		for j, v := range delta {
			if v > 0 {
				sum += z[i][j] * z[l][j] / v
			}
		}
		return sum
	})
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

func matrix(n, m int, at func(i, j int) float64) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for j := range m {
			out[i] = append(out[i], at(i, j))
		}
	}
	return out
}

func zeros(n, m int) [][]float64 {
	return matrix(n, m, func(_, _ int) float64 { return 0 })
}

func transposed(a [][]float64) [][]float64 {
	return matrix(len(a[0]), len(a), func(i, j int) float64 { return a[j][i] })
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
