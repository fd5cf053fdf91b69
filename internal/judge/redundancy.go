package judge

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// wide is the number of columns that are correlated with all before them at a time.
const wide = 256

// Redundancy returns, for every prefix of the columns of x, n×k, the mean of |ρ| over
// its pairs of columns, ρ being Pearson's correlation: 0 for uncorrelated columns, 1 for
// copies (Zhao, Wang, Liu 2010; they divide the sum over pairs by twice their number, and
// assume positive correlations). Pairs with a constant column do not count. Without a pair
// it is NaN.
//
// It overwrites the columns of x, column-major, with their directions from the mean.
// Costs n·k² flops in kernel.Gemm, and holds wide·k numbers.
func Redundancy(team *kernel.Team, x kernel.Matrix[float64]) []float64 {
	n, k := x.Rows, x.Cols
	varies := make([]bool, k)
	kernel.Each(team.Threads(), k, func(j int) { varies[j] = direction(x.Data[j*x.ColStride:][:n]) })
	curve := make([]float64, k)
	correlations := make([]float64, min(wide, k)*k)
	total, columns, pairs := 0.0, 0, 0
	for from := 0; from < k; from += wide {
		to := min(from+wide, k)
		rho := kernel.RowMajor(correlations, to-from, to, to)
		clear(correlations[:(to-from)*to])
		kernel.Gemm(team, 1, x.Sub(0, from, n, to-from).Trans(), x.Sub(0, 0, n, to), rho)
		for r := from; r < to; r++ {
			if varies[r] {
				for _, v := range rho.Data[(r-from)*to:][:r] { // constant columns are zeros here
					total += min(math.Abs(v), 1)
				}
				pairs += columns
				columns++
			}
			curve[r] = total / float64(pairs) // 0/0 is NaN
		}
	}
	return curve
}

// Overall returns the mean of |ρ| over all pairs of the columns of x, as [Redundancy] does, which its n·k²
// flops are too many for where columns are: of more than most it is the mean over so many of them, drawn by
// the seed, and drawn says so. It overwrites x.
func Overall(team *kernel.Team, x kernel.Matrix[float64], most int, seed uint64) (mean float64, drawn bool) {
	if drawn = x.Cols > most; drawn {
		some := rand.New(rand.NewPCG(seed, overallStream)).Perm(x.Cols)[:most]
		slices.Sort(some)
		for to, from := range some { // columns only move towards the front
			copy(x.Data[to*x.ColStride:][:x.Rows], x.Data[from*x.ColStride:][:x.Rows])
		}
		x = x.Sub(0, 0, x.Rows, most)
	}
	curve := Redundancy(team, x)
	return curve[len(curve)-1], drawn
}

// overallStream sets these random numbers apart from those of the runs.
const overallStream = 0x616c6c

// direction centres col and gives it length 1. A column whose spread is rounding becomes
// zeros, and the answer is false.
func direction(col []float64) bool {
	largest := 0.0
	for _, v := range col {
		largest = max(largest, math.Abs(v))
	}
	if !(largest > 0 && largest <= math.MaxFloat64) {
		clear(col)
		return false
	}
	mean := 0.0
	for i := range col { // of size 1, so that sums and squares neither overflow nor vanish
		col[i] /= largest
		mean += col[i]
	}
	mean /= float64(len(col))
	length, biggest := 0.0, 0.0
	for i := range col {
		col[i] -= mean
		biggest = max(biggest, math.Abs(col[i]))
	}
	// The mean of n equal values of size 1 is off by n·2⁻⁵³ at most.
	if biggest <= float64(len(col))*0x1p-52 {
		clear(col)
		return false
	}
	for i := range col {
		col[i] /= biggest
		length += col[i] * col[i]
	}
	length = math.Sqrt(length)
	for i := range col {
		col[i] /= length
	}
	return true
}

// RedundancyBytes is what [Redundancy] holds for k columns.
func RedundancyBytes(k int) int64 {
	return 8*int64(min(wide, k)+2)*int64(k) + kernel.TeamBytes(min(wide, k), k)
}
