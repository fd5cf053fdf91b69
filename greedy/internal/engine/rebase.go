package engine

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
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

func (b *residualRebase) addBasisVector(m *Gram, feature int) {
	if b == nil {
		return
	}
	q := make([]float64, m.Matrix.Rank)
	copy(q, m.Matrix.Feature(q, feature))
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
func (b *residualRebase) rebaseSmallResidual(m *Gram) error {
	if b == nil || m.RemainingError() > rebaseShare*b.remainingAtRebase || len(b.basis) != len(m.Omegas) {
		return nil
	}
	b.remainingAtRebase = m.RemainingError()
	r, turns := m.Matrix.Rank, len(b.basis)
	k := kernel.RowMajor(make([]float64, r*r), r, r, r)
	q := kernel.RowMajor(make([]float64, turns*r), turns, r, r)
	for t, v := range b.basis {
		copy(q.Data[t*r:], v)
	}
	rows, coef := make([]float64, target.ResidualColumns*r), make([]float64, target.ResidualColumns*turns)
	for from := 0; from < m.D; from += target.ResidualColumns {
		n := min(target.ResidualColumns, m.D-from)
		e := kernel.RowMajor(rows, n, r, r)
		m.Matrix.FeaturesTo(m.Workers, rows, from, n)
		for range 2 {
			c := kernel.RowMajor(coef, n, turns, turns)
			clear(coef)
			kernel.Gemm(m.Team, 1, e, q.Trans(), c)
			kernel.Gemm(m.Team, -1, c, q, e)
		}
		for i := range n {
			if m.Chosen[from+i] {
				clear(rows[i*r : (i+1)*r])
			}
		}
		kernel.Syrk(m.Team, 1, e.Trans(), k)
	}
	kernel.MirrorUpper(m.Workers, k)
	if err := m.Target.SetRoot(m.Team, k); err != nil {
		return err
	}
	root := m.Target.Root
	m.fitScratchToTarget()
	m.UpsilonSquares = 0
	room := make([]float64, r)
	for t, v := range b.basis {
		y := make([]float64, root.Rows)
		m.Target.OrderByPivotsTo(room, 1, v)
		kernel.Gemv(m.Workers, root.Rows, r, root.Data, r, room, y)
		floats.Scale(m.HUnit, y)
		// γ = H₍:,i₎ − Σ υ_r ω_r[i] holds with υ_r = Lq_r, because r_i = e_i + Σ q_r ω_r[i]. ω is in units of √GUnit.
		floats.Scale(1/math.Sqrt(m.GUnit), y)
		m.Upsilons[t] = y
		m.UpsilonSquares += kernel.Dot(y, y)
	}
	return nil
}
