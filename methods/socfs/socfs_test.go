package socfs

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

func run(t *testing.T, g *anchor.Graph, opt Options) *Result {
	t.Helper()
	return must.Get(Select(t.Context(), g, opt))(t)
}

type matrix = [][]float64

func times(a, b matrix) matrix {
	out := rowstest.ZeroRows(len(a), len(b[0]))
	for i := range out {
		for k, v := range a[i] {
			for j, w := range b[k] {
				out[i][j] += v * w
			}
		}
	}
	return out
}

func turned(a matrix) matrix {
	out := rowstest.ZeroRows(len(a[0]), len(a))
	for i := range a {
		for j, v := range a[i] {
			out[j][i] = v
		}
	}
	return out
}

// plus is a + f·b.
func plus(a matrix, f float64, b matrix) matrix {
	out := rowstest.ZeroRows(len(a), len(a[0]))
	for i := range a {
		for j := range a[i] {
			out[i][j] = a[i][j] + f*b[i][j]
		}
	}
	return out
}

func square(a matrix) (s float64) {
	for _, row := range a {
		for _, v := range row {
			s += v * v
		}
	}
	return s
}

// polarOf is T(TᵀT)^(−1/2) by rotations, of T of full rank.
func polarOf(t matrix) matrix {
	values, v := rowstest.Jacobi(times(turned(t), t))
	scaled := rowstest.ZeroRows(len(v), len(v))
	for i := range v {
		for j := range v {
			scaled[i][j] = v[i][j] / math.Sqrt(values[j])
		}
	}
	return times(times(t, scaled), turned(v))
}

// nearly is the polar factor of a small square T of nearly no full rank, by rotations of a matrix
// whose eigenvalues are T's singular values and their negatives: those of TᵀT would leave half of
// a small one's digits.
func nearly(t matrix) matrix {
	c := len(t)
	both := rowstest.ZeroRows(2*c, 2*c)
	for i := range c {
		for j := range c {
			both[i][c+j], both[c+j][i] = t[i][j], t[i][j]
		}
	}
	_, v := rowstest.Jacobi(both)
	out := rowstest.ZeroRows(c, c)
	for i := range c {
		for j := range c {
			for k := c; k < 2*c; k++ { // the c largest
				out[i][j] += 2 * v[i][k] * v[c+j][k]
			}
		}
	}
	return out
}

// rotated is B of the round after b.
func rotated(w, x, e, b matrix) matrix {
	t := times(turned(w), times(turned(x), e))
	return nearly(plus(t, inertia*math.Sqrt(square(t)), b))
}

func view(m kernel.Matrix[float64]) matrix {
	out := rowstest.ZeroRows(m.Rows, m.Cols)
	for i := range out {
		for j := range out[i] {
			out[i][j] = m.Data[i*m.RowStride+j*m.ColStride]
		}
	}
	return out
}

// dense is the problem with a row of E for each row of X, and for each anchor one more that
// weighs √τ: E is kept in the span of B_g by projection, and F lies at the anchors.
type dense struct {
	x, b matrix // (n+m)×d and (n+m)×m
	span matrix // projection on the span of b
}

func newDense(x, z matrix) *dense {
	x = rowstest.CentreColumns(x)
	b := rowstest.Factor(z)
	unit := square(x) / float64(len(x[0]))
	s := &dense{}
	for i := range x {
		row := make([]float64, len(x[0]))
		for j, v := range x[i] {
			row[j] = v / math.Sqrt(unit)
		}
		s.x, s.b = append(s.x, row), append(s.b, b[i])
	}
	for a := range z[0] {
		row := make([]float64, len(z[0]))
		row[a] = math.Sqrt(tau)
		s.x, s.b = append(s.x, make([]float64, len(x[0]))), append(s.b, row)
	}
	s.span = times(times(s.b, rowstest.InvertMatrix(times(turned(s.b), s.b))), turned(s.b))
	return s
}

func clipped(a matrix) matrix {
	out := rowstest.ZeroRows(len(a), len(a[0]))
	for i := range a {
		for j, v := range a[i] {
			out[i][j] = max(v, 0)
		}
	}
	return out
}

