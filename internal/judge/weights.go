package judge

import (
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

// Weights are those by which chosen columns reconstruct all columns of some data with the
// least squared error: X̂ = X_S·W, W = (X_SᵀX_S)⁻¹X_SᵀX.
type Weights struct {
	w kernel.Matrix[float64] // k×d row-major
}

// NewWeights computes them from the d×d Gram matrix of the data and the k chosen columns, of
// which none may be a combination of the others (the rest of Explain's order without its
// Redundant), in 2k²d flops.
func NewWeights(team *kernel.Team, sym []float64, d int, chosen []int) (*Weights, error) {
	k := len(chosen)
	own, w := make([]float64, k*k), make([]float64, k*d)
	for r, i := range chosen {
		copy(w[r*d:][:d], sym[i*d:][:d])
		for s, j := range chosen {
			own[r*k+s] = sym[i*d+j]
		}
	}
	var c linalg.Cholesky
	if err := c.Factor(team, kernel.RowMajor(own, k, k, k)); err != nil {
		return nil, err
	}
	out := kernel.RowMajor(w, k, d, d)
	c.SolveTo(team, out, out)
	return &Weights{out}, nil
}

// WeightsBytes is what Weights for k of d columns hold, and making or applying them takes.
func WeightsBytes(d, k int) int64 {
	return 8*(3*int64(k)*int64(d)+2*int64(k)*int64(k)) + kernel.TeamBytes(k, d)
}

// Left is what the weights leave unexplained of other data, as a share of its sum of squares:
//
//	tr(G′ − 2·WᵀG′_S + WᵀG′_SS·W) / tr(G′)
//
// sym is G′, the d×d Gram matrix of the other data; chosen has the place in it of every
// chosen column, and from for each of its columns the place of that column in the data of the
// weights. -1 stands for a column that is not there: an absent chosen column is taken for 0,
// as centred data have it on average, and a column without weights stays unexplained. On the
// data of the weights it is the error of [Explain], elsewhere at least that. Time 2k²d.
func (w *Weights) Left(team *kernel.Team, sym []float64, d int, chosen, from []int) float64 {
	k, columns := len(chosen), w.w.Cols
	own := make([]float64, k*k) // G′_SS, 0 where a column is absent
	for r, i := range chosen {
		for s, j := range chosen {
			if i >= 0 && j >= 0 {
				own[r*k+s] = sym[i*d+j]
			}
		}
	}
	spread := kernel.RowMajor(make([]float64, k*columns), k, columns, columns)
	kernel.Gemm(team, 1, kernel.RowMajor(own, k, k, k), w.w, spread)
	var left, total float64
	for j, at := range from {
		rest := sym[j*d+j]
		total += rest
		if at >= 0 {
			for r, i := range chosen {
				if i >= 0 {
					weight := w.w.Data[r*columns+at]
					rest += weight * (spread.Data[r*columns+at] - 2*sym[i*d+j])
				}
			}
		}
		left += max(rest, 0) // it is a sum of squares
	}
	if total == 0 {
		return 0
	}
	return left / total
}
