package subset

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// drawPermutedGram draws the Gram matrix of columns with the given sums of squares whose entries are permuted
// independently. The directions of such columns are independent and uniform in `dims` dimensions. The keys order
// columns with equal sums of squares, so that the draw does not depend on the order of the columns. It costs 2d³/3
// flops. Besides the result it needs the memory of layOutPermutedDraw.
//
// Bartlett's method is used: G = LLᵀ with a lower triangular L. Its entries below the diagonal are normal numbers. The
// entries on the diagonal are square roots of χ² with dims, dims−1, … degrees of freedom. If there are fewer dimensions
// than columns, all entries of the rows after the first dims rows are normal numbers. Each row of L is scaled to the
// norm of its column of the data.
func drawPermutedGram(team *kernel.Team, squares []float64, keys []uint64, dims int, random *rand.Rand) []float64 {
	d := len(squares)
	width := min(d, dims)
	g := kernel.NewMatrix[float64](nil, d, d)
	l, order, position, scratch, isPlaced := layOutPermutedDraw(nil, d, width)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(squares[b], squares[a]), cmp.Compare(keys[a], keys[b]))
	})
	for t := range order {
		row := l.Data[t*width:][:width]
		for j := range min(t, width) {
			row[j] = random.NormFloat64()
		}
		if t < width {
			row[t] = math.Sqrt(drawChiSquared(random, float64(dims-t)))
		}
		length := math.Sqrt(kernel.Dot(row, row))
		if length == 0 {
			continue
		}
		for j := range row {
			row[j] *= math.Sqrt(squares[order[t]]) / length
		}
	}
	for from := 0; from < d; from += taskColumns {
		to := min(from+taskColumns, d)
		inner := min(to, width) // the later entries in these rows of L are 0
		kernel.Gemm(team, 1, l.Sub(0, 0, to, inner), l.Sub(from, 0, to-from, inner).Trans(), g.Sub(0, from, to, to-from))
	}
	kernel.MirrorUpper(team.Threads(), g)
	for t, i := range order {
		position[i] = t
	}
	linalg.PermuteSymmetric(g.Data, position, scratch, isPlaced)
	return g.Data
}

func layOutPermutedDraw(l *room.Layout, d, width int) (factor kernel.Matrix[float64], order, position []int, row []float64, isPlaced []bool) {
	return kernel.NewMatrix[float64](l, d, width), room.Slice[int](l, d), room.Slice[int](l, d), room.Slice[float64](l, d), room.Slice[bool](l, d)
}

// drawChiSquared draws a number from the χ² distribution with at least 1 degree of freedom (Marsaglia and Tsang, A
// simple method for generating gamma variables, 2000).
func drawChiSquared(random *rand.Rand, degrees float64) float64 {
	shape, boost := degrees/2, 1.0
	if shape < 1 {
		boost = math.Pow(1-random.Float64(), 1/shape) // from (0, 1]
		shape++
	}
	a := shape - 1.0/3
	c := 1 / math.Sqrt(9*a)
	for {
		x := random.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-random.Float64()) < x*x/2+a-a*v+a*math.Log(v) {
			return 2 * a * v * boost
		}
	}
}