// run takes so many rounds of so many turns from E, and returns the norms of W and the
// objective after each.
func (s *dense) run(e matrix, lambda, gamma float64, rounds, turns int) (norms, objective []float64) {
	d, c := len(s.x[0]), len(e[0])
	q := slices.Repeat([]float64{0.5}, d)
	b := rowstest.ZeroRows(c, c)
	for k := range c {
		b[k][k] = 1
	}
	project := func() matrix {
		a := times(turned(s.x), s.x)
		for i := range d {
			a[i][i] += lambda * q[i]
		}
		return times(rowstest.InvertMatrix(a), times(times(turned(s.x), e), turned(b)))
	}
	reweigh := func(w matrix) {
		norms = make([]float64, d)
		for i := range d {
			norms[i] = math.Sqrt(square(w[i : i+1]))
			q[i] = 0.5 / math.Sqrt(norms[i]*norms[i]+epsilon)
		}
	}
	w := project()
	f := clipped(times(turned(s.b), e))
	for range rounds {
		fit := times(times(s.x, w), b)
		for range turns {
			at := plus(plus(times(s.b, f), 1+tau, e), -1, times(s.b, times(turned(s.b), e)))
			e = polarOf(times(s.span, plus(fit, gamma, at)))
			f = clipped(times(turned(s.b), e))
		}
		b = rotated(w, s.x, e, b)
		reweigh(w)
		w = project()
		reweigh(w)
		value := square(plus(times(s.x, w), -1, times(e, turned(b)))) + gamma*square(plus(times(turned(s.b), e), -1, f))
		for _, norm := range norms {
			value += lambda * math.Sqrt(norm*norm+epsilon)
		}
		objective = append(objective, value)
	}
	return norms, objective
}

// startOf is E of the first round, and the λ that leaves no feature.
func startOf(t *testing.T, g *anchor.Graph, s *dense, c int) (matrix, float64) {
	t.Helper()
	team := kernel.NewTeam(1)
	f, _, err := initialIndicators(t.Context(), team, g, c)
	must.Do(t, err)
	start := must.Get(newSolver(team, g, f))(t)
	return times(s.b, view(start.encoding.a)), start.largestLambda()
}

func TestSelectIsTheDenseForm(t *testing.T) {
	for seed := range uint64(3) {
		x, z := rowstest.RingRows(seed, 60, 12, 9)
		g, s := rowstest.BuildGraph(x, z), newDense(x, z)
		for _, c := range []struct {
			lambda, gamma float64
		}{{0.1, 100}, {0.5, 1}, {0.01, 0.1}} {
			e, most := startOf(t, g, s, 4)
			if off := square(plus(times(turned(e), e), -1, times(turned(polarOf(e)), polarOf(e)))); off > 1e-20 {
				t.Errorf("EᵀE is off by %v", off)
			}
			r := run(t, g, Options{Lambda: method.Weight{Value: c.lambda, Share: true}, Gamma: c.gamma, Clusters: 4, MaxIter: 6, Inner: 7, Tol: -1})
			norms, objective := s.run(e, c.lambda*most, c.gamma, 6, 7)
			// Norms are known to the condition of G + λD, 1e5, and of S, 1e3, times rounding;
			// 42 turns pass it on.
			if off := rowstest.RelativeDistance(r.Scores, norms); !(off <= 1e-8) {
				t.Errorf("seed %d, %+v: norms are off by %.2g: %v, want %v", seed, c, off, r.Scores, norms)
			}
			if off := rowstest.RelativeDistance(r.Objective, objective); !(off <= 1e-9) {
				t.Errorf("seed %d, %+v: the objective is off by %.2g: %v, want %v", seed, c, off, r.Objective, objective)
			}
		}
	}
}

// With every row an anchor of its own the problem is the paper's: E is the polar factor of
// XWB + γF, F what E has of no negative values.
func TestEveryRowAnAnchorIsThePaper(t *testing.T) {
	const n = 24
	x, _ := rowstest.RingRows(4, n, 8, 7)
	z := rowstest.ZeroRows(n, n)
	for i := range z {
		z[i][i] = 1
	}
	g := rowstest.BuildGraph(x, z)
	team := kernel.NewTeam(1)
	f := kernel.RowMajor(make([]float64, n*3), n, 3, 3)
	for i := range n {
		f.Data[i*3+i%3] = 1 / math.Sqrt(n/3)
	}
	s := must.Get(newSolver(team, g, f))(t)
	lambda := 0.1 * s.largestLambda()
	must.Do(t, s.solveInitial(lambda))
	scaled := newDense(x, z).x[:n]
	e, w, b := view(f), view(s.w), matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for round := range 4 {
		s.updateEncodingTarget()
		fit := times(times(scaled, w), b)
		for range 5 {
			must.Do(t, s.encoding.updateEncoding(2))
			e = polarOf(plus(fit, 2, clipped(e)))
		}
		must.Do(t, s.updateBasis())
		b = rotated(w, scaled, e, b)
		a := times(turned(scaled), scaled)
		for i := range a {
			a[i][i] += lambda / (2 * math.Sqrt(square(w[i:i+1])+epsilon))
		}
		must.Do(t, s.updateProjection(lambda))
		w = times(rowstest.InvertMatrix(a), times(times(turned(scaled), e), turned(b)))
		// τ enters at 1e-10.
		if off := math.Sqrt(square(plus(view(s.w), -1, w)) / square(w)); !(off <= 1e-7) {
			t.Errorf("round %d: W is off by %.2g", round+1, off)
		}
	}
}

