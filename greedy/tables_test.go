package greedy

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
)

// BruteForce chooses the columns of x that leave least of the target, by projection.
func BruteForce(x, target *mat.Dense, k int) (order []int, left []float64) {
	n, d := x.Dims()
	rest, residual := mat.DenseCopyOf(target), mat.DenseCopyOf(x)
	for range k {
		type candidate struct {
			column int
			gain   float64
		}
		var all []candidate
		for j := range d {
			e := residual.ColView(j)
			if norm := mat.Dot(e, e); !slices.Contains(order, j) && norm > 1e-9 {
				var h mat.VecDense
				h.MulVec(rest.T(), e)
				all = append(all, candidate{j, mat.Dot(&h, &h) / norm})
			}
		}
		best := slices.MaxFunc(all, func(a, b candidate) int { return cmp.Compare(a.gain, b.gain) })
		order = append(order, best.column)
		q := mat.NewVecDense(n, nil)
		q.ScaleVec(1/mat.Norm(residual.ColView(best.column), 2), residual.ColView(best.column))
		for _, m := range []*mat.Dense{rest, residual} {
			var h mat.VecDense
			h.MulVec(m.T(), q)
			m.RankOne(m, -1, q, &h)
		}
		left = append(left, mat.Norm(rest, 2)*mat.Norm(rest, 2))
	}
	return order, left
}

// MatrixFromRows returns the matrix with the given rows.
func MatrixFromRows(rows [][]float64) greedytest.Matrix {
	x := greedytest.NewMatrix(len(rows), len(rows[0]))
	for i, row := range rows {
		for j, v := range row {
			x.Col[j][i] = v
		}
	}
	return x
}
