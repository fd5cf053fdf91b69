package rufs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// panelSize is the number of rows or features that are multiplied by their weights at a time.
const panelSize = 256

// updateProjection lowers α‖XW − G‖₂,₁ + β‖W‖₂,₁ by changing W, see the package comment. It weighs row i by u_i =
// 1/(2‖x_iW − g_i‖) and feature j by v_j = 1/(2‖w_j‖), with smoothed norms of the previous W, and solves the least
// squares problem
//
//	(αXᵀUX + βV)W = αXᵀUG,
//
// which has order d. If there are fewer rows than features, it solves the equivalent problem of order n,
//
//	W = V⁻¹XᵀY/β,   (XV⁻¹Xᵀ/β + U⁻¹/α)Y = G.
func (p *problem) updateProjection(u, v []float64) error {
	if p.alpha == 0 {
		clear(p.w.Data)
		return nil
	}
	clear(p.leastSquares.Data)
	if p.d <= p.n {
		return p.solveByFeatures(p.leastSquares, u, v)
	}
	return p.solveByRows(p.leastSquares, u, v)
}

func (p *problem) solveByFeatures(a kernel.Matrix[float64], u, v []float64) error {
	n, d, c := p.n, p.d, p.c
	clear(p.w.Data)
	for first := 0; first < n; first += panelSize {
		h := min(panelSize, n-first)
		kernel.Each(p.workers, h, func(i int) {
			to, root := p.scaled[i*d:][:d], math.Sqrt(p.alpha*u[first+i])
			for j, x := range p.x.Data[(first+i)*d:][:d] {
				to[j] = root * x
			}
		})
		rows := kernel.RowMajor(p.scaled, h, d, d)
		kernel.Syrk(p.team, 1, rows.Trans(), a)
		g := kernel.RowMajor(p.right.Data, h, c, c)
		for i := range h {
			root := math.Sqrt(p.alpha * u[first+i])
			for k, y := range p.g.Data[(first+i)*c:][:c] {
				g.Data[i*c+k] = root * y
			}
		}
		kernel.Gemm(p.team, 1, rows.Trans(), g, p.w)
	}
	for j := range d {
		a.Data[j*d+j] += p.beta * v[j]
	}
	if err := p.chol.Factor(p.team, a); err != nil {
		return fmt.Errorf("rufs: regression with beta = %v: %w", p.beta, err)
	}
	p.chol.SolveTo(p.team, p.w, p.w)
	return nil
}

func (p *problem) solveByRows(a kernel.Matrix[float64], u, v []float64) error {
	n, d, c := p.n, p.d, p.c
	for first := 0; first < d; first += panelSize {
		wide := min(panelSize, d-first)
		kernel.Each(p.workers, n, func(i int) {
			for j, x := range p.x.Data[i*d+first:][:wide] {
				p.scaled[i*wide+j] = x / math.Sqrt(p.beta*v[first+j])
			}
		})
		kernel.Syrk(p.team, 1, kernel.RowMajor(p.scaled, n, wide, wide), a)
	}
	for i := range n {
		a.Data[i*n+i] += 1 / (p.alpha * u[i])
	}
	if err := p.chol.Factor(p.team, a); err != nil {
		return fmt.Errorf("rufs: regression with beta = %v: %w", p.beta, err)
	}
	p.chol.SolveTo(p.team, p.right, p.g)
	linalg.MultiplyTo(p.team, p.w, 1, p.x.Trans(), p.right)
	for j := range d {
		for k := range c {
			p.w.Data[j*c+k] /= p.beta * v[j]
		}
	}
	return nil
}

func (p *problem) computeNormWeights() (u, v []float64) {
	c := p.c
	u, v = p.u, p.v
	linalg.MultiplyTo(p.team, p.xw, 1, p.x, p.w)
	for i := range u {
		var miss float64
		for k, y := range p.g.Data[i*c:][:c] {
			miss += (y - p.xw.Data[i*c+k]) * (y - p.xw.Data[i*c+k])
		}
		u[i] = 0.5 / math.Sqrt(miss+p.epsilonG)
	}
	for j, norm := range linalg.RowNorms(p.w.Data, p.c) {
		v[j] = 0.5 / math.Sqrt(norm*norm+p.epsilonW)
	}
	return u, v
}
