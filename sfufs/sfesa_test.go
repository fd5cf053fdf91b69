package sfufs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func graphForms(x, z table) map[string]*anchor.Graph {
	return map[string]*anchor.Graph{"full": rowstest.BuildGraph(x, z), "factor": rowstest.FactoredGraph(x, z)}
}

func leadingPairs(a mat.Matrix, m int) (values []float64, vectors *mat.Dense) {
	n, _ := a.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		panic("no eigenvectors")
	}
	var all mat.Dense
	e.VectorsTo(&all)
	vectors = mat.NewDense(n, m, nil)
	for c := range m {
		values = append(values, e.Values(nil)[n-1-c])
		vectors.SetCol(c, mat.Col(nil, n-1-c, &all))
	}
	return values, vectors
}

// naiveSubset is the paper's algorithm with all its matrices: A = λI − M with the M of denseMatrix and its largest
// eigenvalue λ, then P = AW(WᵀAW)⁻¹WᵀA for the m leading eigenvectors of A_SS, until its k largest diagonal entries are
// S. It starts from the k largest diagonal entries of A.
func naiveSubset(m table, components, k int) (chosen []int, objective []float64, p *mat.Dense, largest float64) {
	d := len(m)
	full := mat.NewDense(d, d, m.flat())
	values, _ := leadingPairs(full, 1)
	largest = values[0]
	a := mat.NewDense(d, d, nil)
	a.Apply(func(i, j int, v float64) float64 {
		if i == j {
			return largest - v
		}
		return -v
	}, full)
	p = a
	for {
		order := rowstest.Integers(d)
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.At(j, j), p.At(i, i)) })
		next := slices.Sorted(slices.Values(order[:k]))
		if slices.Equal(next, chosen) {
			return chosen, objective, p, largest
		}
		chosen = next
		inner := mat.NewDense(k, k, nil)
		inner.Apply(func(i, j int, _ float64) float64 { return a.At(chosen[i], chosen[j]) }, inner)
		_, small := leadingPairs(inner, components)
		w := mat.NewDense(d, components, nil)
		for i, j := range chosen {
			w.SetRow(j, small.RawRowView(i))
		}
		var aw, waw, inverse, left, mw, cost mat.Dense
		aw.Mul(a, w)
		waw.Mul(w.T(), &aw)
		if err := inverse.Inverse(&waw); err != nil {
			panic(err)
		}
		left.Mul(&aw, &inverse)
		p = mat.NewDense(d, d, nil)
		p.Mul(&left, aw.T())
		mw.Mul(full, w)
		cost.Mul(w.T(), &mw)
		objective = append(objective, mat.Trace(&cost))
	}
}

// TestSubsetIsTheNaiveForm: features, objective and scores are those of the paper's algorithm for the paper's M, from G in
// full and as a factor.
func TestSubsetIsTheNaiveForm(t *testing.T) {
	for seed := range uint64(24) {
		n, d, k, m := 30+20*int(seed%3), 40+int(seed%2)*30, 5+int(seed%4)*7, 1+int(seed%5)
		alpha := math.Pow(10, float64(seed%4)-2)
		x, z := wide(n, d, 12, seed)
		if seed%2 == 0 { // features that depend on each other
			for i := range x {
				for j := 1; j < d; j++ {
					x[i][j] = x[i][j]/10 + x[i][j-1]
				}
			}
		}
		chosen, objective, p, largest := naiveSubset(denseMatrix(centred(x), z, SFUFS, alpha), m, k)
		unit := float64(m) * largest
		for name, g := range graphForms(x, z) {
			what := fmt.Sprintf("seed %d, %s, n %d, d %d, k %d, m %d, α %v", seed, name, n, d, k, m, alpha)
			r := must.Get(SelectSubset(t.Context(), g, SubsetOptions{K: k, Components: m, Alpha: alpha, Threads: 2}))(t)
			if got := slices.Sorted(slices.Values(r.Order)); !slices.Equal(got, chosen) || !r.Converged || r.Rose != nil || len(r.Warnings) > 0 || len(r.Objective) != len(objective) {
				t.Errorf("%s: got features %v, converged %t, rose %v, warnings %v after %v, want %v after %v", what, got, r.Converged, r.Rose, r.Warnings, r.Objective, chosen, objective)
				continue
			}
			// λ and the eigenvalues have errors of 1e-13 of λ, and M of 1e-14 of G.
			for i, v := range objective {
				if math.Abs(r.Objective[i]-v/unit) > 1e-10 {
					t.Errorf("%s: objective %d is %v, want %v", what, i, r.Objective[i], v/unit)
				}
			}
			for j, got := range r.Scores {
				if want := p.At(j, j) / unit; math.Abs(got-want) > 1e-7 {
					t.Errorf("%s: score %d is %v, want %v", what, j, got, want)
				}
			}
			if !slices.IsSortedFunc(r.Order, func(i, j int) int { return cmp.Compare(r.Scores[j], r.Scores[i]) }) {
				t.Errorf("%s: order %v does not follow the scores", what, r.Order)
			}
		}
	}
}

