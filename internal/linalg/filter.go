package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Filter provides a cheap product, for example a sparse one, with the matrix whose smallest eigenpairs a [Smallest]
// finds. A polynomial of the matrix then improves the vectors without a factorization:
//
//	x ← T_k((A − ½(c + b)I)/½(b − c))·x
//
// T_k is Chebyshev's polynomial. It is at most 1 on the unwanted part [c, b] of the spectrum and, of all polynomials,
// grows fastest outside (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219, 2006). c is the largest Ritz value
// of the block. Pairs are accepted and proved in the same way as without a filter.
type Filter struct {
	// Product sets dst to A·x. Both are n×w, row-major without gaps. The bits of dst must not depend on the team.
	Product func(dst, x kernel.Matrix[float64])
	Top     float64 // b, which no eigenvalue of A exceeds
}

const (
	// rawGrowth bounds the ratio of the growths of two vectors of a block, because all vectors turn towards the one that
	// grows fastest. Vectors with small residuals are separate already, so the bound rises as the residuals shrink. At
	// mostGrowth, its maximum, rounding mixes at most a ten-thousandth of one vector into another.
	rawGrowth, mostGrowth = 1e4, 1e12
	// mostDegree bounds the number of products in a filter if the wanted values are hardly separate from the others.
	mostDegree = 300
	// leastHalfWidth is the share of b below which half of the width of the unwanted part counts as rounding.
	leastHalfWidth = 1e-10
	// filterRows is the number of rows of a block that a worker processes at a time. The columns of a block are padded to
	// a multiple of filterColumns, the width for which products are optimized.
	filterRows, filterColumns = 256, 32
)

// filterSpace replaces the search space by the span of the filtered Ritz vectors. It fails if the largest Ritz value is
// at the top of the spectrum.
func (s *Smallest) filterSpace() bool {
	f, n, p := s.opt.Filter, s.n, s.p
	least, cut := math.Ldexp(s.theta[0], s.exp), math.Ldexp(s.theta[p-1], s.exp)
	center, half := (cut+f.Top)/2, (f.Top-cut)/2
	if !(half > leastHalfWidth*math.Abs(f.Top)) {
		return false
	}
	growth := min(rawGrowth*s.norm/slices.Max(s.rnorm[:s.l]), mostGrowth)
	degree := mostDegree
	if x := (center - least) / half; x > 1 {
		degree = int(min(max(math.Acosh(growth)/math.Acosh(x), 1), mostDegree))
	}
	wide := (p + filterColumns - 1) / filterColumns * filterColumns
	if s.filterBlocks[0].Data == nil {
		for i := range s.filterBlocks {
			s.filterBlocks[i] = kernel.RowMajor(make([]float64, n*wide), n, wide, wide)
		}
	}
	before, now, next := s.filterBlocks[0], s.filterBlocks[1], s.filterBlocks[2]
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
	s.fillSpace()
	return true
}
