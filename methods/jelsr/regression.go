package jelsr

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// regression finds, for a target Y of n rows and c columns, the d×c matrix W that minimizes
//
//	‖XW − Y‖² + weight·Tr(WᵀUW),   W = (G + weight·U)⁻¹XᵀY,
//
// where U = diag(1/(2‖wᵢ‖)) makes the second term a quadratic upper bound of the row norms. Both papers repeat this
// step, starting from U = I. If a row of W becomes 0, its entry of U is ∞ and the row remains 0. To avoid this, the
// papers add a small number to the norms. [ridge.Solver] does not need it, because it uses R = U^(−1/2) =
// diag(√(2‖wᵢ‖)).
type regression struct {
	*ridge.Solver
	name   string // name of the option for weight
	weight float64
	scale  []float64 // diagonal of R
}

func newRegression(team *kernel.Team, g *gram.Matrix, c int, opt Options) *regression {
	name, weight := opt.sparsityWeight()
	return &regression{Solver: ridge.New(team, g, c), name: name, weight: weight, scale: room.Slice[float64](nil, g.D)}
}

func (r *regression) setWeightsFromNorms(rowNorms []float64) error {
	for i := range r.scale {
		if r.scale[i] = 1; rowNorms != nil {
			r.scale[i] = math.Sqrt(2 * rowNorms[i])
		}
	}
	if err := r.SetWeights(r.scale, r.weight); err != nil {
		return stream.Errorf("{"+r.name+"} = %v is lost to rounding next to the features' sums of squares: want %.0e or more: %w", r.weight, 1e-12*r.Trace, err)
	}
	return nil
}

// roundingBound bounds the rounding error of ‖XW − Y‖² when Solve computes it from XᵀY and the penalty. The solved
// equations have the matrix P = RGR + weight·I, and their residual is about d·2⁻⁵³·‖P‖ times the norm of the solution.
func (r *regression) roundingBound(penalty float64) float64 {
	return float64(len(r.scale)) * 0x1p-52 * r.Trace * penalty
}

func rowNorms(w []float64, columns int) (norm []float64, sum float64) {
	norm = linalg.RowNorms(w, columns)
	for _, v := range norm {
		sum += v
	}
	return norm, sum
}
