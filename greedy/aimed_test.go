package greedy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// graphed is centred data with the graph of random weights of its rows on anchors: X n×d,
// A n×n by definition, and the same as statistics.
type graphed struct {
	x, a  *mat.Dense
	z     *mat.Dense
	graph *anchor.Graph
}

func newGraphed(n, d, m int, seed uint64) graphed {
	r := rand.New(rand.NewPCG(seed, 9))
	x, b := mat.NewDense(n, d, nil), mat.NewDense(n, m, nil)
	for i := range n {
		weights, sum := [3]float64{}, 0.0
		for k := range weights {
			weights[k] = 0.2 + r.Float64()
			sum += weights[k]
		}
		at := r.IntN(m)
		for k, w := range weights {
			b.Set(i, (at+k*k)%m, b.At(i, (at+k*k)%m)+w/sum)
		}
		for j := range d {
			x.Set(i, j, math.Sin(float64(at*(j+1)))*float64(1+j%3)+r.NormFloat64())
		}
	}
	for j := range d {
		mean := mat.Sum(x.ColView(j)) / float64(n)
		for i := range n {
			x.Set(i, j, x.At(i, j)-mean)
		}
	}
	g := &anchor.Graph{Rows: int64(n), M: m, D: d, Delta: make([]float64, m), G: gram.Full(nil, d)}
	z := mat.DenseCopyOf(b)
	for k := range m {
		g.Delta[k] = mat.Sum(b.ColView(k))
		for i := range n {
			b.Set(i, k, b.At(i, k)/math.Sqrt(g.Delta[k]))
		}
	}
	for statistic, m := range map[*[]float64]*mat.Dense{&g.G.Sym: times(x.T(), x), &g.C: times(b.T(), x), &g.S: times(b.T(), b)} {
		*statistic = m.RawMatrix().Data
	}
	return graphed{x, times(b, b.T()), z, g}
}

// spectral is the target by definition: the l leading eigenvectors of A after the constant one.
func (g graphed) spectral(t *testing.T, l int) *mat.Dense {
	values, vectors := eigen(t, g.a)
	if math.Abs(values[0]-1) > 1e-12 {
		t.Fatalf("A has the leading eigenvalue %v", values[0])
	}
	return mat.DenseCopyOf(vectors.Slice(0, vectors.RawMatrix().Rows, 1, 1+l))
}

// scatter is the target by definition: XW, W the leading generalised eigenvectors.
func (g graphed) scatter(t *testing.T, l int) *mat.Dense {
	d := g.graph.D
	gm := mat.NewDense(d, d, slices.Clone(g.graph.G.Sym))
	ridge := scatterRidge * mat.Trace(gm) / float64(d)
	for i := range d {
		gm.Set(i, i, gm.At(i, i)+ridge)
	}
	values, vectors := eigen(t, gm)
	half := mat.DenseCopyOf(vectors) // its product with vectorsᵀ is (G + ridge)^(−1/2)
	half.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(values[j]) }, half)
	root := times(half, vectors.T())
	_, y := eigen(t, times(root, g.x.T(), g.a, g.x, root))
	return times(g.x, root, y.Slice(0, d, 0, l))
}

// times is the product of all.
func times(first mat.Matrix, others ...mat.Matrix) *mat.Dense {
	out := mat.DenseCopyOf(first)
	for _, m := range others {
		next := new(mat.Dense)
		next.Mul(out, m)
		out = next
	}
	return out
}

// eigen is all eigenpairs of a symmetric matrix, the largest first.
func eigen(t *testing.T, a *mat.Dense) ([]float64, *mat.Dense) {
	t.Helper()
	n, _ := a.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		t.Fatal("no eigenpairs")
	}
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	out := mat.NewDense(n, n, nil)
	for j := range n {
		out.SetCol(j, mat.Col(nil, n-1-j, &vectors))
	}
	slices.Reverse(values)
	return values, out
}

