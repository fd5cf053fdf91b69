package greedy

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// residualRebase keeps f of the criterion exact if H = G is given by a factor R and little of the data is left
// unexplained. Let Q be an orthonormal basis of the chosen columns of R, and E = R − QQᵀR. Then f = ‖Eᵀe‖² = eᵀEEᵀe for
// each column e of E. If f is computed as eᵀKe with K = RRᵀ, the contribution of the chosen directions cancels, which
// may cost all digits if some columns are far larger than other columns. So K is replaced by EEᵀ, in r²d flops for r
// rows of R, whenever Σ g = ‖E‖² has fallen to a ten thousandth of its value at the last computation of K.
//
// A nil *residualRebase does nothing.
type residualRebase struct {
	basis             [][]float64 // orthonormal vectors q_r, one for each choice, one number for each row of R
	remainingAtRebase float64     // Σ g when K was computed
	excluded          []bool      // features of earlier layers
}

// rebaseShare is the share of remainingAtRebase at which K is computed again. A smaller one would lose digits.
const rebaseShare = 1e-4

func (b *residualRebase) addBasisVector(m *gramEngine, p int) {
	if b == nil {
		return
	}
	q := make([]float64, m.gram.Rank)
	copy(q, m.gram.Feature(q, p))
	for range 2 {
		for _, v := range b.basis {
			kernel.Axpy(-kernel.Dot(v, q), v, q)
		}
	}
	if norm := floats.Norm(q, 2); norm > 0 {
		floats.Scale(1/norm, q)
	}
	b.basis = append(b.basis, q)
}

// rebaseSmallResidual replaces K by EEᵀ, see residualRebase, if Σ g is at most rebaseShare of remainingAtRebase.
func (b *residualRebase) rebaseSmallResidual(m *gramEngine) error {
	if b == nil || m.remainingError() > rebaseShare*b.remainingAtRebase || len(b.basis) != len(m.omegas) {
		return nil
	}
	b.remainingAtRebase = m.remainingError()
	r, turns := m.gram.Rank, len(b.basis)
	k := kernel.RowMajor(make([]float64, r*r), r, r, r)
	q := kernel.RowMajor(make([]float64, turns*r), turns, r, r)
	for t, v := range b.basis {
		copy(q.Data[t*r:], v)
	}
	rows, coef := make([]float64, residualColumns*r), make([]float64, residualColumns*turns)
	for from := 0; from < m.d; from += residualColumns {
		n := min(residualColumns, m.d-from)
		e := kernel.RowMajor(rows, n, r, r)
		m.gram.FeaturesTo(m.workers, rows, from, n)
		for range 2 {
			c := kernel.RowMajor(coef, n, turns, turns)
			clear(coef)
			kernel.Gemm(m.team, 1, e, q.Trans(), c)
			kernel.Gemm(m.team, -1, c, q, e)
		}
		for i := range n {
			if m.chosen[from+i] {
				clear(rows[i*r : (i+1)*r])
			}
		}
		kernel.Syrk(m.team, 1, e.Trans(), k)
	}
	kernel.MirrorUpper(m.workers, k)
	if err := m.target.setRoot(m.team, k); err != nil {
		return err
	}
	root := m.target.root
	m.scaledUpsilon, m.targetColumns, m.upsilonPanel = make([]float64, root.Rows), make([]float64, min(residualColumns, m.d)*root.Rows), nil
	m.upsilonSquares = 0
	room := make([]float64, r)
	for t, v := range b.basis {
		y := make([]float64, root.Rows)
		m.target.orderByPivotsTo(room, 1, v)
		kernel.Gemv(m.workers, root.Rows, r, root.Data, r, room, y)
		floats.Scale(m.hUnit, y)
		// γ = H₍:,i₎ − Σ υ_r ω_r[i] holds with υ_r = Lq_r, because r_i = e_i + Σ q_r ω_r[i]. ω is in units of √gUnit.
		floats.Scale(1/math.Sqrt(m.gUnit), y)
		m.upsilons[t] = y
		m.upsilonSquares += kernel.Dot(y, y)
	}
	return nil
}