func centred(x table) table {
	out := x.plus(0, x)
	for j := range x[0] {
		mean := 0.0
		for i := range x {
			mean += x[i][j] / float64(len(x))
		}
		for i := range x {
			out[i][j] -= mean
		}
	}
	return out
}

// TestSubsetLaws: threads do not change a bit; permuted features are chosen as before, in any unit.
func TestSubsetLaws(t *testing.T) {
	x, z := wide(50, 120, 12, 3)
	columns := rand.New(rand.NewPCG(4, 4)).Perm(120)
	turned := rowstest.ZeroRows(50, 120)
	for i := range turned {
		for j, f := range columns {
			turned[i][j] = x[i][f] * 1e30
		}
	}
	permuted := graphForms(turned, z)
	for name, g := range graphForms(x, z) {
		opt := SubsetOptions{K: 15, Threads: 1}
		want := must.Get(SelectSubset(t.Context(), g, opt))(t)
		for _, threads := range []int{2, 8} {
			opt.Threads = threads
			got := must.Get(SelectSubset(t.Context(), g, opt))(t)
			if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
				t.Errorf("%s: other bits from %d threads", name, threads)
			}
		}
		got := must.Get(SelectSubset(t.Context(), permuted[name], opt))(t)
		for i, j := range got.Order {
			if columns[j] != want.Order[i] {
				t.Errorf("%s: rank %d is feature %d, permuted %d", name, i+1, want.Order[i], columns[j])
			}
		}
	}
}

func TestSubsetEdges(t *testing.T) {
	x, z := wide(30, 12, 12, 1)
	for i := range x {
		x[i][3], x[i][7] = x[i][2], 5 // a copy and a constant feature
	}
	for name, g := range graphForms(x, z) {
		// The constant feature costs nothing. Of copies the first is chosen.
		r := must.Get(SelectSubset(t.Context(), g, SubsetOptions{K: 1}))(t)
		if !slices.Equal(r.Order, []int{7}) || math.Abs(r.Objective[0]) > 1e-12 {
			t.Errorf("%s: got %v at the cost %v, want the constant feature 7 at 0", name, r.Order, r.Objective)
		}
		r = must.Get(SelectSubset(t.Context(), g, SubsetOptions{K: 12, Components: 12}))(t)
		if sorted := slices.Sorted(slices.Values(r.Order)); !slices.Equal(sorted, rowstest.Integers(12)) {
			t.Errorf("%s, k = m = d: got %v, want all features", name, r.Order)
		}
		_, err := SelectSubset(t.Context(), g, SubsetOptions{K: 13, Components: 20, Alpha: -1, MaxIter: -1, Threads: -2})
		rowstest.CheckRefusal(t, err, "k = 13 is more than the 12 features", "components = 20 is more than k = 13", "alpha = -1", "max-iter = -1", "threads = -2")
	}
	// If far more features than rows are chosen, any of several subspaces costs nothing.
	for name, g := range graphForms(wide(20, 60, 12, 1)) {
		r := must.Get(SelectSubset(t.Context(), g, SubsetOptions{K: 40, Components: 5}))(t)
		if len(r.Order) != 40 || len(r.Warnings) != 1 || math.Abs(r.Objective[0]) > 1e-12 {
			t.Errorf("%s, 40 features of 20 rows: got %d features, warnings %v, objective %v, want 40, one warning and 0", name, len(r.Order), r.Warnings, r.Objective)
		}
	}
	same := rowstest.ZeroRows(30, 4)
	for name, g := range graphForms(same, z) {
		if _, err := SelectSubset(t.Context(), g, SubsetOptions{K: 2}); !errors.As(err, new(*stream.DataError)) {
			t.Errorf("%s, constant features: got %v, want a data error", name, err)
		}
	}
	g := rowstest.BuildGraph(x, z)
	g.G.Sym[0] = math.NaN()
	if _, err := SelectSubset(t.Context(), g, SubsetOptions{K: 2}); !errors.Is(err, linalg.ErrNotFinite) {
		t.Errorf("NaN: got %v, want %v", err, linalg.ErrNotFinite)
	}
}

// TestSubsetBytes: a run stays within SubsetBytes, which has no d² for a factor.
func TestSubsetBytes(t *testing.T) {
	for name, g := range graphForms(wide(60, 1500, 20, 2)) {
		opt := SubsetOptions{K: 30, Threads: 2}
		before, most := rowstest.HeapBytes(), int64(0)
		opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
		must.Get(SelectSubset(t.Context(), g, opt))(t)
		if says := SubsetBytes(g.D, g.M, g.G.Rank, opt); most == 0 || most > says || name == "factor" && says > 8*int64(g.D*g.D) {
			t.Errorf("%s: %d bytes held, %d said", name, most, says)
		}
	}
}
