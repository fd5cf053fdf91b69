package alike

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Regression explains columns of a Matrix by linear combinations of chosen columns.
type Regression struct {
	Basis     []int // the chosen columns, in order, except the Redundant ones
	Redundant []int // the chosen columns that are combinations of chosen columns before them

	m *Matrix
	l [][]float64 // rows of L, Cholesky's factor of R_SS = L·Lᵀ
}

// Explanation is the explanation of one column by the basis of a Regression.
type Explanation struct {
	Weights []float64 // weights of the basis columns, in standard deviations
	R2      float64   // explained share of the column's variance
	Exact   bool      // the residual is rounding error; then R2 is 1, and weights within rounding error are 0
}

// RegressOn factors the matrix of the correlations of the k chosen columns, which costs k³/3 flops.
func (m *Matrix) RegressOn(chosen []int) *Regression {
	r := &Regression{m: m}
	for _, j := range chosen {
		row := r.computeCoordinates(j)
		residual := 1 - kernel.Dot(row, row)
		if w := r.weightsFromCoordinates(row); residual <= m.RoundingBound(j, r.Basis, w) {
			r.Redundant = append(r.Redundant, j)
			continue
		}
		r.l, r.Basis = append(r.l, append(row, math.Sqrt(residual))), append(r.Basis, j)
	}
	return r
}

func (r *Regression) computeCoordinates(j int) []float64 {
	x := make([]float64, len(r.Basis)) // L⁻¹R_Sj
	for t, i := range r.Basis {
		x[t] = (r.m.correlation(i, j) - kernel.Dot(r.l[t][:t], x[:t])) / r.l[t][t]
	}
	return x
}

func (r *Regression) weightsFromCoordinates(x []float64) []float64 {
	w := append([]float64{}, x...) // will become L⁻ᵀx
	for t := len(w) - 1; t >= 0; t-- {
		w[t] /= r.l[t][t]
		kernel.Axpy(-w[t], r.l[t][:t], w[:t])
	}
	return w
}

// ExplainColumn explains column j, which must not be in the basis, by the k columns of the basis, in 2k² flops.
func (r *Regression) ExplainColumn(j int) Explanation {
	x := r.computeCoordinates(j)
	e := Explanation{Weights: r.weightsFromCoordinates(x)}
	residual := 1 - kernel.Dot(x, x)
	bound := r.m.RoundingBound(j, r.Basis, e.Weights)
	e.R2, e.Exact = min(max(1-residual, 0), 1), residual <= bound
	if e.Exact {
		e.R2 = 1
		for k, w := range e.Weights {
			if w*w <= bound {
				e.Weights[k] = 0
			}
		}
	}
	return e
}
