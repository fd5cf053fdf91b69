package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// orders cross every boundary of the recursion: the leaves of a solve and of the factor,
// and halves that are no multiples of either.
var orders = []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 100, 131}

// layouts are the ways to hold rows×cols values, with NaN between them.
var layouts = map[string]func(rows, cols int) kernel.Matrix[float64]{
	"rows":    func(r, c int) kernel.Matrix[float64] { return kernel.RowMajor(guarded(r*(c+3)), r, c, c+3) },
	"columns": func(r, c int) kernel.Matrix[float64] { return kernel.ColMajor(guarded(c*(r+2)), r, c, r+2) },
}

func guarded(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

func each(m kernel.Matrix[float64], fn func(i, j int, v *float64)) {
	for i := range m.Rows {
		for j := range m.Cols {
			fn(i, j, &m.Data[i*m.RowStride+j*m.ColStride])
		}
	}
}

func random(m kernel.Matrix[float64], rnd *rand.Rand) kernel.Matrix[float64] {
	each(m, func(_, _ int, v *float64) { *v = rnd.NormFloat64() })
	return m
}

func dense2(m kernel.Matrix[float64]) *mat.Dense {
	if m.Rows == 0 || m.Cols == 0 {
		return &mat.Dense{}
	}
	d := mat.NewDense(m.Rows, m.Cols, nil)
	each(m, func(i, j int, v *float64) { d.Set(i, j, *v) })
	return d
}

// checkGuards reports a value between the elements of m that has been written.
func checkGuards(t *testing.T, m kernel.Matrix[float64]) {
	t.Helper()
	left := slices.Clone(m.Data)
	each(m, func(i, j int, _ *float64) { left[i*m.RowStride+j*m.ColStride] = math.NaN() })
	for i, v := range left {
		if v == v {
			t.Fatalf("%d×%d: value %d between the elements is %g", m.Rows, m.Cols, i, v)
		}
	}
}

func positive(n int, rnd *rand.Rand) []float64 {
	return rotated(n, rnd, func(i int) float64 { return 1 + float64(i) })
}

func TestCholeskySolves(t *testing.T) {
	var c Cholesky // one for all: an order must not depend on the one before
	for _, n := range orders {
		for _, m := range []int{0, 1, 5, 33, columnsPerTask + 1} {
			if m > columnsPerTask && n > 33 {
				continue
			}
			for name, layout := range layouts {
				t.Run(fmt.Sprintf("n=%d/m=%d/%s", n, m, name), func(t *testing.T) {
					rnd := rand.New(rand.NewPCG(uint64(n), uint64(m)))
					full := positive(n, rnd)
					a := layout(n, n)
					each(a, func(i, j int, v *float64) {
						if j >= i { // the lower triangle stays NaN: it must not be read
							*v = full[i*n+j]
						}
					})
					before := slices.Clone(a.Data)
					team := kernel.NewTeam(2)
					must.Do(t, c.Factor(team, a))
					if !slices.EqualFunc(before, a.Data, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
						t.Fatal("Factor has changed A")
					}
					// UᵀU = A, the backward error of the doc: |U|ᵀ|U| is at most max(A) = n.
					for i := range n {
						for j := i; j < n; j++ {
							var sum float64
							for k := range i + 1 {
								sum += c.u.Data[k*n+i] * c.u.Data[k*n+j]
							}
							if d := math.Abs(sum - full[i*n+j]); d > float64(n)*0x1p-52*float64(n) {
								t.Fatalf("(UᵀU)[%d, %d] is off by %g", i, j, d)
							}
						}
					}
					b := random(layout(n, m), rnd)
					x := layout(n, m)
					c.SolveTo(team, x, b)
					checkGuards(t, x)
					// AX = B: the residual of a backward stable solve is some n·2⁻⁵²·‖A‖·‖x‖,
					// ‖x‖ ≤ ‖b‖ as A's smallest eigenvalue is 1, and ‖b‖ about √n.
					each(b, func(i, j int, v *float64) {
						sum := -*v
						for k := range n {
							sum += full[i*n+k] * x.Data[k*x.RowStride+j*x.ColStride]
						}
						if math.Abs(sum) > float64(n)*0x1p-52*float64(n)*(2+math.Sqrt(float64(n))) {
							t.Fatalf("residual of (%d, %d) is %g", i, j, sum)
						}
					})
					// The same bits for any team, next to other columns, and in place.
					for _, workers := range []int{1, 8} {
						var again Cholesky
						other := kernel.NewTeam(workers)
						must.Do(t, again.Factor(other, a))
						first := min(m, 1)
						y := layout(n, first)
						again.SolveTo(other, y, b.Sub(0, 0, n, first))
						each(y, func(i, j int, v *float64) {
							if *v != x.Data[i*x.RowStride+j*x.ColStride] {
								t.Fatalf("%d workers, alone: other bits at (%d, %d)", workers, i, j)
							}
						})
					}
					c.SolveTo(team, b, b)
					each(b, func(i, j int, v *float64) {
						if *v != x.Data[i*x.RowStride+j*x.ColStride] {
							t.Fatalf("in place: other bits at (%d, %d)", i, j)
						}
					})
				})
			}
		}
	}
}

func TestCholeskyNamesThePivot(t *testing.T) {
	team := kernel.NewTeam(2)
	for _, n := range orders {
		for _, at := range []int{0, n / 2, n - 1} {
			for _, bad := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
				if at < 0 || at >= n {
					continue
				}
				a := make([]float64, n*n)
				for i := range n {
					a[i*n+i] = 2
				}
				a[at*n+at] = bad
				var c Cholesky
				err := c.Factor(team, square(a, n))
				if !errors.Is(err, ErrNotPositiveDefinite) || !strings.Contains(err.Error(), fmt.Sprintf("pivot %d of %d ", at+1, n)) {
					t.Errorf("%g at pivot %d of %d: %v", bad, at+1, n, err)
				}
				if c.Order() != 0 {
					t.Errorf("a failed Factor leaves order %d", c.Order())
				}
			}
		}
	}
}

