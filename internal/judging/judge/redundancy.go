package judge

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// blockColumns is the number of columns that are correlated with all earlier columns at a time.
const blockColumns = 256

// RedundancyCurve returns, for every prefix of the columns of x, n×k, the mean of |ρ| over all pairs of these
// columns. ρ is Pearson's correlation: |ρ| is 0 for uncorrelated columns and 1 for copies. Pairs with a constant
// column are not used. If there is no pair, the mean is NaN. (Zhao, Wang, Liu 2010 divide the sum over pairs by twice
// their number, and assume positive correlations.)
//
// It overwrites the columns of x, column-major, with their normalized deviations from the mean. It costs n·k² flops in
// kernel.Gemm, and needs blockColumns·k numbers.
func RedundancyCurve(team *kernel.Team, x kernel.Matrix[float64]) []float64 {
	n, k := x.Rows, x.Cols
	varies, curve, correlations := layOutRedundancy(nil, k)
	kernel.Each(team.Threads(), k, func(j int) { varies[j] = normalizeDirection(x.Data[j*x.ColStride:][:n], nil) })
	total, columns, pairs := 0.0, 0, 0
	for from := 0; from < k; from += blockColumns {
		to := min(from+blockColumns, k)
		rho := kernel.RowMajor(correlations, to-from, to, to)
		clear(correlations[:(to-from)*to])
		kernel.Gemm(team, 1, x.Sub(0, from, n, to-from).Trans(), x.Sub(0, 0, n, to), rho)
		for r := from; r < to; r++ {
			if varies[r] {
				for _, v := range rho.Data[(r-from)*to:][:r] { // constant columns contain zeros here
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

// MeanCorrelation returns the mean of |ρ| over all pairs of the columns of x, as [RedundancyCurve] does. If there are
// more than `limit` columns, it uses a seeded sample of `limit` columns, and sampled is true. It overwrites x. It costs
// n·k² flops for k columns.
func MeanCorrelation(team *kernel.Team, x kernel.Matrix[float64], limit int, seed uint64) (mean float64, sampled bool) {
	if sampled = x.Cols > limit; sampled {
		some := rand.New(rand.NewPCG(seed, overallStream)).Perm(x.Cols)[:limit]
		slices.Sort(some)
		for to, from := range some { // columns are only moved towards the front
			copy(x.Data[to*x.ColStride:][:x.Rows], x.Data[from*x.ColStride:][:x.Rows])
		}
		x = x.Sub(0, 0, x.Rows, limit)
	}
	curve := RedundancyCurve(team, x)
	return curve[len(curve)-1], sampled
}

// overallStream is the number of the random stream for MeanCorrelation. It is independent of the streams of the runs.
const overallStream = 0x616c6c

// normalizeDirection centres col and scales it to length 1, and maps the further values of its column, in more, in the
// same way. If the deviations from the mean are only rounding errors, it sets all to 0 and returns false.
func normalizeDirection(col, more []float64) bool {
	largest := 0.0
	for _, v := range col {
		largest = max(largest, math.Abs(v))
	}
	if !(largest > 0 && largest <= math.MaxFloat64) {
		clear(col)
		clear(more)
		return false
	}
	mean := 0.0
	for i := range col { // scale to magnitude 1, so that sums and squares neither overflow nor underflow
		col[i] /= largest
		mean += col[i]
	}
	mean /= float64(len(col))
	length, biggest := 0.0, 0.0
	for i := range col {
		col[i] -= mean
		biggest = max(biggest, math.Abs(col[i]))
	}
	// The mean of n equal values of magnitude 1 has an error of at most n·2⁻⁵³. So the column is constant if no value
	// differs from the mean by more than twice that.
	if biggest <= float64(len(col))*0x1p-52 {
		clear(col)
		clear(more)
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
	for i, v := range more {
		more[i] = (v/largest - mean) / biggest / length
	}
	return true
}

func layOutRedundancy(l *room.Layout, k int) (varies []bool, curve, correlations []float64) {
	return room.Slice[bool](l, k), room.Slice[float64](l, k), room.Slice[float64](l, min(blockColumns, k)*k)
}

// RedundancyBytes returns an upper bound of the memory of [RedundancyCurve] for k columns.
func RedundancyBytes(k int) int64 {
	return room.Measure(func(l *room.Layout) { layOutRedundancy(l, k) }) + kernel.TeamBytes(min(blockColumns, k), k)
}
