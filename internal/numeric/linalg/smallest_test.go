package linalg

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// names lists the spectra in a fixed order, so that failures can be repeated.
func names() []string { return slices.Sorted(maps.Keys(spectra)) }

func seeded(name string, n int) []float64 {
	return spectra[name](n, rand.New(rand.NewPCG(1, uint64(n))))
}

func square(a []float64, n int) kernel.Matrix[float64] { return kernel.RowMajor(a, n, n, n) }

var cold kernel.Matrix[float64]

// dense is the twin: all eigenvalues by gonum, ascending.
func dense(t testing.TB, a []float64, n int) []float64 {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, slices.Clone(a)), false) {
		t.Fatal("gonum's EigenSym failed")
	}
	return e.Values(nil)
}

// checkEigen compares e with the definition of eigenpairs and with all eigenvalues.
func checkEigen(t *testing.T, a []float64, n, l int, all []float64, e Eigen) {
	t.Helper()
	if len(e.Values) != l || e.Vectors.Rows != n || e.Vectors.Cols != l {
		t.Fatalf("%d values, %d×%d vectors, want %d of order %d", len(e.Values), e.Vectors.Rows, e.Vectors.Cols, l, n)
	}
	norm := max(math.Abs(all[0]), math.Abs(all[n-1]))
	tol := math.Sqrt(float64(n)) * 0x1p-49 * norm
	// The values: proved within 4·tol + ‖R‖ ≤ 4·tol + √l·tol by the iteration; gonum's
	// own are some √n·2⁻⁵³·norm off.
	for i, v := range e.Values {
		if d := math.Abs(v - all[i]); !(d <= (5+math.Sqrt(float64(l)))*tol) {
			t.Errorf("value %d is %g, by gonum %g: off by %.1f tolerances", i, v, all[i], d/tol)
		}
	}
	if !slices.IsSorted(e.Values) {
		t.Errorf("values %v do not ascend", e.Values)
	}
	column := func(j int) []float64 {
		v := make([]float64, n)
		kernel.Copy(kernel.RowMajor(v, n, 1, 1), e.Basis.Sub(0, j, n, 1))
		return v
	}
	for j := range e.Basis.Cols {
		v := column(j)
		// Rounded once, after a product with a factor of order l: a few √n·2⁻⁵³.
		for k := range j + 1 {
			if d := math.Abs(kernel.Dot(v, column(k)) - identity(j, k)); d > math.Sqrt(float64(n))*0x1p-50 {
				t.Errorf("vectors %d and %d: off orthonormal by %g", k, j, d)
			}
		}
		largest := 0
		for i := range v {
			if math.Abs(v[i]) > math.Abs(v[largest]) {
				largest = i
			}
		}
		if v[largest] < 0 {
			t.Errorf("vector %d: its largest entry is %g", j, v[largest])
		}
		if j >= l {
			continue // a guard, which need not have converged
		}
		r := make([]float64, n)
		kernel.Gemv(1, n, n, a, n, v, r)
		kernel.Axpy(-e.Values[j], v, r)
		// As accepted, and the rounding of this product and of scaling.
		if got := norm2(r); !(got <= 1.1*tol) {
			t.Errorf("residual %d is %.2f tolerances", j, got/tol)
		}
	}
}

func TestSmallestAgainstDense(t *testing.T) {
	for _, name := range names() {
		for _, size := range []struct{ n, l int }{{1, 1}, {2, 1}, {20, 20}, {99, 3}, {100, 1}, {130, 10}, {250, 10}} {
			t.Run(fmt.Sprintf("%s/n=%d/l=%d", name, size.n, size.l), func(t *testing.T) {
				n, l := size.n, size.l
				a := seeded(name, n)
				team := kernel.NewTeam(2)
				s := NewSmallest(team, n, l, EigenOptions{})
				upper := slices.Clone(a)
				for i := range n {
					for j := range i {
						upper[i*n+j] = math.NaN() // must not be read
					}
				}
				e := must.Get(s.Solve(square(upper, n), cold))(t)
				checkEigen(t, a, n, l, dense(t, a, n), e)
				iterates := n >= smallOrder && 4*s.p <= n
				zero := maxAbs(a) == 0
				if e.Dense == iterates && !zero {
					t.Errorf("dense: %t after %d steps, %d factors", e.Dense, e.Steps, e.Factors)
				}

				// A similar matrix, started from there; in column order, for once.
				for i := range n {
					a[i*n+i] *= 1 + 0.01*float64(i%3)
				}
				e = must.Get(s.Solve(kernel.ColMajor(a, n, n, n), e.Basis))(t)
				checkEigen(t, a, n, l, dense(t, a, n), e)
				if e.Dense == iterates && !zero {
					t.Errorf("warm: dense: %t after %d steps, %d factors", e.Dense, e.Steps, e.Factors)
				}

				// The same bits for any team and whatever the solver did before.
				for _, workers := range []int{1, 8} {
					again := must.Get(NewSmallest(kernel.NewTeam(workers), n, l, EigenOptions{}).Solve(square(a, n), e.Basis))(t)
					last := must.Get(s.Solve(square(a, n), e.Basis))(t)
					if !slices.Equal(again.Basis.Data, last.Basis.Data) || !slices.Equal(again.Values, last.Values) {
						t.Errorf("%d workers: other bits than with 2", workers)
					}
				}
			})
		}
	}
}

