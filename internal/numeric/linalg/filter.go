package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Filter is an optional shortcut for a [Smallest]: a cheap product, for example a sparse one, with the matrix A whose
// smallest eigenpairs are wanted. Polynomials of A then improve the vectors x without a factorization:
//
//	x ← T_k((A − ½(c + b)I)/½(b − c))·x
//
// T_k is Chebyshev's polynomial of degree k. Its values are at most 1 in magnitude on the interval [c, b], which
// contains the unwanted eigenvalues, and grow fastest outside of it (Zhou, Saad, Tiago and Chelikowsky, J. Comput.
// Phys. 219, 2006). c is the largest Ritz value of the block of vectors x. With or without a filter, [Smallest] proves
// in the same way that its pairs are complete.
type Filter struct {
	// Product sets dst to A·x, both n×w and row-major without gaps. The bits of dst must not depend on the team.
	Product func(dst, x kernel.Matrix[float64])
	Top     float64 // b, an upper bound on the eigenvalues of A
}

const (
	// baseGrowth bounds how much more a filter amplifies the first vector of a block than the last one, because all
	// vectors turn towards the one that is amplified most. Vectors with small residuals turn less. The bound therefore
	// rises as the residuals shrink, up to maxGrowth, at which rounding mixes at most 0.0001 of one vector into another.
	baseGrowth, maxGrowth = 1e4, 1e12
	// maxDegree bounds the degree of a filter, i.e. its number of products, if wanted and unwanted eigenvalues are close.
	maxDegree = 300
	// minHalfWidth is the smallest half width (b − c)/2, see [Filter], as a share of b, that does not count as rounding.
	minHalfWidth = 1e-10
	// filterRows is the number of rows of a block that a worker processes at a time. The columns of a block are padded to
	// a multiple of filterColumns, because products are fastest for such widths.
	filterRows, filterColumns = 256, 32
)

// layOutFilter takes the memory of a filter from l, except for the memory of its product.
func (s *Smallest) layOutFilter(l *room.Layout) {
	for i := range s.filterBlocks {
		s.filterBlocks[i] = kernel.NewMatrix[float64](l, s.n, (s.p+filterColumns-1)/filterColumns*filterColumns)
	}
}

// filterSpace replaces the search space by the span of the filtered Ritz vectors. It returns false if the largest Ritz
// value is too near the upper bound [Filter.Top] of the eigenvalues.
func (s *Smallest) filterSpace() bool {
	f, n, p := s.opt.Filter, s.n, s.p
	least, cut := math.Ldexp(s.theta[0], s.exp), math.Ldexp(s.theta[p-1], s.exp)
	center, half := (cut+f.Top)/2, (f.Top-cut)/2
	if !(half > minHalfWidth*math.Abs(f.Top)) {
		return false
	}
	growth := min(baseGrowth*s.norm/slices.Max(s.rnorm[:s.l]), maxGrowth)
	degree := maxDegree
	if x := (center - least) / half; x > 1 {
		degree = int(min(max(math.Acosh(growth)/math.Acosh(x), 1), maxDegree))
	}
	if s.filterBlocks[0].Data == nil {
		s.layOutFilter(nil)
	}
	before, now, next := s.filterBlocks[0], s.filterBlocks[1], s.filterBlocks[2]
	wide := now.Cols
	clear(before.Data)
	kernel.Copy(now.Sub(0, 0, n, p), kernel.RowMajor(s.x, p, n, n).Trans())
	// T₁(t)x = t·x, T_{k+1}(t)x = 2t·T_k(t)x − T_{k−1}(t)x, with t = (A − center·I)/half.
	factor := 1 / half
	for range degree {
		f.Product(next, now)
		kernel.Each(s.team.Threads(), (n+filterRows-1)/filterRows, func(task int) {
			from, to := task*filterRows*wide, min((task+1)*filterRows, n)*wide
			x, old := now.Data[from:to], before.Data[from:to]
			for j, v := range next.Data[from:to] {
				next.Data[from+j] = factor*(v-center*x[j]) - old[j]
			}
		})
		before, now, next, factor = now, next, before, 2/half
	}
	kernel.Copy(kernel.RowMajor(s.w, p, n, n), now.Sub(0, 0, n, p).Trans())
	s.m = 0
	s.extendSpace(p)
	s.fillSpaceRandomly()
	return true
}
