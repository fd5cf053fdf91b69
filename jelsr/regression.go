package jelsr

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

// regression finds, for a target Y of n rows and c columns, the W, d×c, that minimizes
//
//	‖XW − Y‖² + weight·Tr(WᵀUW),   W = (G + weight·U)⁻¹XᵀY,
//
// where U = diag(1/(2‖wᵢ‖)) makes the second term the row norms' next best quadratic: both
// papers repeat this, starting from U = I. A row of W that vanishes has U = ∞ and stays 0.
// The papers add a small number to the norms to compute with that; we divide it out,
//
//	W = R·P⁻¹·R·XᵀY,   P = R·G·R + weight·I,   R = U^(−1/2) = diag(√(2‖wᵢ‖)),
//
// which is finite for norms of 0, and better conditioned.
type regression struct {
	d      int
	team   *kernel.Team
	gram   []float64 // G, d×d
	name   string    // of the option that weight is
	weight float64
	root   []float64              // R's diagonal
	p      kernel.Matrix[float64] // P, then scratch of the owner, d×d
	norm   float64                // Tr P: more than its largest eigenvalue
	chol   linalg.Cholesky
}

func newRegression(team *kernel.Team, gram []float64, d int, opt Options) *regression {
	name, weight := opt.sparsity()
	return &regression{
		d: d, team: team, gram: gram, name: name, weight: weight,
		root: make([]float64, d), p: kernel.RowMajor(make([]float64, d*d), d, d, d),
	}
}

// regressionBytes is what a regression holds, with the W of two iterations.
func regressionBytes(d, c int) int64 {
	return 8*int64(d)*int64(d) + linalg.CholeskyBytes(d) + 8*int64(d)*int64(4*c+2)
}

// reweigh takes U from the row norms of W; nil stands for U = I. It costs d³/3 flops.
func (r *regression) reweigh(norm []float64) error {
	for i := range r.root {
		if r.root[i] = 1; norm != nil {
			r.root[i] = math.Sqrt(2 * norm[i])
		}
	}
	r.norm = 0
	for i := range r.d {
		row, g := r.p.Data[i*r.d:][:r.d], r.gram[i*r.d:][:r.d]
		for j, v := range g {
			row[j] = r.root[i] * v * r.root[j]
		}
		row[i] += r.weight
		r.norm += row[i]
	}
	if err := r.chol.Factor(r.team, r.p); err != nil {
		return stream.Errorf("{"+r.name+"} = %v is lost to rounding beside the features' sums of squares: want %.0e or more: %w", r.weight, 1e-12*r.norm, err)
	}
	return nil
}

// solve returns W for the target with XᵀY = xy, d×c, row-major, and Tr(WᵀUW). A row without
// weight adds nothing to that.
func (r *regression) solve(xy []float64, c int) (w []float64, penalty float64) {
	w = make([]float64, r.d*c)
	scale := func(from []float64) {
		for i, root := range r.root {
			for j, v := range from[i*c:][:c] {
				w[i*c+j] = root * v
			}
		}
	}
	scale(xy)
	m := kernel.RowMajor(w, r.d, c, c)
	r.chol.SolveTo(r.team, m, m)
	penalty = kernel.Dot(w, w) // W = R·(P⁻¹RXᵀY), and U = R⁻²
	scale(w)
	return w, penalty
}

// noise bounds what rounding in solve adds to ‖XW − Y‖², computed from XᵀY and the penalty:
// the residual of the solution is some d·2⁻⁵³ of ‖P‖ times its length.
func (r *regression) noise(penalty float64) float64 {
	return float64(r.d) * 0x1p-52 * r.norm * penalty
}

// rowNorms returns ‖wᵢ‖ of row-major W, d×c, and their sum.
func rowNorms(w []float64, c int) (norm []float64, sum float64) {
	norm = make([]float64, len(w)/c)
	for i := range norm {
		row := w[i*c:][:c]
		norm[i] = math.Sqrt(kernel.Dot(row, row))
		sum += norm[i]
	}
	return norm, sum
}