// TestSmallestMissesNothing starts from exact eigenvectors that are not the smallest:
// their residuals are zero, so that only the proof can detect it.
func TestSmallestMissesNothing(t *testing.T) {
	const n, l = 200, 5
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = float64(i)
	}
	s := NewSmallest(kernel.NewTeam(1), n, l, EigenOptions{})
	for first := 1; first < n-s.p; first += 37 {
		warm := kernel.RowMajor(make([]float64, n*s.p), n, s.p, s.p)
		for j := range s.p {
			warm.Data[(first+j)*s.p+j] = 1
		}
		e := must.Get(s.Solve(square(a, n), warm))(t)
		checkEigen(t, a, n, l, dense(t, a, n), e)
		if e.Dense {
			t.Errorf("from vector %d on: fell back on the dense solver", first)
		}
	}
}

// TestProof gives the proof pairs of a diagonal matrix without the smallest one: that is
// all in the complement, or half of it in a guard that is no eigenvector, where B has a
// factor with all the guards and only the count can detect it.
func TestProof(t *testing.T) {
	const n, l = 200, 5
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = float64(i)
	}
	for _, c := range []struct {
		name         string
		first, guard int // the first vector, and the one that is mixed into the last guard
		factor, want bool
	}{
		{"complete", 0, -1, true, true},
		{"missing", 1, -1, false, false},
		{"half in a guard", 1, 0, true, false},
	} {
		s := NewSmallest(kernel.NewTeam(1), n, l, EigenOptions{})
		exp := must.Get(s.loadScaled(square(a, n)))(t)
		s.resetSpace()
		for i := range s.p {
			s.x[i*n+c.first+i] = 1
			s.theta[i] = math.Ldexp(float64(c.first+i), -exp)
		}
		if c.guard >= 0 {
			i := s.p - 1
			clear(s.x[i*n:][:n])
			s.x[i*n+c.guard], s.x[i*n+50] = math.Sqrt(0.5), math.Sqrt(0.5)
			s.theta[i] = math.Ldexp(25, -exp)
		}
		if got := s.proveComplete(); got != c.want {
			t.Errorf("%s: proved: %t, want %t", c.name, got, c.want)
		}
		if got := s.deflateAndCount(); got != c.factor || (got && len(s.shift.counts) != 1) {
			t.Errorf("%s: a factor with all the guards: %t, want %t; %d counts", c.name, got, c.factor, len(s.shift.counts))
		}
		before := s.shift.factorTries
		if got := s.proveComplete(); got != c.want {
			t.Errorf("%s: proved by the count: %t, want %t", c.name, got, c.want)
		}
		if c.want && s.shift.factorTries != before {
			t.Errorf("%s: the count did not do", c.name)
		}
	}
}

// TestSmallestFallsBack takes the steps away.
func TestSmallestFallsBack(t *testing.T) {
	const n, l = 120, 4
	a := seeded("goe", n)
	e := must.Get(NewSmallest(kernel.NewTeam(1), n, l, EigenOptions{Steps: 1}).Solve(square(a, n), cold))(t)
	if !e.Dense || e.Steps != 1 {
		t.Errorf("dense: %t after %d steps", e.Dense, e.Steps)
	}
	checkEigen(t, a, n, l, dense(t, a, n), e)
}

// TestSmallestScale: a power of two changes values by that power and nothing else.
func TestSmallestScale(t *testing.T) {
	const n, l = 110, 3
	a := seeded("gram", n)
	s := NewSmallest(kernel.NewTeam(1), n, l, EigenOptions{})
	want := must.Get(s.Solve(square(a, n), cold))(t)
	for _, exp := range []int{-900, 950} {
		b := slices.Clone(a)
		for i := range b {
			b[i] = math.Ldexp(b[i], exp)
		}
		got := must.Get(s.Solve(square(b, n), cold))(t)
		for i, v := range got.Values {
			if v != math.Ldexp(want.Values[i], exp) {
				t.Errorf("times 2^%d: value %d is %g, want %g·2^%d", exp, i, v, want.Values[i], exp)
			}
		}
		if !slices.Equal(got.Basis.Data, want.Basis.Data) {
			t.Errorf("times 2^%d: other vectors", exp)
		}
	}
}

