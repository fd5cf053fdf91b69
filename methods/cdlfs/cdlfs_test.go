package cdlfs

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// normalTable is a table of n rows and d features with five directions in common.
func normalTable(seed uint64, n, d int) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 16))
	normal := func(_, _ int, _ float64) float64 { return rng.NormFloat64() }
	scores, loadings, table := mat.NewDense(n, 5, nil), mat.NewDense(5, d, nil), mat.NewDense(n, d, nil)
	scores.Apply(func(_, c int, _ float64) float64 { return rng.NormFloat64() * float64(2+c) }, scores)
	loadings.Apply(normal, loadings)
	table.Mul(scores, loadings)
	table.Apply(func(_, _ int, v float64) float64 { return v + rng.NormFloat64() }, table)
	return table
}

func full(table *mat.Dense) *gram.Matrix {
	var g mat.Dense
	g.Mul(table.T(), table)
	_, d := table.Dims()
	return gram.Full(g.RawMatrix().Data, d)
}

func factor(table *mat.Dense) *gram.Matrix {
	n, d := table.Dims()
	return gram.FromFactor(mat.DenseCopyOf(table.T()).RawMatrix().Data, d, n)
}

func run(t *testing.T, g *gram.Matrix, opt Options) *Result {
	t.Helper()
	return must.Get(Select(t.Context(), g, opt))(t)
}

func squaredNorm(a mat.Matrix) float64 { norm := mat.Norm(a, 2); return norm * norm }

func rowNorm(a *mat.Dense, i int) float64 { return mat.Norm(a.RowView(i), 2) }

// dictionaries are the matrices of the paper, each in full, for X of features by rows.
type dictionaries struct{ x, v, d, a *mat.Dense }

func (m *dictionaries) objective(tau, power float64) float64 {
	var rest, code mat.Dense
	rest.Mul(m.d, m.a)
	rest.Sub(m.x, &rest)
	code.Mul(m.v.T(), m.x)
	code.Sub(&code, m.a)
	value := squaredNorm(&rest) + squaredNorm(&code)
	for i := range m.x.RawMatrix().Rows {
		value += tau * math.Pow(rowNorm(m.v, i), power)
	}
	return value
}

// solveAnalysis is step 1, from the row norms of the previous V.
func (m *dictionaries) solveAnalysis(norms []float64, tau, power float64) {
	var system, right mat.Dense
	system.Mul(m.x, m.x.T())
	for i, norm := range norms {
		system.Set(i, i, system.At(i, i)+tau*power/2*math.Pow(norm, power-2))
	}
	right.Mul(m.x, m.a.T())
	if err := m.v.Solve(&system, &right); err != nil {
		panic(err)
	}
}

// solveSynthesis is step 2 by projected gradients, with steps of the inverse of ‖AAᵀ‖.
func (m *dictionaries) solveSynthesis() {
	var products, gradient mat.Dense
	products.Mul(m.a, m.a.T())
	step := 1 / mat.Trace(&products)
	for range 20_000 {
		before := mat.DenseCopyOf(m.d)
		gradient.Mul(m.d, m.a)
		gradient.Sub(m.x, &gradient)
		var ascent mat.Dense
		ascent.Mul(&gradient, m.a.T())
		ascent.Scale(step, &ascent)
		m.d.Add(m.d, &ascent)
		for j := range m.a.RawMatrix().Rows {
			column := mat.Col(nil, j, m.d)
			length := max(1, mat.Norm(mat.NewVecDense(len(column), column), 2))
			for i := range column {
				column[i] /= length
			}
			m.d.SetCol(j, column)
		}
		before.Sub(before, m.d)
		if mat.Norm(before, 2) < 1e-14 {
			return
		}
	}
}

// solveCode is step 3 with μ = 1.
func (m *dictionaries) solveCode() {
	c := m.a.RawMatrix().Rows
	var system, both, right mat.Dense
	system.Mul(m.d.T(), m.d)
	for j := range c {
		system.Set(j, j, system.At(j, j)+1)
	}
	both.Add(m.d, m.v)
	right.Mul(both.T(), m.x)
	if err := m.a.Solve(&system, &right); err != nil {
		panic(err)
	}
}

