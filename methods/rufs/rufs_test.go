package rufs

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// blobs are rows about three centres, with values from 0 up, and a few that stray far.
func blobs(n, d int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	centre := rowstest.ZeroRows(3, d)
	for _, row := range centre {
		for j := range row {
			row[j] = rng.Float64()
		}
	}
	x := rowstest.ZeroRows(n, d)
	for i := range x {
		for j := range x[i] {
			x[i][j] = max(centre[i%3][j]+0.1*rng.NormFloat64()*(1+float64(j%4)), 0)
			if i%29 == 28 {
				x[i][j] *= 5
			}
		}
	}
	return x
}

func run(t *testing.T, x [][]float64, opt Options) *Result {
	t.Helper()
	return must.Get(Select(t.Context(), slices.Concat(x...), len(x), len(x[0]), opt))(t)
}

// started is a problem at its start.
func started(t *testing.T, x [][]float64, opt Options) *problem {
	t.Helper()
	n, d := len(x), len(x[0])
	opt = opt.WithDefaults(int64(n))
	p := &problem{n: n, d: d, workers: 2, team: kernel.NewTeam(2), nu: opt.Nu, alpha: opt.Alpha, beta: opt.Beta,
		x: kernel.RowMajor(slices.Concat(x...), n, d, d)}
	p.neighbours = nearTo(t, p, opt.Neighbors)
	must.Do(t, p.startFromClusters(t.Context(), opt))
	return p
}

func view(m kernel.Matrix[float64]) [][]float64 {
	out := rowstest.ZeroRows(m.Rows, m.Cols)
	for i := range out {
		for j := range out[i] {
			out[i][j] = m.Data[i*m.RowStride+j*m.ColStride]
		}
	}
	return out
}

// predictions is A: for every row the regression on its nearest rows with a constant, from its
// normal equations.
func predictions(x [][]float64, k int) [][]float64 {
	n, d := len(x), len(x[0])
	a := rowstest.ZeroRows(n, n)
	for i := range n {
		others := slices.DeleteFunc(rowstest.Integers(n), func(j int) bool { return j == i })
		square := func(j int) (s float64) {
			for f := range d {
				s += (x[i][f] - x[j][f]) * (x[i][f] - x[j][f])
			}
			return s
		}
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(square(a), square(b)) })
		near := others[:k]
		ridge := 0.0
		for _, j := range near {
			ridge += square(j) / float64(k)
		}
		// (ΣzzᵀI + ridge)·(w, b) = Σz·g with z = (x_j − x_i, 1), no ridge on b.
		m := rowstest.ZeroRows(d+1, d+1)
		z := rowstest.ZeroRows(k, d+1)
		for e, j := range near {
			for f := range d {
				z[e][f] = x[j][f] - x[i][f]
			}
			z[e][d] = 1
			for f := range m {
				for g := range m {
					m[f][g] += z[e][f] * z[e][g]
				}
			}
		}
		for f := range d {
			m[f][f] += ridge
		}
		m = rowstest.InvertMatrix(m)
		for e, j := range near {
			for f := range m {
				a[i][j] += m[d][f] * z[e][f] // b's row
			}
		}
	}
	return a
}