func TestSmallestEdges(t *testing.T) {
	team := kernel.NewTeam(1)
	for _, n := range []int{0, 1, 150} {
		for _, l := range []int{0, min(1, n), n} {
			s := NewSmallest(team, n, l, EigenOptions{})
			e := must.Get(s.Solve(square(make([]float64, n*n), n), cold))(t)
			if l > 0 {
				checkEigen(t, make([]float64, n*n), n, l, make([]float64, n), e)
			} else if len(e.Values) != 0 {
				t.Errorf("n=%d: %d values, want none", n, len(e.Values))
			}
		}
	}
	const n = 150
	s := NewSmallest(team, n, 3, EigenOptions{})
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := seeded("goe", n)
		a[4*n+7] = bad
		if _, err := s.Solve(square(a, n), cold); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "row 5, column 8") {
			t.Errorf("%g at row 5, column 8: %v", bad, err)
		}
		warm := kernel.RowMajor(make([]float64, 2*n), n, 2, 2)
		warm.Data[3] = bad
		if _, err := s.Solve(square(seeded("goe", n), n), warm); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "start, row 2, column 2") {
			t.Errorf("%g in the start: %v", bad, err)
		}
	}
	// A useless start: zeros, and twice the same.
	a := seeded("gram", n)
	warm := kernel.RowMajor(make([]float64, 4*n), n, 4, 4)
	for i := range n {
		warm.Data[4*i+2], warm.Data[4*i+3] = 1e200, 1e-200
	}
	e := must.Get(s.Solve(square(a, n), warm))(t)
	checkEigen(t, a, n, 3, dense(t, a, n), e)
}

// TestLayout: solvers take the memory of their layouts, and no more. The matrix that is clipped has three negative
// eigenvalues, so that one search for a few pairs finds them.
func TestLayout(t *testing.T) {
	const n, l, k, clipped = 400, 8, 10, 3
	team, a := kernel.NewTeam(1), pathLaplacian(n)
	product := func(dst, x kernel.Matrix[float64]) {
		clear(dst.Data)
		kernel.Gemm(team, 1, square(a, n), x, dst)
	}
	filter := &Filter{Product: product, Top: 1e6}
	iterate := func(m *room.Layout, l int, opt EigenOptions) {
		s := NewSmallest(team, n, l, opt)
		layOutFull(m, team, n)
		s.layOut(m, 1)
		if opt.Filter != nil {
			s.layOutFilter(m)
		}
		s.layOutEigen(m, s.p)
	}
	find := func(l int, opt EigenOptions) func() {
		return func() { must.Get(NewSmallest(team, n, l, opt).Solve(square(a, n), kernel.Matrix[float64]{}))(t) }
	}
	indefinite, work := seeded("diagonal", n), make([]float64, n*n)
	// With one processor and without collections, the pool of the BLAS keeps its scratch memory.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, c := range []struct {
		name   string
		layOut func(m *room.Layout)
		do     func()
	}{
		{"iteration", func(m *room.Layout) { iterate(m, l, EigenOptions{}) }, find(l, EigenOptions{})},
		{"filter", func(m *room.Layout) { iterate(m, l, EigenOptions{Filter: filter}) }, find(l, EigenOptions{Filter: filter})},
		{"dense solver", func(m *room.Layout) {
			layOutFull(m, team, n)
			NewSmallest(team, n, n/4, EigenOptions{}).layOutDense(m, 1)
		}, find(n/4, EigenOptions{})},
		{"all pairs", func(m *room.Layout) {
			layOutQL(m, 1, n)
			room.Slice[float64](m, n)
		}, func() {
			copy(work, a)
			must.Get(SymmetricEigen(team, square(work, n)))(t)
		}},
		{"clip", func(m *room.Layout) {
			kernel.NewMatrix[float64](m, n, n+clipped)
			iterate(m, clipFirstPairs, EigenOptions{})
		}, func() {
			copy(work, indefinite)
			if c := must.Get(ClipNegative(team, square(work, n)))(t); c.Count != clipped {
				t.Errorf("%d eigenvalues are clipped, want %d", c.Count, clipped)
			}
		}},
		{"tails", func(m *room.Layout) { layOutTails(m, n, k) }, func() {
			TailBounds(team, n, k, 1e9, square(a, n).Sub(0, 0, k, n), func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, square(a, n), dst) })
		}},
	} {
		using(t, 1, func() { roomtest.CheckLayout(t, c.name, room.Measure(c.layOut), c.do) })
	}
}
