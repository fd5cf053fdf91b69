package socfs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// tau is added to the diagonal of S, which is singular if an anchor is not used by any row.
const tau = 1e-10

// encoding is the encoding E = B_gA of the rows, represented by its coefficients A. For the symbols see the package
// comment. L is the Cholesky factor of S + τI = LLᵀ.
type encoding struct {
	team       *kernel.Team
	s          kernel.Matrix[float64] // S + τI, m×m
	chol       linalg.Cholesky
	a, sa      kernel.Matrix[float64] // A and SA, m×c
	f          kernel.Matrix[float64] // F, m×c
	target     kernel.Matrix[float64] // CWB, m×c, i.e. B_gᵀ times the matrix XWB that E approximates
	t, scratch kernel.Matrix[float64] // T, m×c, and one of the matrices of which it is the sum
}

func (e *encoding) layOut(l *room.Layout, m, c int) {
	e.s = kernel.NewMatrix[float64](l, m, m)
	e.chol.LayOut(l, m)
	for _, to := range []*kernel.Matrix[float64]{&e.a, &e.sa, &e.f, &e.target, &e.t, &e.scratch} {
		*to = kernel.NewMatrix[float64](l, m, c)
	}
}

func (e *encoding) loadAnchorProducts(s []float64) error {
	copy(e.s.Data, s)
	for i := range e.s.Rows {
		e.s.Data[i*(e.s.Rows+1)] += tau
	}
	if err := e.chol.Factor(e.team, e.s); err != nil {
		return fmt.Errorf("socfs: products of the anchors: %w", err)
	}
	return nil
}

// maximizeTrace sets A to the matrix for which E has orthonormal columns and Tr(AᵀT) is largest. Then LᵀA is the polar
// factor of L⁻¹T. It overwrites T.
func (e *encoding) maximizeTrace() error {
	e.chol.HalfSolveTo(e.team, e.t, e.t)
	if err := replaceByPolarFactor(e.t); err != nil {
		return err
	}
	e.chol.BackSolveTo(e.team, e.a, e.t)
	linalg.MultiplyTo(e.team, e.sa, 1, e.s, e.a)
	return nil
}

func (e *encoding) clipNegativeEntries() {
	for i, v := range e.sa.Data {
		e.f.Data[i] = max(v, 0)
	}
}

// updateEncoding updates E for a fixed F, and then F. With Â = LᵀA, the terms of the objective that depend on A are
//
//	−2Tr(Aᵀ·CWB) + γ‖SA − F‖²,   ‖SA‖² = Tr(ÂᵀLᵀLÂ).
//
// LᵀL has the eigenvalues of S + τI, which are at most μ = 1 + τ. So Tr(Âᵀ(LᵀL − μI)Â) is concave and below its tangent
// at the previous Â, while Tr(ÂᵀÂ) is constant. With the tangent in its place, the problem is to maximize Tr(AᵀT) with
//
//	T = CWB + γS(F + μA − SA).
func (e *encoding) updateEncoding(gamma float64) error {
	const mu = 1 + tau
	for i, v := range e.f.Data {
		e.scratch.Data[i] = v + mu*e.a.Data[i] - e.sa.Data[i]
	}
	copy(e.t.Data, e.target.Data)
	kernel.Gemm(e.team, gamma, e.s, e.scratch, e.t)
	if err := e.maximizeTrace(); err != nil {
		return err
	}
	e.clipNegativeEntries()
	return nil
}

func (e *encoding) encodingObjective(gamma float64) float64 {
	return -2*kernel.Dot(e.a.Data, e.target.Data) + gamma*e.sumSquaredNegatives() // −2Tr(Aᵀ·CWB) + γ‖SA − F‖²
}

func (e *encoding) sumSquaredNegatives() (sum float64) { // ‖SA − F‖², as F is SA with its negative entries set to 0
	for i, v := range e.sa.Data {
		sum += (v - e.f.Data[i]) * (v - e.f.Data[i])
	}
	return sum
}

func (e *encoding) iterateEncoding(gamma float64, turns int, tol float64) error {
	last := e.encodingObjective(gamma)
	for range turns {
		if err := e.updateEncoding(gamma); err != nil {
			return err
		}
		now := e.encodingObjective(gamma)
		if last-now <= tol*math.Abs(now) {
			break
		}
		last = now
	}
	return nil
}

func replaceByPolarFactor(t kernel.Matrix[float64]) error {
	p := linalg.NewPolar(t.Cols)
	if err := p.Add(t); err != nil {
		return fmt.Errorf("socfs: %w", err)
	}
	if err := p.Factor(); err != nil {
		return fmt.Errorf("socfs: %w", err)
	}
	p.RowsTo(0, t, t)
	return nil
}
