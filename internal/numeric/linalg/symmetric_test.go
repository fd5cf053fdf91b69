package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// symmetricOf are matrices of order n that are hard in one way or another.
func symmetricOf(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	cases := map[string]func(i, j int) float64{
		"noise":     func(int, int) float64 { return r.NormFloat64() },
		"zero":      func(int, int) float64 { return 0 },
		"constant":  func(int, int) float64 { return 1 },
		"diagonal":  func(i, j int) float64 { return map[bool]float64{true: float64(i%3) - 1}[i == j] },
		"graded":    func(i, j int) float64 { return math.Exp2(-float64(i+j)) * r.NormFloat64() },
		"gradedUp":  func(i, j int) float64 { return math.Exp2(-float64(2*n-i-j)) * r.NormFloat64() },
		"clustered": func(i, j int) float64 { return 1e-9*r.NormFloat64() + map[bool]float64{true: float64(i % 2)}[i == j] },
		"blocks":    func(i, j int) float64 { return map[bool]float64{true: r.NormFloat64()}[i/5 == j/5] },
		"second":    func(i, j int) float64 { return map[int]float64{0: 2, 1: -1}[j-i] }, // second differences
	}
	out := make(map[string][]float64)
	for name, f := range cases {
		a := make([]float64, n*n)
		for i := range n {
			for j := i; j < n; j++ {
				a[i*n+j] = f(i, j)
				a[j*n+i] = a[i*n+j]
			}
		}
		out[name] = a
	}
	return out
}

// The vectors diagonalize the matrix and are orthonormal, to rounding; the values are LAPACK's; the bits do
// not depend on workers.
func TestSymmetricEigen(t *testing.T) {
	for _, n := range []int{1, 2, 3, 31, 32, 33, 150, 333} {
		for name, a := range symmetricOf(n) {
			t.Run(fmt.Sprintf("%s%d", name, n), func(t *testing.T) {
				v, values := slices.Clone(a), make([]float64, n)
				if !symmetricEigen(3, v, n, values) || !slices.IsSorted(values) {
					t.Fatalf("no eigenvalues, or unsorted: %v", values)
				}
				alone, again := slices.Clone(a), make([]float64, n)
				if !symmetricEigen(1, alone, n, again) || !slices.Equal(alone, v) || !slices.Equal(again, values) {
					t.Error("one worker gives other bits")
				}
				var ref mat.EigenSym
				if !ref.Factorize(mat.NewSymDense(n, slices.Clone(a)), false) {
					t.Fatal("LAPACK finds none")
				}
				norm := mat.Norm(mat.NewDense(n, n, a), 2)
				tolerance := float64(n+10) * 0x1p-52 // LAPACK's own tests allow 30·n
				if d := maxDifference(values, ref.Values(nil)); d > tolerance*norm {
					t.Errorf("values differ by %v of %v", d, norm)
				}
				x := mat.NewDense(n, n, v)
				var left, gram mat.Dense
				left.Mul(mat.NewDense(n, n, a), x)
				for i := range n {
					for j := range n {
						left.Set(i, j, left.At(i, j)-x.At(i, j)*values[j])
					}
				}
				if r := mat.Max(&left) - mat.Min(&left); r > tolerance*norm {
					t.Errorf("residual %v of %v", r, norm)
				}
				gram.Mul(x.T(), x)
				for i := range n {
					gram.Set(i, i, gram.At(i, i)-1)
				}
				if r := mat.Max(&gram) - mat.Min(&gram); r > tolerance {
					t.Errorf("orthonormal up to %v", r)
				}
			})
		}
	}
}

func maxDifference(a, b []float64) (most float64) {
	for i, v := range a {
		most = max(most, math.Abs(v-b[i]))
	}
	return most
}

// A NaN ends the iterations.
func TestSymmetricEigenOfNaN(t *testing.T) {
	a := symmetricOf(40)["noise"]
	a[41] = math.NaN()
	if symmetricEigen(1, a, 40, make([]float64, 40)) {
		t.Error("a matrix with a NaN has eigenvalues")
	}
}

// BenchmarkSymmetricEigen compares with gonum's DSYEV.
func BenchmarkSymmetricEigen(b *testing.B) {
	for _, n := range []int{124, 372, 1000, 2000} {
		a := symmetricOf(n)["noise"]
		values := make([]float64, n)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("ours/n=%d/threads=%d", n, threads), func(b *testing.B) {
				v := make([]float64, n*n)
				using(b, threads, func() {
					for b.Loop() {
						copy(v, a)
						symmetricEigen(threads, v, n, values)
					}
				})
			})
		}
		b.Run(fmt.Sprintf("gonum/n=%d", n), func(b *testing.B) {
			var e mat.EigenSym
			for b.Loop() {
				e.Factorize(mat.NewSymDense(n, slices.Clone(a)), true)
			}
		})
	}
}