// naive runs some rounds with the matrices of the package comment, and returns V's row norms and the objectives.
func naive(table *mat.Dense, c, rounds int, share, power float64) (norms, objective []float64) {
	x := mat.DenseCopyOf(table.T())
	d, n := x.Dims()
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		panic("no singular vectors")
	}
	var u mat.Dense
	svd.UTo(&u)
	leading := mat.DenseCopyOf(u.Slice(0, d, 0, c))
	m := &dictionaries{x: x, v: mat.NewDense(d, c, nil), d: leading, a: mat.NewDense(c, n, nil)}
	m.a.Mul(leading.T(), x)
	var xa mat.Dense
	xa.Mul(x, m.a.T())
	tau := 0.0
	for i := range d {
		tau = max(tau, share*2*rowNorm(&xa, i))
		norms = append(norms, math.Sqrt(float64(c)/float64(d)))
	}
	for range rounds {
		m.solveAnalysis(norms, tau, power)
		m.solveSynthesis()
		m.solveCode()
		norms = nil
		for i := range d {
			norms = append(norms, rowNorm(m.v, i))
		}
		objective = append(objective, m.objective(tau, power)/squaredNorm(x))
	}
	return norms, objective
}

// TestSelectIsTheNaiveForm: the objectives and norms are those of the rounds with all matrices in full, for both forms
// of G, more and fewer rows than features, and powers of at most 1.
func TestSelectIsTheNaiveForm(t *testing.T) {
	const rounds = 6
	for seed := range uint64(6) {
		n, d, c := []int{40, 9}[seed%2], 15, 2+int(seed%3)
		power, share := []float64{1, 1, 0.6}[seed%3], []float64{0.1, 0.02}[seed/3]
		table := normalTable(seed, n, d)
		norms, objective := naive(table, c, rounds, share, power)
		for name, g := range map[string]*gram.Matrix{"full": full(table), "factor": factor(table)} {
			what := fmt.Sprintf("seed %d, %s, n %d, c %d, p %v", seed, name, n, c, power)
			r := run(t, g, Options{Tau: method.Weight{Value: share, Share: true}, Power: power, Components: c, MaxIter: rounds, Tol: -1, Threads: 2})
			if r.Rose != nil || len(r.Warnings) > 0 || len(r.Objective) != rounds {
				t.Fatalf("%s: got %+v, want %d rounds without a rise or a warning", what, r, rounds)
			}
			// D is solved to 1e-10 of its columns here, and to about as much there.
			if a, b := rowstest.RelativeDistance(r.Objective, objective), rowstest.RelativeDistance(r.Scores, norms); !(a <= 1e-9 && b <= 1e-7) {
				t.Errorf("%s: objectives off by %.2g, norms by %.2g: got %v, want %v", what, a, b, r.Objective, objective)
			}
		}
	}
}

// TestObjectiveFalls: over many rounds the objective never rises, the rounds converge, and a larger τ leaves fewer
// features.
func TestObjectiveFalls(t *testing.T) {
	for seed := range uint64(4) {
		for _, power := range []float64{1, 0.5} {
			used := math.MaxInt
			for _, share := range []float64{0.01, 0.1, 0.5} {
				r := run(t, full(normalTable(seed, 60, 30)), Options{Tau: method.Weight{Value: share, Share: true}, Power: power, Components: 4, MaxIter: 400, Tol: 1e-4})
				if r.Rose != nil || !r.Converged {
					t.Errorf("seed %d, p %v, τ %v: rose %v, converged %t after %d rounds", seed, power, share, r.Rose, r.Converged, len(r.Objective))
				}
				now := 0
				for _, norm := range r.Scores {
					if norm > 1e-3*slices.Max(r.Scores) {
						now++
					}
				}
				if now > used {
					t.Errorf("seed %d, p %v, τ %v: %d features remain, %d with a smaller τ", seed, power, share, now, used)
				}
				used = now
			}
		}
	}
}

// TestLaws: threads do not change a bit; both forms agree; permuted features keep their norms; a unit does not matter.
func TestLaws(t *testing.T) {
	for _, shape := range [][2]int{{300, 120}, {30, 500}} {
		n, d := shape[0], shape[1]
		table := normalTable(5, n, d)
		opt := Options{MaxIter: 5, Tol: -1, Threads: 1}
		want := run(t, full(table), opt)
		columns := rand.New(rand.NewPCG(4, 4)).Perm(d)
		turned := mat.NewDense(n, d, nil)
		for j, f := range columns {
			turned.SetCol(j, mat.Col(nil, f, table))
		}
		turned.Scale(1e30, turned)
		for name, form := range map[string]func(*mat.Dense) *gram.Matrix{"full": full, "factor": factor} {
			first := run(t, form(table), opt)
			if a := rowstest.RelativeDistance(first.Scores, want.Scores); !(a <= 1e-7) {
				t.Errorf("%v, %s: norms off by %.2g", shape, name, a)
			}
			for _, threads := range []int{2, 8} {
				opt := opt
				opt.Threads = threads
				if got := run(t, form(table), opt); !slices.Equal(got.Scores, first.Scores) || !slices.Equal(got.Objective, first.Objective) {
					t.Errorf("%v, %s: other bits from %d threads", shape, name, threads)
				}
			}
			got, back := run(t, form(turned), opt), make([]float64, d)
			for j, f := range columns {
				back[f] = got.Scores[j]
			}
			if a := rowstest.RelativeDistance(back, want.Scores); !(a <= 1e-7) {
				t.Errorf("%v, %s: permuted, in another unit: norms off by %.2g", shape, name, a)
			}
		}
	}
}

