package judge

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// Weights reconstruct all columns of some data X from chosen columns S with the least squared error: X̂ = X_S·W, with
// W = (X_SᵀX_S)⁻¹X_SᵀX.
type Weights struct {
	w kernel.Matrix[float64] // k×d row-major
}

// NewWeights computes weights from sym, the d×d Gram matrix of the data, and the k chosen columns, in 2k²d flops. No
// chosen column may be a combination of the others. So pass the Order of the result of ExplainChoice without the
// columns in its Redundant.
func NewWeights(team *kernel.Team, sym []float64, d int, chosen []int) (*Weights, error) {
	k := len(chosen)
	w := kernel.NewMatrix[float64](nil, k, d)
	chosenGram, c := layOutWeights(nil, k)
	for r, i := range chosen {
		copy(w.Data[r*d:][:d], sym[i*d:][:d])
		for s, j := range chosen {
			chosenGram.Data[r*k+s] = sym[i*d+j]
		}
	}
	if err := c.Factor(team, chosenGram); err != nil {
		return nil, err
	}
	c.SolveTo(team, w, w)
	return &Weights{w}, nil
}

func layOutWeights(l *room.Layout, k int) (chosenGram kernel.Matrix[float64], c linalg.Cholesky) {
	c.LayOut(l, k)
	return kernel.NewMatrix[float64](l, k, k), c
}

func layOutUnexplained(l *room.Layout, d, k int) (chosenGram, spread kernel.Matrix[float64]) {
	return kernel.NewMatrix[float64](l, k, k), kernel.NewMatrix[float64](l, k, d)
}

// WeightsBytes returns an upper bound of the memory of Weights for k of d columns, including NewWeights and
// UnexplainedShare.
func WeightsBytes(d, k int) int64 {
	return room.Measure(func(l *room.Layout) {
		kernel.NewMatrix[float64](l, k, d)
		l.Phase(func() { layOutWeights(l, k) })
		layOutUnexplained(l, d, k)
	}) + kernel.TeamBytes(k, d)
}

// UnexplainedShare returns the share of other data X′ that remains when X′ is reconstructed with the weights:
//
//	tr(G′ − 2·WᵀG′_S + WᵀG′_SS·W) / tr(G′)
//
// sym is G′ = X′ᵀX′, d×d. chosen contains the index in G′ of every chosen column. The parameter `from` contains, for
// each column of G′, its index in the data X of the weights. The index -1 means that X lacks the column. An absent
// chosen column is replaced by 0, its mean in centred data, and a column without weights remains unexplained. On the
// data of the weights the share equals the error of [ExplainChoice], on other data it is at least that error. It costs
// 2k²d flops.
func (w *Weights) UnexplainedShare(team *kernel.Team, sym []float64, d int, chosen, from []int) float64 {
	k, columns := len(chosen), w.w.Cols
	chosenGram, spread := layOutUnexplained(nil, columns, k) // G′_SS, 0 for an absent column, and G′_SS·W
	for r, i := range chosen {
		for s, j := range chosen {
			if i >= 0 && j >= 0 {
				chosenGram.Data[r*k+s] = sym[i*d+j]
			}
		}
	}
	kernel.Gemm(team, 1, chosenGram, w.w, spread)
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
		left += max(rest, 0) // without rounding errors it is a sum of squares, so at least 0
	}
	if total == 0 {
		return 0
	}
	return left / total
}

// ExplainChoice computes how well the chosen features explain all d features, from the d×d Gram matrix of the data.
// The result has the same fields (Error, Explained and Nearest) as if greedy had chosen these features in this order.
func ExplainChoice(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*greedy.Result, error) {
	return greedy.Explain(ctx, g, chosen, threads)
}

// ExplainBytes returns an upper bound of the memory that ExplainChoice needs in addition to the matrix. If the matrix
// is given by a factor, rank is the number of the factor's rows, otherwise 0.
func ExplainBytes(d, k, rank int) int64 { return greedy.ExplainBytes(d, k, rank) }

// ChooseGreedily returns greedy's choice of k features from the d×d Gram matrix, including the features of keep, which
// come first. Other choices of k features are compared with this one. It needs as much time and memory as
// greedy.Select.
func ChooseGreedily(ctx context.Context, g *gram.Matrix, k int, keep []int, threads int) (*greedy.Result, error) {
	return greedy.Select(ctx, g, greedy.Options{K: k, Keep: keep, Threads: threads})
}
