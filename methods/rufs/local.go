package rufs

import (
	"cmp"
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// predictor is the n×n matrix A, which predicts the clusters of each row from other rows. Row i of A has k entries
// other than 0, the weights of the k rows nearest to row i.
type predictor struct {
	n, k   int
	index  []int32   // n×k
	weight []float64 // n×k
	// columnEntries[columnStart[j]:columnStart[j+1]] has the numbers of the entries in column j, ascending. Entry e of
	// row i has the number i·k + e.
	columnStart   []int
	columnEntries []int32
}

// newPredictor computes the weights by a regression on the k nearest rows of each row, which near lists. Let x be a
// neighbour of row x_i, and g the vector of a cluster's values for the k neighbours. The value for x is modelled as b +
// wᵀ(x − x_i). b and w minimize the squared errors over the neighbours plus the penalty ρ‖w‖². Then the prediction for
// x_i itself is b = 1ᵀQg/1ᵀQ1 with Q = (K + ρI)⁻¹. K is the k×k matrix of the inner products of the differences x −
// x_i, and ρ is the mean square of these differences. A row costs k²/2 inner products.
func newPredictor(workers int, x kernel.Matrix[float64], near []rows.Neighbour, k int) (*predictor, error) {
	n, d := x.Rows, x.Cols
	l := layOutPredictor(nil, n, k)
	for e, o := range near {
		l.index[e] = o.Index
		l.columnStart[o.Index+1]++
	}
	for j := range n {
		l.columnStart[j+1] += l.columnStart[j]
	}
	next := append([]int(nil), l.columnStart...)
	for e, o := range near {
		l.columnEntries[next[o.Index]] = int32(e)
		next[o.Index]++
	}
	errs := make([]error, (n+rows.RunRows-1)/rows.RunRows)
	rows.EachRun(workers, n, func(run, from, to int) {
		team := kernel.NewTeam(1)
		diff, a, chol := layOutRegression(nil, k, d)
		for i := from; i < to && errs[run] == nil; i++ {
			own, weights := x.Data[i*d:][:d], l.weight[i*k:][:k]
			for e, r := range l.index[i*k:][:k] {
				to := diff[e*d:][:d]
				copy(to, x.Data[int(r)*d:][:d])
				kernel.Axpy(-1, own, to)
			}
			mean := 0.0
			for p := range k {
				for q := p; q < k; q++ {
					a.Data[p*k+q] = kernel.Dot(diff[p*d:][:d], diff[q*d:][:d])
				}
				mean += a.Data[p*k+p] / float64(k)
			}
			if mean == 0 { // the prediction is then the mean of the equal rows
				mean = 1
			}
			for p := range k {
				a.Data[p*k+p] += mean
				weights[p] = 1
			}
			if err := chol.Factor(team, a); err != nil {
				errs[run] = fmt.Errorf("rufs: regression on the neighbours of row %d: %w", i+1, err)
				break
			}
			w := kernel.ColMajor(weights, k, 1, k)
			chol.SolveTo(team, w, w)
			sum := 0.0
			for _, v := range weights {
				sum += v
			}
			for e := range weights {
				weights[e] /= sum
			}
		}
	})
	return l, cmp.Or(errs...)
}

func layOutPredictor(l *room.Layout, n, k int) *predictor {
	return &predictor{n: n, k: k, index: room.Slice[int32](l, n*k), weight: room.Slice[float64](l, n*k),
		columnStart: room.Slice[int](l, n+1), columnEntries: room.Slice[int32](l, n*k)}
}

func layOutRegression(l *room.Layout, k, d int) (diff []float64, a kernel.Matrix[float64], chol linalg.Cholesky) {
	chol.LayOut(l, k)
	return room.Slice[float64](l, k*d), kernel.NewMatrix[float64](l, k, k), chol
}

// subtractPredictions writes g − Ag to dst, for an n×c matrix g.
func (l *predictor) subtractPredictions(workers int, dst, g []float64, c int) {
	rows.EachRun(workers, l.n, func(_, from, to int) {
		for i := from; i < to; i++ {
			row := dst[i*c:][:c]
			copy(row, g[i*c:][:c])
			for e := i * l.k; e < (i+1)*l.k; e++ {
				kernel.Axpy(-l.weight[e], g[int(l.index[e])*c:][:c], row)
			}
		}
	})
}

// addTransposed adds f·(r − Aᵀr) to dst, for an n×c matrix r. If r is g − Ag, this adds f·Lg with L = (I − A)ᵀ(I − A).
func (l *predictor) addTransposed(workers int, f float64, dst, r []float64, c int) {
	rows.EachRun(workers, l.n, func(_, from, to int) {
		for j := from; j < to; j++ {
			row := dst[j*c:][:c]
			kernel.Axpy(f, r[j*c:][:c], row)
			for _, e := range l.columnEntries[l.columnStart[j]:l.columnStart[j+1]] {
				kernel.Axpy(-f*l.weight[e], r[int(e)/l.k*c:][:c], row)
			}
		}
	})
}