func TestLocalIsTheRegression(t *testing.T) {
	x := blobs(40, 6, 1)
	x[7] = slices.Clone(x[6])
	for _, k := range []int{1, 4, 39} {
		p := &problem{n: 40, d: 6, workers: 2, team: kernel.NewTeam(2), x: kernel.RowMajor(slices.Concat(x...), 40, 6, 6)}
		l, want := nearTo(t, p, k), predictions(x, k)
		for i := range want {
			sum := 0.0
			for e := range k {
				sum += l.weight[i*k+e]
				if j := l.index[i*k+e]; math.Abs(l.weight[i*k+e]-want[i][j]) > 1e-10 {
					t.Errorf("k = %d, row %d: weight %v on %d, want %v", k, i, l.weight[i*k+e], j, want[i][j])
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("k = %d, row %d: the weights sum to %v", k, i, sum)
			}
		}
	}
}

// naive is the objective by its definition, with its norms smoothed.
func naive(p *problem, x, a [][]float64) (sum float64) {
	g, f, w := view(p.g), view(p.f), view(p.w)
	c := p.c
	for i := range x {
		fit, along := p.epsilonX, p.epsilonG
		for j := range x[i] {
			v := x[i][j]
			for k := range c {
				v -= g[i][k] * f[k][j]
			}
			fit += v * v
		}
		for k := range c {
			v, local := g[i][k], g[i][k]
			for j := range x[i] {
				v -= x[i][j] * w[j][k]
			}
			for j := range x {
				local -= a[i][j] * g[j][k]
			}
			along += v * v
			sum += p.nu * local * local
		}
		sum += math.Sqrt(fit) + p.alpha*math.Sqrt(along)
	}
	for j := range w {
		square := p.epsilonW
		for _, v := range w[j] {
			square += v * v
		}
		sum += p.beta * math.Sqrt(square)
	}
	for k := range c {
		for l := range c {
			v := 0.0
			if k == l {
				v = -1
			}
			for i := range g {
				v += g[i][k] * g[i][l]
			}
			sum += p.zeta / 4 * v * v
		}
	}
	return sum
}

// Every step's value is the definition's, and every step lowers it.
func TestStepsLowerTheDefinition(t *testing.T) {
	for _, shape := range [][2]int{{60, 9}, {35, 50}} {
		x := blobs(shape[0], shape[1], 2)
		a := predictions(x, 5)
		p := started(t, x, Options{Clusters: 4, Nu: 2, Alpha: 0.7, Beta: 0.3})
		last := naive(p, x, a)
		check := func(what string) {
			value := naive(p, x, a)
			// Squares of residuals are differences of sums of squares.
			if got := p.totalObjective(); math.Abs(got-value) > 1e-9*value {
				t.Errorf("%v, %s: the objective is %v, want %v", shape, what, got, value)
			}
			if !(value <= last*(1+1e-12)) {
				t.Errorf("%v, %s raises the objective from %v to %v", shape, what, last, value)
			}
			last = value
		}
		for range 4 {
			must.Do(t, p.updateProjection(p.computeNormWeights()))
			check("W")
			p.descendGradient(p.g.Data)
			check("G")
			p.updateCentres()
			check("F")
		}
		if slices.Min(p.g.Data) < 0 || slices.Min(p.f.Data) < 0 {
			t.Errorf("%v: negative values in G or F", shape)
		}
	}
}

// The gradient equals difference quotients of small changes of G.
func TestGradient(t *testing.T) {
	x := blobs(30, 7, 3)
	p := started(t, x, Options{Clusters: 3, Nu: 3})
	for i := range p.g.Data { // off the start, where the penalty has a part
		p.g.Data[i] += 1e-3 * float64(i%7)
	}
	p.updateProductsOfSolution()
	gradient := make([]float64, len(p.g.Data))
	p.objectiveAt(p.g.Data, gradient)
	largest := 0.0
	for _, v := range gradient {
		largest = max(largest, math.Abs(v))
	}
	for i := range p.g.Data {
		const h = 1e-6
		at := slices.Clone(p.g.Data)
		at[i] += h
		up := p.objectiveAt(at, nil)
		at[i] -= 2 * h
		down := p.objectiveAt(at, nil)
		// The third derivative, some ζ, leaves ζh²; rounding 1e-16·1e2/h.
		if slope := (up - down) / (2 * h); math.Abs(slope-gradient[i]) > 1e-5*largest {
			t.Errorf("entry %d: %v, by differences %v", i, gradient[i], slope)
		}
	}
}

// W is the minimum of its weighted least squares, in either form.
func TestProjectIsLeastSquares(t *testing.T) {
	for _, shape := range [][2]int{{40, 12}, {12, 40}, {20, 20}} {
		x := blobs(shape[0], shape[1], 4)
		n, d := shape[0], shape[1]
		p := started(t, x, Options{Clusters: 3, Alpha: 2, Beta: 0.5})
		u, v := p.computeNormWeights()
		m, right := rowstest.ZeroRows(d, d), rowstest.ZeroRows(d, p.c)
		for j := range d {
			for l := range d {
				for i := range n {
					m[j][l] += p.alpha * x[i][j] * u[i] * x[i][l]
				}
			}
			m[j][j] += p.beta * v[j]
			for k := range p.c {
				for i := range n {
					right[j][k] += p.alpha * x[i][j] * u[i] * p.g.Data[i*p.c+k]
				}
			}
		}
		m = rowstest.InvertMatrix(m)
		want := make([]float64, d*p.c)
		for j := range d {
			for k := range p.c {
				for l := range d {
					want[j*p.c+k] += m[j][l] * right[l][k]
				}
			}
		}
		must.Do(t, p.updateProjection(u, v))
		// The condition of the system is below 1e6.
		if off := rowstest.RelativeDistance(p.w.Data, want); !(off <= 1e-9) {
			t.Errorf("%v: W is off by %.2g", shape, off)
		}
	}
}

func TestObjectiveFalls(t *testing.T) {
	for seed := range uint64(3) {
		x := blobs(90, 20, seed)
		for _, w := range []float64{-1, 1e-3, 1, 1e3} {
			for _, opt := range []Options{{Nu: w}, {Alpha: max(w, 1e-6)}, {Beta: w}} {
				opt.Clusters, opt.MaxIter, opt.Tol = 4, 3, -1
				if r := run(t, x, opt); r.Rose != nil {
					t.Errorf("seed %d, %+v: %+v", seed, opt, *r.Rose)
				}
			}
		}
	}
}

func TestLaws(t *testing.T) {
	x := blobs(300, 24, 5)
	opt := Options{Clusters: 4, MaxIter: 5, Threads: 1}
	want := run(t, x, opt)
	for _, threads := range []int{2, 8} {
		opt.Threads = threads
		if got := run(t, x, opt); !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
			t.Errorf("other bits from %d threads", threads)
		}
	}
	columns := rand.New(rand.NewPCG(1, 1)).Perm(24)
	turned := rowstest.ZeroRows(300, 24)
	for i := range turned {
		for j, f := range columns {
			turned[i][j] = x[i][f]
		}
	}
	got := run(t, turned, opt)
	for j, f := range columns {
		// Sums of other orders, in 5 rounds of 200 steps that pass rounding on.
		if math.Abs(got.Scores[j]-want.Scores[f]) > 1e-10*slices.Max(want.Scores) {
			t.Errorf("feature %d: %v, turned %v", f, want.Scores[f], got.Scores[j])
		}
	}
}

