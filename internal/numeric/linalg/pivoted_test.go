package linalg

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestPivotedRestoresTheMatrix: UᵀU of the first rank rows is the permuted matrix, the rank is the planted
// one, and the pivots fall.
func TestPivotedRestoresTheMatrix(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {5, 3}, {7, 7}, {40, 12}, {64, 64}, {65, 30}, {200, 90}} {
		n, rank := shape[0], shape[1]
		r := rand.New(rand.NewPCG(uint64(n), uint64(rank)))
		x := mat.NewDense(rank, n, nil)
		x.Apply(func(int, int, float64) float64 { return r.NormFloat64() }, x)
		var g mat.Dense
		g.Mul(x.T(), x)
		a := kernel.RowMajor(append([]float64{}, g.RawMatrix().Data...), n, n, n)
		// Rounding of n products, each at most the largest entry of the diagonal.
		tol := float64(n) * 0x1p-48 * maxDiagonal(a)
		pivots, got, err := FactorPivoted(a, tol)
		must.Do(t, err)
		if got != rank {
			t.Fatalf("%v: rank %d", shape, got)
		}
		for i := range n {
			for j := i; j < n; j++ {
				s := 0.0
				for k := range min(i+1, rank) {
					s += a.Data[k*n+i] * a.Data[k*n+j]
				}
				if want := g.At(pivots[i], pivots[j]); math.Abs(s-want) > tol {
					t.Fatalf("%v: entry %d, %d is %v, want %v", shape, i, j, s, want)
				}
			}
		}
		for k := 1; k < rank; k++ {
			if a.Data[k*n+k] > a.Data[(k-1)*n+k-1] {
				t.Errorf("%v: pivot %d rises", shape, k)
			}
		}
	}
}

// TestPivotedEdges: nothing, zeros, and no numbers.
func TestPivotedEdges(t *testing.T) {
	if p, rank, err := FactorPivoted(kernel.RowMajor[float64](nil, 0, 0, 0), 0); len(p) != 0 || rank != 0 || err != nil {
		t.Errorf("empty matrix: pivots %v, rank %d, error %v; want none, 0, nil", p, rank, err)
	}
	if p, rank, err := FactorPivoted(kernel.RowMajor(make([]float64, 9), 3, 3, 3), 0); len(p) != 3 || rank != 0 || err != nil {
		t.Errorf("3×3 of zeros: pivots %v, rank %d, error %v; want three, 0, nil", p, rank, err)
	}
	if _, _, err := FactorPivoted(kernel.RowMajor([]float64{1, 0, 0, math.NaN()}, 2, 2, 2), 0); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN on the diagonal: error %v, want ErrNotFinite", err)
	}
}

// TestInvertUpper: U times its inverse is the identity, around the lengths where the recursion splits, and
// the lower triangle stays.
func TestInvertUpper(t *testing.T) {
	for _, n := range []int{0, 1, 2, leafOrder - 1, leafOrder, leafOrder + 1, 2*leafOrder + 3, 65, 130} {
		r := rand.New(rand.NewPCG(uint64(n), 3))
		data := make([]float64, n*n)
		for i := range n {
			for j := range n {
				data[i*n+j] = r.NormFloat64() / math.Sqrt(float64(n))
			}
			data[i*n+i] = 1 + r.Float64()
		}
		var first []float64
		for _, threads := range []int{1, 8} {
			u := kernel.RowMajor(append([]float64{}, data...), n, n, n)
			InvertUpper(kernel.NewTeam(threads), u)
			for i := range n {
				for j := range n {
					s, want := 0.0, 0.0
					for k := i; k <= j; k++ {
						s += data[i*n+k] * u.Data[k*n+j]
					}
					if i == j {
						want = 1
					}
					if i > j && u.Data[i*n+j] != data[i*n+j] {
						t.Fatalf("n %d: below the diagonal at %d, %d", n, i, j)
					}
					if i <= j && math.Abs(s-want) > 1e-11 {
						t.Fatalf("n %d: entry %d, %d of the product is %v", n, i, j, s)
					}
				}
			}
			if first == nil {
				first = u.Data
			}
			for i, v := range first {
				if v != u.Data[i] {
					t.Fatalf("n %d: threads change bits", n)
				}
			}
		}
	}
}