// bruteForce chooses the columns of x that leave least of the target, by projection.
func bruteForce(x, target *mat.Dense, k int) (order []int, left []float64) {
	n, d := x.Dims()
	rest, residual := mat.DenseCopyOf(target), mat.DenseCopyOf(x)
	for range k {
		type candidate struct {
			column int
			gain   float64
		}
		var all []candidate
		for j := range d {
			e := residual.ColView(j)
			if norm := mat.Dot(e, e); !slices.Contains(order, j) && norm > 1e-9 {
				var h mat.VecDense
				h.MulVec(rest.T(), e)
				all = append(all, candidate{j, mat.Dot(&h, &h) / norm})
			}
		}
		best := slices.MaxFunc(all, func(a, b candidate) int { return cmp.Compare(a.gain, b.gain) })
		order = append(order, best.column)
		q := mat.NewVecDense(n, nil)
		q.ScaleVec(1/mat.Norm(residual.ColView(best.column), 2), residual.ColView(best.column))
		for _, m := range []*mat.Dense{rest, residual} {
			var h mat.VecDense
			h.MulVec(m.T(), q)
			m.RankOne(m, -1, q, &h)
		}
		left = append(left, mat.Norm(rest, 2)*mat.Norm(rest, 2))
	}
	return order, left
}

// TestTargets: the spectral and the scatter target against their definitions on n×n matrices,
// with more features than anchors and with fewer; 8 workers as 1, bit for bit.
func TestTargets(t *testing.T) {
	for _, shape := range []struct{ n, d, m, l, k int }{{120, 9, 25, 3, 6}, {150, 40, 20, 5, 12}, {90, 12, 14, 1, 4}} {
		g := newGraphed(shape.n, shape.d, shape.m, uint64(shape.n))
		spectral, scatter := g.spectral(t, shape.l), g.scatter(t, shape.l)
		for name, want := range map[string]*mat.Dense{targetSpectral: spectral, targetScatter: scatter} {
			order, left := bruteForce(g.x, want, shape.k)
			total := mat.Norm(want, 2) * mat.Norm(want, 2)
			build := func(threads int) *graphTarget {
				team := kernel.NewTeam(threads)
				if name == targetScatter {
					return must.Get(scatterTarget(team, g.graph, shape.l))(t)
				}
				target, warnings, err := spectralTarget(team, g.graph, shape.l)
				if err != nil || len(warnings) > 0 {
					t.Fatalf("target %s: error %v, warnings %v, want neither", name, err, warnings)
				}
				return target
			}
			target := build(1)
			if eight := build(8); !slices.Equal(eight.u.Data, target.u.Data) || eight.totalSquares != target.totalSquares {
				t.Errorf("%s: 8 workers differ from 1", name)
			}
			// The eigenvectors are exact to some 1e-14 over a gap of 1e-2 or more.
			if math.Abs(target.totalSquares-total) > 1e-9*total {
				t.Errorf("%s %v: ‖T‖² = %v, want %v", name, shape, target.totalSquares, total)
			}
			got := must.Get(selectTarget(t.Context(), g.graph.G, target.target, Options{K: shape.k}))(t)
			if !slices.Equal(got.Order, order) {
				t.Fatalf("%s %v: chose %v, want %v", name, shape, got.Order, order)
			}
			for i, e := range target.errorCurve(got.Scores) {
				if math.Abs(e-left[i]/total) > 1e-9 {
					t.Errorf("%s %v: error %v after %d, want %v", name, shape, e, i+1, left[i]/total)
				}
			}
		}
	}
}

// TestTargetScales: a target does not depend on the units of all features.
func TestTargetScales(t *testing.T) {
	g := newGraphed(120, 15, 20, 4)
	for _, name := range []string{targetSpectral, targetScatter} {
		choose := func(unit float64) []int {
			scaled := *g.graph
			scaled.G, scaled.C = gram.Full(slices.Clone(scaled.G.Sym), scaled.D), slices.Clone(scaled.C)
			for i := range scaled.G.Sym {
				scaled.G.Sym[i] *= unit * unit
			}
			for i := range scaled.C {
				scaled.C[i] *= unit
			}
			m := &graphGreedy{target: name, clusters: 3}
			return must.Get(m.Select(t.Context(), &method.Evidence{Graph: &scaled, K: 6, Threads: 1}))(t).Order
		}
		want := choose(1)
		for _, unit := range []float64{1e-70, 1e70, 3} {
			if got := choose(unit); !slices.Equal(got, want) {
				t.Errorf("%s in units of %v: %v, want %v", name, unit, got, want)
			}
		}
	}
}