// The objective falls in every round, whatever the weights, and E is orthonormal.
func TestObjectiveFalls(t *testing.T) {
	for seed := range uint64(6) {
		x, z := rowstest.RingRows(seed, 150, 30, 40)
		g := rowstest.BuildGraph(x, z)
		for _, share := range []float64{0, 1e-4, 0.1, 1, 10} {
			for _, gamma := range []float64{1e-3, 1, 1e4} {
				r := run(t, g, Options{Lambda: method.Weight{Value: share, Share: true}, Gamma: gamma, Clusters: 5, MaxIter: 12, Inner: 5, Tol: -1})
				if r.Rose != nil {
					t.Errorf("seed %d, λ %v, γ %v: %+v", seed, share, gamma, *r.Rose)
				}
			}
		}
	}
}

func TestLaws(t *testing.T) {
	x, z := rowstest.RingRows(5, 300, 120, 150)
	g := rowstest.BuildGraph(x, z)
	want := run(t, g, Options{Threads: 1, MaxIter: 5})
	for _, threads := range []int{2, 8} {
		if got := run(t, g, Options{Threads: threads, MaxIter: 5}); !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
			t.Errorf("other bits from %d threads", threads)
		}
	}
	columns := rand.New(rand.NewPCG(4, 4)).Perm(150)
	shuffled := rowstest.ZeroRows(300, 150)
	for i := range shuffled {
		for j, f := range columns {
			shuffled[i][j] = x[i][f]
		}
	}
	got := run(t, rowstest.BuildGraph(shuffled, z), Options{MaxIter: 5})
	for j, f := range columns {
		if math.Abs(got.Scores[j]-want.Scores[f]) > 1e-8 {
			t.Errorf("feature %d: %v, permuted %v", f, want.Scores[f], got.Scores[j])
		}
	}
	// Other units of X change nothing.
	twice := *g
	twice.G, twice.C = gram.Full(slices.Clone(g.G.Sym), g.D), slices.Clone(g.C)
	for i := range twice.G.Sym {
		twice.G.Sym[i] *= 4
	}
	for i := range twice.C {
		twice.C[i] *= 2
	}
	if got := run(t, &twice, Options{MaxIter: 5}); !slices.Equal(got.Scores, want.Scores) {
		t.Error("twice the units give other scores")
	}
}

func TestEdges(t *testing.T) {
	for _, c := range [][3]int{{12, 6, 1}, {40, 6, 2}, {30, 20, 60}} {
		x, z := rowstest.RingRows(6, c[0], c[1], c[2])
		for i := range z { // an anchor that no row uses
			z[i] = append(z[i], 0)
		}
		r := run(t, rowstest.BuildGraph(x, z), Options{Clusters: 30})
		if len(r.Order) != c[2] || r.Rose != nil || r.Clusters > c[1] || !strings.HasPrefix(r.Warnings[0], "30 clusters of ") {
			t.Errorf("rows, anchors and features %v: got %+v, want all features ranked, at most %d clusters, a warning about them and no rise", c, r, c[1])
		}
		for _, v := range r.Scores {
			if !(v >= 0 && v < 1e6) {
				t.Errorf("%v: norm %v", c, v)
			}
		}
	}
	x, z := rowstest.RingRows(6, 30, 6, 3)
	for i := range x {
		clear(x[i])
	}
	if _, err := Select(t.Context(), rowstest.BuildGraph(x, z), Options{}); err == nil {
		t.Error("constant features are no error")
	}
	_, err := Select(t.Context(), rowstest.BuildGraph(x, z), Options{Lambda: method.Weight{Value: -1}, Gamma: math.Inf(1), Clusters: -2, MaxIter: -3, Tol: math.NaN(), Threads: -1})
	rowstest.CheckRefusal(t, err, "alpha = -1", "gamma = +Inf", "clusters = -2", "max-iter = -3", "tol = NaN", "threads = -1")
}
