package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Filter is a cheap product with a matrix whose smallest eigenpairs a [Smallest] finds, as a sparse one has. Its
// vectors are then improved without a factor, by a polynomial of the matrix:
//
//	x ← T_k((A − ½(c + b)I)/½(b − c))·x
//
// with Chebyshev's T_k, which is at most 1 on the unwanted part [c, b] of the spectrum and grows fastest of all
// outside (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219, 2006); c is the largest Ritz value of the
// block. Pairs are accepted and proved as ever.
type Filter struct {
	// Product sets dst to A·x, both n×w row-major without gaps, to the same bits on any team.
	Product func(dst, x kernel.Matrix[float64])
	Top     float64 // b, which no eigenvalue of A exceeds
}

const (
	// rawGrowth bounds by how much more one vector of a block may grow than another, as all turn towards it.
	// Vectors with small residuals stand apart already, and may grow by as much more as these are smaller, up
	// to mostGrowth: what rounding mixes of one into another is a ten-thousandth then.
	rawGrowth, mostGrowth = 1e4, 1e12
	// mostDegree bounds the products of a filter where the wanted values are hardly apart.
	mostDegree = 300
	// noHalf is the part of b below which half the unwanted part is rounding.
	noHalf = 1e-10
	// siftRows are the rows of a block that a worker takes at a time; its columns are filled up to whole
	// sets of siftColumns, for which products are made.
	siftRows, siftColumns = 256, 32
)

// sift makes the space that of the filtered Ritz vectors; it fails where the cut is at the top.
func (s *Smallest) sift() bool {
	f, n, p := s.opt.Filter, s.n, s.p
	least, cut := math.Ldexp(s.theta[0], s.exp), math.Ldexp(s.theta[p-1], s.exp)
	center, half := (cut+f.Top)/2, (f.Top-cut)/2
	if !(half > noHalf*math.Abs(f.Top)) {
		return false
	}
	growth := min(rawGrowth*s.norm/slices.Max(s.rnorm[:s.l]), mostGrowth)
	degree := mostDegree
	if x := (center - least) / half; x > 1 {
		degree = int(min(max(math.Acosh(growth)/math.Acosh(x), 1), mostDegree))
	}
	wide := (p + siftColumns - 1) / siftColumns * siftColumns
	if s.sifted[0].Data == nil {
		for i := range s.sifted {
			s.sifted[i] = kernel.RowMajor(make([]float64, n*wide), n, wide, wide)
		}
	}
	before, now, next := s.sifted[0], s.sifted[1], s.sifted[2]
	clear(before.Data)
	kernel.Copy(now.Sub(0, 0, n, p), kernel.RowMajor(s.x, p, n, n).Trans())
	// T₁(t)x = t·x, T_{k+1}(t)x = 2t·T_k(t)x − T_{k−1}(t)x, with t = (A − center·I)/half.
	by := 1 / half
	for range degree {
		f.Product(next, now)
		kernel.Each(s.team.Threads(), (n+siftRows-1)/siftRows, func(task int) {
			from, to := task*siftRows*wide, min((task+1)*siftRows, n)*wide
			x, old := now.Data[from:to], before.Data[from:to]
			for j, v := range next.Data[from:to] {
				next.Data[from+j] = by*(v-center*x[j]) - old[j]
			}
		})
		before, now, next, by = now, next, before, 2/half
	}
	kernel.Copy(kernel.RowMajor(s.w, p, n, n), now.Sub(0, 0, n, p).Trans())
	s.m = 0
	s.extend(p)
	s.fill()
	return true
}
