package judge

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// noise is an n×d matrix of normal numbers, column-major.
func noise(n, d int, seed uint64) kernel.Matrix[float64] {
	random := rand.New(rand.NewPCG(seed, 1))
	data := make([]float64, n*d)
	for i := range data {
		data[i] = random.NormFloat64()
	}
	return kernel.ColMajor(data, n, d, max(n, 1))
}

// factors is n×d of rank r at most, with a mean, columns of very different sizes, one
// constant, one zero and one duplicate where d allows.
func factors(n, d, r int, seed uint64) kernel.Matrix[float64] {
	f, w := dense(noise(n, r, seed)), dense(noise(r, d, seed+1))
	var x mat.Dense
	x.Mul(f, w)
	out := noise(n, d, seed)
	for j := range d {
		scale := []float64{1, 1e-3, 1e3}[j%3]
		for i := range n {
			out.Data[j*n+i] = scale * (x.At(i, j) + 0.5)
		}
	}
	if d > 6 {
		for i := range n {
			out.Data[2*n+i], out.Data[3*n+i] = 7, 0
		}
		copy(out.Data[5*n:6*n], out.Data[:n])
	}
	return out
}

func dense(x kernel.Matrix[float64]) *mat.Dense {
	m := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		for j := range x.Cols {
			m.Set(i, j, x.Data[i*x.RowStride+j*x.ColStride])
		}
	}
	return m
}

func clone(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	x.Data = append([]float64(nil), x.Data...)
	return x
}

// columns copies the named columns of x, in that order.
func columns(x kernel.Matrix[float64], chosen []int) kernel.Matrix[float64] {
	data := make([]float64, 0, x.Rows*len(chosen))
	for _, j := range chosen {
		data = append(data, x.Data[j*x.ColStride:][:x.Rows]...)
	}
	return kernel.ColMajor(data, x.Rows, len(chosen), x.Rows)
}

func equal(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		same := got[i] != got[i] && want[i] != want[i] // NaN
		if !same && !(got[i]-want[i] <= tolerance && want[i]-got[i] <= tolerance) {
			t.Errorf("%s, at %d: %v, want %v within %v", what, i, got[i], want[i], tolerance)
		}
	}
}
