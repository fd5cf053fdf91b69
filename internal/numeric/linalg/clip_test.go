package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// TestClip: against all eigenpairs by gonum, for none, few and many negative eigenvalues, on both
// sides of the order from which the iteration takes over; 8 workers as 1, bit for bit.
func TestClip(t *testing.T) {
	for _, n := range []int{1, 2, 30, 150} {
		for _, negative := range []int{0, 1, 5, 9, n / 2, n} {
			if negative > n {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(n), uint64(negative)))
			sym := withNegative(r, n, negative)
			var e mat.EigenSym
			if !e.Factorize(sym, true) {
				t.Fatal("no eigenpairs")
			}
			values := e.Values(nil)
			var vectors, want mat.Dense
			e.VectorsTo(&vectors)
			share, trace := 0.0, 0.0
			positive := make([]float64, n)
			for i, v := range values {
				trace += v
				share += max(-v, 0)
				positive[i] = max(v, 0)
			}
			var half mat.Dense
			half.Mul(&vectors, mat.NewDiagDense(n, positive))
			want.Mul(&half, vectors.T())
			got := full(sym)
			c, err := ClipNegative(kernel.NewTeam(1), got)
			if err != nil {
				t.Fatalf("clipping: %v", err)
			}
			eight := full(sym)
			if _, err := ClipNegative(kernel.NewTeam(8), eight); err != nil || !slices.Equal(eight.Data, got.Data) {
				t.Errorf("n=%d, %d negative: 8 workers differ from 1 (%v)", n, negative, err)
			}
			if c.Count != negative || math.Abs(c.Share-share/trace) > 1e-10*math.Abs(share/trace)+1e-12 {
				t.Errorf("n=%d: clipped %+v, want %d of %v", n, c, negative, share/trace)
			}
			for i := range n {
				for j := range n {
					if math.Abs(got.Data[i*n+j]-want.At(i, j)) > 1e-10*float64(n) {
						t.Fatalf("n=%d, %d negative: entry %d, %d is %v, want %v", n, negative, i, j, got.Data[i*n+j], want.At(i, j))
					}
				}
			}
		}
	}
}

// withNegative has the given number of eigenvalues below 0, and others above.
func withNegative(r *rand.Rand, n, negative int) *mat.SymDense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			m.Set(i, j, r.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(m)
	var q, half, a mat.Dense
	qr.QTo(&q)
	values := make([]float64, n)
	for i := range values {
		values[i] = 0.1 + 3*r.Float64()
		if i < negative {
			values[i] *= -1
		}
	}
	half.Mul(&q, mat.NewDiagDense(n, values))
	a.Mul(&half, q.T())
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, a.At(i, j))
		}
	}
	return sym
}

func full(s *mat.SymDense) kernel.Matrix[float64] {
	n := s.SymmetricDim()
	out := kernel.RowMajor(make([]float64, n*n), n, n, n)
	for i := range n {
		for j := range n {
			out.Data[i*n+j] = s.At(i, j)
		}
	}
	return out
}

// TestClipLeavesLowRank: a matrix that is positive semidefinite up to rounding stays unchanged, bit for bit.
func TestClipLeavesLowRank(t *testing.T) {
	const n, rank = 120, 7
	r := rand.New(rand.NewPCG(1, 2))
	x := kernel.RowMajor(make([]float64, n*rank), n, rank, rank)
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	team := kernel.NewTeam(2)
	a := kernel.RowMajor(make([]float64, n*n), n, n, n)
	kernel.Syrk(team, 1, x, a)
	kernel.MirrorUpper(2, a)
	before := slices.Clone(a.Data)
	if c, err := ClipNegative(team, a); err != nil || c.Count > 0 || !slices.Equal(before, a.Data) {
		t.Errorf("clipped %+v, %v", c, err)
	}
	a.Data[5] = math.NaN()
	if _, err := ClipNegative(team, a); err == nil {
		t.Error("NaN was taken")
	}
}
