package judge

import (
	"math"

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
	residuals := make([]float64, d) // residual of each column's sum of squares
	kernel.Each(team.Threads(), d, func(j int) {
		col := x.Data[j*x.ColStride:][:x.Rows]
		residuals[j] = kernel.Dot(col, col)
	})
	whole := append([]float64(nil), residuals...)
	total := sumValues(residuals)
	v := multiplyChosenByAllColumns(team, x, chosen)
	curve := make([]float64, k)
	for from := 0; from < k; from += stripColumns {
		to := min(from+stripColumns, k)
		if from > 0 {
			// Subtract the part that earlier rows V_s of V explain: V_sᵀ, for the strip's columns only, times V_s.
			part := make([]float64, from*(to-from))
			for s := range from {
				for r := from; r < to; r++ {
					part[s*(to-from)+r-from] = v.Data[s*d+chosen[r]]
				}
			}
			kernel.Gemm(team, -1, kernel.RowMajor(part, from, to-from, to-from).Trans(), v.Sub(0, 0, from, d), v.Sub(from, 0, to-from, d))
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

func multiplyChosenByAllColumns(team *kernel.Team, x kernel.Matrix[float64], chosen []int) kernel.Matrix[float64] {
	k := len(chosen)
	selected := make([]float64, x.Rows*k)
	for r, j := range chosen {
		copy(selected[r*x.Rows:], x.Data[j*x.ColStride:][:x.Rows])
	}
	v := kernel.RowMajor(make([]float64, k*x.Cols), k, x.Cols, x.Cols) // X_SᵀX
	kernel.Gemm(team, 1, kernel.ColMajor(selected, x.Rows, k, x.Rows).Trans(), x, v)
	return v
}

func sumValues(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// ReconstructionBytes returns an upper bound of the memory of [ReconstructionError] for k of d columns of n rows.
func ReconstructionBytes(n, d, k int) int64 {
	n64, d64, k64 := int64(n), int64(d), int64(k)
	return 8*(n64*k64+k64*d64+stripColumns*k64+2*d64+k64) + kernel.TeamBytes(k, d)
}