// Half a solve of I is L⁻¹, lower triangular: L⁻¹AL⁻ᵀ = I, to an error that grows with
// the condition, here below 10.
func TestCholeskyHalfSolve(t *testing.T) {
	for _, n := range []int{1, 2, leafOrder, leafOrder + 1, 2*leafOrder + 5} {
		team := kernel.NewTeam(2)
		r := rand.New(rand.NewPCG(uint64(n), 7))
		a, x := make([]float64, n*n), make([]float64, n*n)
		for i := range n {
			for j := range i {
				a[i*n+j] = r.NormFloat64() / float64(2*n)
				a[j*n+i] = a[i*n+j]
			}
			a[i*n+i], x[i*n+i] = 1+r.Float64(), 1
		}
		m := kernel.RowMajor(x, n, n, n)
		var c Cholesky
		must.Do(t, c.Factor(team, kernel.RowMajor(a, n, n, n)))
		c.HalfSolveTo(team, m, m)
		xa, eye := make([]float64, n*n), make([]float64, n*n)
		kernel.Gemm(team, 1, m, kernel.RowMajor(a, n, n, n), kernel.RowMajor(xa, n, n, n))
		kernel.Gemm(team, 1, kernel.RowMajor(xa, n, n, n), m.Trans(), kernel.RowMajor(eye, n, n, n))
		for i := range n {
			for j := range n {
				if j > i && x[i*n+j] != 0 {
					t.Fatalf("order %d: [%d,%d] of the inverse factor is %g", n, i, j, x[i*n+j])
				}
				if got, want := eye[i*n+j], identity(i, j); !(math.Abs(got-want) <= float64(10*n)*0x1p-52) {
					t.Fatalf("order %d: [%d,%d] = %g, want %g", n, i, j, got, want)
				}
			}
		}
	}
}

// The two halves of a solve make the whole, to the bit: SolveTo is nothing else.
func TestHalvesOfASolve(t *testing.T) {
	team := kernel.NewTeam(2)
	for _, n := range orders {
		rnd := rand.New(rand.NewPCG(uint64(n), 3))
		x := random(kernel.RowMajor(make([]float64, n*(n+2)), n, n+2, n+2), rnd)
		a := kernel.RowMajor(make([]float64, n*n), n, n, n)
		kernel.Syrk(team, 1, x, a)
		var c Cholesky
		must.Do(t, c.Factor(team, a))
		b := random(kernel.RowMajor(make([]float64, n*3), n, 3, 3), rnd)
		whole, halves := kernel.RowMajor(make([]float64, n*3), n, 3, 3), kernel.RowMajor(make([]float64, n*3), n, 3, 3)
		c.SolveTo(team, whole, b)
		c.HalfSolveTo(team, halves, b)
		c.BackSolveTo(team, halves, halves)
		if !slices.Equal(whole.Data, halves.Data) {
			t.Errorf("order %d: the halves give another solution", n)
		}
	}
}
