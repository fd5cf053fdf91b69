package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Filter is a cheap product, such as a sparse one, with the matrix whose smallest eigenpairs a [Smallest] finds. A
// polynomial of the matrix then improves the vectors without a factor:
//
//	x ← T_k((A − ½(c + b)I)/½(b − c))·x
//
// with Chebyshev's T_k, which is at most 1 on the unwanted part [c, b] of the spectrum and grows fastest of all
// outside (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219, 2006); c is the largest Ritz value of the block.
// Pairs are accepted and proved as without a filter.
type Filter struct {
	// Product sets dst to A·x, both n×w row-major without gaps, to the same bits on any team.
	Product func(dst, x kernel.Matrix[float64])
	Top     float64 // b, which no eigenvalue of A exceeds
}

const (
	// rawGrowth bounds how much more one vector of a block may grow than another, as all of them turn towards the
	// fastest. Vectors with small residuals are separate already, and their bound grows as the residuals shrink, up
	// to mostGrowth: rounding then mixes at most a ten-thousandth of one vector into another.
	rawGrowth, mostGrowth = 1e4, 1e12
	// mostDegree bounds the products of a filter if the wanted values are hardly separate.
	mostDegree = 300
	// leastHalfWidth is the share of b below which half the width of the unwanted part is rounding.
	leastHalfWidth = 1e-10
	// A worker takes filterRows rows of a block at a time; the columns of the block are padded to a multiple of
	// filterColumns, the width products are made for.
	filterRows, filterColumns = 256, 32
)

// filterSpace spans the space by the filtered Ritz vectors. It fails if the largest Ritz value is at the top of the
// spectrum.
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