// TestBestRounds: auto is the candidate whose choice has the largest alignment by its definition on
// n×n matrices; it is recorded as the number that it found.
// Blocks for the targets of a graph: with Gram matrices in full and as factors the same, and blocks of one are
// features.
func TestTargetBlocks(t *testing.T) {
	g := newGraphed(60, 18, 7, 5)
	rank := func(m *graphGreedy, graph *anchor.Graph, c method.Choice, k int) *method.Ranking {
		e := &method.Evidence{K: k, Choice: c, Threads: 2, Graph: graph, Columns: make([]stream.Column, graph.D)}
		return must.Get(m.Select(t.Context(), e))(t)
	}
	factor := *g.graph
	rows := make([]float64, 0, 60*18)
	for j := range 18 {
		for i := range 60 {
			rows = append(rows, g.x.At(i, j))
		}
	}
	factor.G = gram.FromFactor(rows, 18, 60)
	for _, target := range []graphGreedy{{target: targetSmooth, rounds: 2}, {target: targetSmooth}, {target: targetSpectral, clusters: 4}} {
		fresh := func() *graphGreedy { m := target; m.mode = refineNone; return &m }
		ones, pairs := blocksBy(slices.Repeat([]int{1}, 18)...), blocksBy(2, 3, 1, 2, 4, 1, 2, 3)
		want := rank(fresh(), g.graph, method.Choice{}, 3)
		costly := slices.Clone(ones) // so that the engine for blocks is asked
		costly[slices.IndexFunc(rowstest.Integers(18), func(j int) bool { return !slices.Contains(want.Order, j) })].Cost = 1e6
		got := rank(fresh(), g.graph, method.Choice{Blocks: costly}, 3)
		if !slices.Equal(got.Order, want.Order) || rowstest.RelativeDistance(got.Error, want.Error) > 1e-9 {
			t.Errorf("%s, %d rounds: %v leave %v, want %v, %v", target.target, target.rounds, got.Order, got.Error, want.Order, want.Error)
		}
		full, few := rank(fresh(), g.graph, method.Choice{Blocks: pairs}, 2), rank(fresh(), &factor, method.Choice{Blocks: pairs}, 2)
		if !slices.Equal(full.Blocks, few.Blocks) || rowstest.RelativeDistance(full.Error, few.Error) > 1e-9 {
			t.Errorf("%s, %d rounds: blocks %v leave %v, and of a factor %v, %v", target.target, target.rounds, full.Blocks, full.Error, few.Blocks, few.Error)
		}
	}
}

func TestBestRounds(t *testing.T) {
	g := newGraphed(150, 30, 40, 7)
	const k = 5
	values, vectors := eigen(t, g.a)
	kern := mat.NewDense(150, 150, nil) // no eigenvector lives on few rows here
	for c := 1; c < 40 && c <= 50 && values[c] > 1e-10; c++ {
		u := vectors.ColView(c)
		kern.RankOne(kern, math.Pow(values[c], 2*spectral.DefaultDiffusion), u, u)
	}
	best, top := 0, 0.0
	for _, rounds := range candidateRounds() {
		target := g.graph.Smooth(1, rounds)
		res := must.Get(SelectTarget(t.Context(), g.graph.G, Target{Rows: target.Rows, H: target.H}, Options{K: k}))(t)
		x := mat.NewDense(150, k, nil)
		for i, j := range res.Order {
			x.SetCol(i, mat.Col(nil, j, g.x))
		}
		own := times(x, x.T())
		if a := mat.Trace(times(own, kern)) / mat.Norm(own, 2) / mat.Norm(kern, 2); a > top*(1+tieShare) { // equal choices are equal to rounding
			best, top = rounds, a
		}
	}
	m := &graphGreedy{target: targetSmooth, rounds: autoRounds}
	r := must.Get(m.Select(t.Context(), &method.Evidence{Graph: g.graph, K: k, Threads: 2}))(t)
	if r.Used["smooth"] != best {
		t.Errorf("%v rounds, want %d", r.Used["smooth"], best)
	}
}

// TestNoDirection: a graph in which all rows are alike has no target but one constant, and is refused.
func TestNoDirection(t *testing.T) {
	const d, m = 6, 5
	g := &anchor.Graph{Rows: 40, M: m, D: d, Delta: make([]float64, m), C: make([]float64, m*d), G: gram.Full(make([]float64, d*d), d), S: make([]float64, m*m)}
	for i := range d {
		g.G.Sym[i*d+i] = 40
	}
	for i := range g.C { // 0 but for rounding
		g.C[i] = 1e-14 * math.Sin(float64(i))
	}
	for i := range m {
		g.Delta[i] = 40. / m
	}
	for i := range g.S {
		g.S[i] = 1. / m
	}
	for _, name := range []string{targetSpectral, targetScatter} {
		a := &graphGreedy{target: name, clusters: 3}
		if r, err := a.Select(t.Context(), &method.Evidence{Graph: g, K: 2, Threads: 1}); err == nil {
			t.Errorf("%s: chose %v", name, r.Order)
		}
	}
}
