package judge

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

const (
	// dependentShare is a share of a column's sum of squares. If the columns chosen before leave less of a column, its
	// residual is considered rounding error. Package greedy uses the same limit, so that both skip the same columns.
	dependentShare = 1e-8
	// stripColumns is the number of selected columns that form a strip. One matrix product subtracts the part of a
	// strip that the columns before it explain.
	stripColumns = 64
)

// ReconstructionError returns ‖X − P_S X‖²/‖X‖², the objective of package greedy as a share of its value without
// columns, for S being the first 1, 2, … chosen columns. P_S is the projection on S. The result is the share of X, n×d
// column-major, that remains when all columns are reconstructed from S. It equals the error that package greedy
// computes for a selection from the same rows. A chosen column that earlier columns explain (a duplicate, zeros) does
// not change it. A matrix of zeros has error 0. If sums of squares exceed float64, the error is NaN.
//
// The rows V_r of V = QᵀX, with an orthonormal basis Q of S, are computed by elimination from the k×d product X_SᵀX:
// V_r = (x_rᵀX − Σ_{s<r} V_s[r]·V_s)/√pivot. V_s[r] is the entry of V_s for chosen column r, and pivot the entry of the
// numerator for this column. This costs 2·n·k·d + k²·d flops, most in kernel.Gemm, and needs memory for k·d numbers,
// not d².
func ReconstructionError(team *kernel.Team, x kernel.Matrix[float64], chosen []int) []float64 {
	k, d := len(chosen), x.Cols
	// v is first X_SᵀX. residuals are the residuals of each column's sum of squares, whole.
	selected, v, strip, residuals, whole, curve := layOutReconstruction(nil, x.Rows, d, k)
	kernel.Each(team.Threads(), d, func(j int) {
		col := x.Data[j*x.ColStride:][:x.Rows]
		residuals[j] = kernel.Dot(col, col)
	})
	copy(whole, residuals)
	total := sumValues(residuals)
	for r, j := range chosen {
		copy(selected.Data[r*x.Rows:], x.Data[j*x.ColStride:][:x.Rows])
	}
	kernel.Gemm(team, 1, selected, x, v)
	for from := 0; from < k; from += stripColumns {
		to := min(from+stripColumns, k)
		if from > 0 {
			// Subtract the part that earlier rows V_s of V explain: V_sᵀ, for the strip's columns only, times V_s.
			for s := range from {
				for r := from; r < to; r++ {
					strip[s*(to-from)+r-from] = v.Data[s*d+chosen[r]]
				}
			}
			kernel.Gemm(team, -1, kernel.RowMajor(strip, from, to-from, to-from).Trans(), v.Sub(0, 0, from, d), v.Sub(from, 0, to-from, d))
		}
		for r := from; r < to; r++ {
			row := v.Data[r*d:][:d]
			for s := from; s < r; s++ {
				kernel.Axpy(-v.Data[s*d+chosen[r]], v.Data[s*d:][:d], row)
			}
			if pivot := row[chosen[r]]; pivot > dependentShare*whole[chosen[r]] {
				scale := 1 / math.Sqrt(pivot)
				for j := range row {
					row[j] *= scale
					residuals[j] = max(residuals[j]-row[j]*row[j], 0)
				}
			} else {
				clear(row)
			}
			residuals[chosen[r]] = 0 // by definition, despite rounding errors
			switch {
			case total-total != 0:
				curve[r] = math.NaN()
			case total > 0:
				curve[r] = sumValues(residuals) / total
			}
		}
	}
	return curve
}

func layOutReconstruction(l *room.Layout, n, d, k int) (selected, v kernel.Matrix[float64], strip, residuals, whole, curve []float64) {
	slice := func(n int) []float64 { return room.Slice[float64](l, n) }
	return kernel.NewMatrix[float64](l, k, n), kernel.NewMatrix[float64](l, k, d), slice(min(stripColumns, k) * k), slice(d), slice(d), slice(k)
}

func sumValues(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// ReconstructionBytes returns an upper bound of the memory of [ReconstructionError] for k of d columns of n rows.
func ReconstructionBytes(n, d, k int) int64 {
	return room.Measure(func(l *room.Layout) { layOutReconstruction(l, n, d, k) }) + kernel.TeamBytes(k, d)
}