func TestEdges(t *testing.T) {
	for _, c := range [][2]int{{2, 1}, {3, 30}, {11, 2}} {
		r := run(t, blobs(c[0], c[1], 6), Options{})
		if len(r.Order) != c[1] || r.Rose != nil {
			t.Errorf("%d rows of %d features: got %+v, want all %d features ranked and no rise", c[0], c[1], r, c[1])
		}
		for _, v := range r.Scores {
			if !(v >= 0 && v < 1e9) {
				t.Errorf("%v: norm %v", c, v)
			}
		}
	}
	if _, err := Select(t.Context(), make([]float64, 6), 3, 2, Options{}); err == nil {
		t.Error("rows of zeros are no error")
	}
	if _, err := Select(t.Context(), []float64{1, 2}, 1, 2, Options{}); err == nil {
		t.Error("a single row is no error")
	}
	_, err := Select(t.Context(), []float64{1, 2}, 2, 1, Options{Nu: math.NaN(), Beta: math.Inf(1), Neighbors: -1, Clusters: -2, MaxIter: -3, Threads: -4})
	rowstest.CheckRefusal(t, err, "nu = NaN", "beta = +Inf", "neighbors = -1", "clusters = -2", "max-iter = -3", "threads = -4")
}

func nearTo(t *testing.T, p *problem, k int) *predictor {
	t.Helper()
	near := must.Get(rows.FindNearest(t.Context(), p.team, p.n, p.d, k, 1<<20, rows.PassInMemory(p.x)))(t)
	return must.Get(newPredictor(p.workers, p.x, near, k))(t)
}

// TestLayout: rounds, in both forms of the least squares, take the memory of their layout, and no more.
func TestLayout(t *testing.T) {
	for _, shape := range [][2]int{{1000, 700}, {700, 1000}} {
		first := started(t, blobs(shape[0], shape[1], 8), Options{Clusters: 12})
		first.workers, first.team = 1, kernel.NewTeam(1)
		declared := room.Measure(func(l *room.Layout) {
			p := *first
			p.layOutSolution(l)
			p.layOutRounds(l)
		})
		roomtest.CheckLayout(t, fmt.Sprint(shape), declared, func() {
			p := *first
			p.layOutSolution(nil)
			p.layOutRounds(nil)
			copy(p.g.Data, first.g.Data)
			copy(p.f.Data, first.f.Data)
			copy(p.w.Data, first.w.Data)
			copy(p.squares, first.squares)
			must.Do(t, p.updateProjection(p.computeNormWeights()))
			p.descendGradient(p.g.Data)
			p.updateCentres()
			p.totalObjective()
		})
	}
}