func TestEdges(t *testing.T) {
	table := normalTable(8, 20, 6)
	wide := mat.NewDense(20, 9, nil)
	for j := range 6 {
		wide.SetCol(j, mat.Col(nil, j, table))
	}
	wide.SetCol(6, mat.Col(nil, 2, table)) // a copy; the last two are constant
	for name, g := range map[string]*gram.Matrix{"full": full(wide), "factor": factor(wide)} {
		r := run(t, g, Options{Components: 20})
		if len(r.Warnings) != 1 || len(r.Order) != 9 || !slices.Equal(r.Order[7:], []int{7, 8}) || r.Scores[7] != 0 {
			t.Errorf("%s: order %v, scores %v, warnings %v; want the constant features last and a warning of 6 dimensions", name, r.Order, r.Scores, r.Warnings)
		}
		// Equal features have equal norms, up to the error of the solutions.
		if off := math.Abs(r.Scores[6] - r.Scores[2]); off > 1e-12*slices.Max(r.Scores) || slices.Index(r.Order, 6) < slices.Index(r.Order, 2) {
			t.Errorf("%s: order %v, scores %v; want feature 6 as its copy 2, and after it", name, r.Order, r.Scores)
		}
	}
	for _, g := range []*gram.Matrix{gram.Full([]float64{4}, 1), gram.FromFactor([]float64{2}, 1, 1)} {
		if r := run(t, g, Options{}); !slices.Equal(r.Order, []int{0}) || !(r.Scores[0] > 0) {
			t.Errorf("one feature: got %v with %v, want it with a norm above 0", r.Order, r.Scores)
		}
	}
	if _, err := Select(t.Context(), gram.Full(make([]float64, 4), 2), Options{}); !errors.As(err, new(*stream.DataError)) {
		t.Errorf("constant features: got %v, want a data error", err)
	}
	if _, err := Select(t.Context(), gram.Full([]float64{1, math.NaN(), math.NaN(), 1}, 2), Options{}); !errors.Is(err, linalg.ErrNotFinite) {
		t.Errorf("NaN: got %v, want %v", err, linalg.ErrNotFinite)
	}
	r := run(t, gram.Full([]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, 3), Options{Components: 2})
	if len(r.Warnings) != 1 {
		t.Errorf("equal eigenvalues: got warnings %v, want one", r.Warnings)
	}
	_, err := Select(t.Context(), full(table), Options{Tau: method.Weight{Value: -1}, Power: 2, Components: -1, MaxIter: -2, Threads: -3, Tol: math.NaN()})
	rowstest.CheckRefusal(t, err, "alpha = -1", "exponent = 2", "components = -1", "max-iter = -2", "threads = -3", "tol = NaN")
}

// TestBytes: a run stays within Bytes, which has no d² for a factor.
func TestBytes(t *testing.T) {
	for name, g := range map[string]*gram.Matrix{"factor": factor(normalTable(2, 60, 3000)), "full": full(normalTable(2, 60, 700))} {
		opt := Options{Threads: 2, MaxIter: 3, Tol: -1}
		before, most := rowstest.HeapBytes(), int64(0)
		opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
		run(t, g, opt)
		if says := Bytes(g.D, g.Rank, opt); most == 0 || most > says || name == "factor" && says > 4*int64(g.D*g.D) {
			t.Errorf("%s: %d bytes held, %d said", name, most, says)
		}
	}
}

// TestLayout: the solver takes the memory of the layout, and no more but for the teams of the products with G. These are
// made anew for each product, and their scratch memory depends on the instruction set.
func TestLayout(t *testing.T) {
	const c = 8
	for name, g := range map[string]*gram.Matrix{"factor": factor(normalTable(2, 600, 1300)), "full": full(normalTable(2, 60, 400))} {
		team, code := kernel.NewTeam(1), kernel.NewMatrix[float64](nil, c, g.D)
		declared := room.Measure(func(l *room.Layout) {
			ridge.LayOut(l, g.D, g.Rank, c)
			new(solver).layOut(l, g.D, g.Rank, c)
		})
		s := newSolver(team, g, 1, code)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.updateCodeProducts() // in the memory of s
		runtime.ReadMemStats(&after)
		roomtest.CheckLayout(t, name, declared+int64(after.TotalAlloc-before.TotalAlloc), func() { newSolver(team, g, 1, code) })
	}
}
