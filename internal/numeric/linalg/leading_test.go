package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// decaying is a positive semi-definite matrix whose eigenvalues fall as the given powers, and
// those eigenvalues.
func decaying(n, rank int, power float64) (a []float64, values []float64) {
	r := rand.New(rand.NewPCG(uint64(n), 8))
	x := make([]float64, rank*n)
	for i := range rank {
		for j := range n {
			x[i*n+j] = r.NormFloat64() * math.Pow(float64(i+1), -power/2)
		}
	}
	a = make([]float64, n*n)
	m := kernel.RowMajor(a, n, n, n)
	kernel.Syrk(kernel.NewTeam(1), 1, kernel.RowMajor(x, rank, n, n).Trans(), m)
	kernel.MirrorUpper(1, m)
	full := slices.Clone(a)
	values = make([]float64, n)
	if !symmetricEigen(2, full, n, values) {
		panic("no eigenvalues")
	}
	slices.Reverse(values)
	return a, values
}

func tailsOf(a []float64, n, k, threads int) []float64 {
	team := kernel.NewTeam(threads)
	m := kernel.RowMajor(a, n, n, n)
	trace := 0.0
	for i := range n {
		trace += a[i*n+i]
	}
	return TailBounds(team, n, k, trace, m.Sub(0, 0, min(k, n), n), func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, m, dst) })
}

// The tails equal the eigenvalues' tails, and are never above them, for any spectrum.
func TestTails(t *testing.T) {
	for _, c := range []struct {
		n, rank, k int
		power      float64
	}{{1, 1, 1, 1}, {20, 20, 20, 0.5}, {120, 120, 5, 1}, {120, 30, 40, 1}, {300, 300, 12, 0}, {300, 300, 30, 2}, {200, 40, 8, 3}} {
		a, values := decaying(c.n, c.rank, c.power)
		got := tailsOf(a, c.n, c.k, 2)
		if got == nil && c.power == 0 {
			continue // a flat spectrum may take more room than there is
		}
		if len(got) != c.k {
			t.Fatalf("%+v: %d tails", c, len(got))
		}
		trace, sum := 0.0, 0.0
		for _, v := range values {
			trace += v
		}
		for i, tail := range got {
			sum += values[i]
			want := max(trace-sum, 0)
			// Up to 0.1 % of the tail is given away, twice for the rise still to come.
			if tail > want+1e-11*trace || tail < want*(1-2*leadingTol)-1e-11*trace {
				t.Errorf("%+v: tail %d is %v, want %v", c, i+1, tail, want)
			}
		}
		if one := tailsOf(a, c.n, c.k, 1); !slices.Equal(one, got) {
			t.Errorf("%+v: workers change bits", c)
		}
	}
}
