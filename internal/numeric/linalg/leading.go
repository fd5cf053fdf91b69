package linalg

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

const (
	// leadingBlock is the number of vectors added to the search space at a time, large enough for fast products.
	leadingBlock = 16
	// leadingTol is the relative change of a tail, see [TailBounds], below which the search ends. The change is measured
	// each time the search space has grown by a quarter.
	leadingTol = 1e-3
)

// TailBounds returns lower bounds on the tails of the spectrum of a positive semidefinite n×n matrix A. Tail i, for i =
// 1 … k, is Σ_{j>i} λ_j with the eigenvalues λ_j in descending order: the variance outside the best i directions. trace
// is tr A. product must add Y·A, for a few rows Y, to dst. The search begins with the rows of start.
//
// The method is block Lanczos with full orthogonalization (Golub and Underwood 1977). As the search space grows, the
// sum of the i largest Ritz values rises towards the sum of the λ_j. TailBounds stops when a quarter more vectors
// raised each sum by less than 0.1 % of its tail. Bound i is the trace minus the sum of the i largest Ritz values,
// minus the last rise of that sum. The rises shrink faster than geometrically, so the result is below the true tail
// (measured, not proved). If [MostTailVectors] do not suffice, the result is nil.
//
// It costs the product of about 2k to 4k vectors with A, 8·n·(3k)² flops for their orthogonality, and
// 4/3·(3k)³ flops for Ritz values. The bits do not depend on the team.
func TailBounds(team *kernel.Team, n, k int, trace float64, start kernel.Matrix[float64], product func(dst, y kernel.Matrix[float64])) []float64 {
	s := layOutTails(nil, n, k)
	s.team = team
	most := MostTailVectors(n, k)
	s.rand = rand.New(rand.NewPCG(uint64(n), uint64(k)))
	rows := min(start.Rows, leadingBlock)
	kernel.Copy(kernel.RowMajor(s.w, rows, n, n), start.Sub(0, 0, rows, n))
	rows = s.orthonormalizeTwice(rows)
	var last []float64
	next := min(most, 2*k+leadingBlock) // dimension of the space at which the Ritz values are computed next
	for {
		if rows = min(rows, most-s.m); rows == 0 && s.m < most {
			// The space is invariant: products with A do not lead out of it. Continue with random vectors.
			for i := range s.w {
				s.w[i] = s.rand.NormFloat64()
			}
			if rows = min(s.orthonormalizeTwice(leadingBlock), most-s.m); rows == 0 {
				return nil
			}
		}
		from := s.m
		copy(s.q[from*n:], s.w[:rows*n])
		s.m += rows
		y := kernel.RowMajor(s.q, most, n, n).Sub(from, 0, rows, n)
		w := kernel.RowMajor(s.w, rows, n, n)
		clear(w.Data[:rows*n])
		product(w, y)
		part := kernel.RowMajor(s.h, most, most, most).Sub(from, 0, rows, s.m)
		kernel.Gemm(team, 1, w, kernel.RowMajor(s.q, s.m, n, n).Trans(), part)
		if s.m >= next {
			values := s.ritzValues(most)
			tails, ok := stableTails(values, last, k, trace)
			if ok || s.m == n {
				return tails
			}
			if s.m >= most {
				return nil
			}
			copy(s.x, values)
			last, next = s.x[:s.m], min(most, s.m+max(s.m/4, leadingBlock))
		}
		rows = s.orthonormalizeTwice(rows)
	}
}

// MostTailVectors returns the largest number of vectors that [TailBounds] stores.
func MostTailVectors(n, k int) int { return min(n, 4*k+4*leadingBlock) }

// layOutTails takes the memory of [TailBounds] from l: a search space with the matrix h = QAQᵀ, the rows of Q being the
// basis, a copy y of h, the Ritz values theta, earlier ones in x, and LAPACK's scratch in r.
func layOutTails(l *room.Layout, n, k int) *searchSpace {
	most := MostTailVectors(n, k)
	s := &searchSpace{n: n, q: room.Slice[float64](l, most*n)}
	s.h, s.y = room.Slice[float64](l, most*most), room.Slice[float64](l, most*most)
	s.theta, s.x = room.Slice[float64](l, most), room.Slice[float64](l, most)
	var size [1]float64
	lapack64.Syev(lapack.EVNone, blas64.Symmetric{Uplo: blas.Upper, N: most, Stride: max(most, 1)}, nil, size[:], -1)
	s.r = room.Slice[float64](l, int(size[0]))
	s.layOutBlock(l, leadingBlock, leadingBlock, most)
	return s
}

// TailsBytes returns the memory of [TailBounds] without the matrix.
func TailsBytes(n, k int) int64 {
	return room.Measure(func(l *room.Layout) { layOutTails(l, n, k) }) + kernel.TeamBytes(n, n)
}

func (s *searchSpace) orthonormalizeTwice(rows int) int {
	if rows = s.orthonormalizeRows(rows, 1e-10); rows == 0 {
		return 0
	}
	return s.orthonormalizeRows(rows, 0.25)
}

// ritzValues returns the Ritz values in descending order. The lower triangle of QAQᵀ is in s.h, with ld numbers for each
// row. The next call overwrites the result, which is nil if the solver does not converge.
func (s *searchSpace) ritzValues(ld int) []float64 {
	m, a, h := s.m, s.y, s.h
	for i := range m {
		for j := range i + 1 {
			a[i*m+j], a[j*m+i] = h[i*ld+j], h[i*ld+j]
		}
	}
	values := s.theta[:m]
	if !lapack64.Syev(lapack.EVNone, blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: a}, values, s.r, len(s.r)) {
		return nil
	}
	slices.Reverse(values)
	return values
}

// stableTails returns the tails after 1 … k Ritz values, see [TailBounds]. values are the present Ritz values, and last
// the earlier ones. A tail fell by some amount from `last` to `values`; the result is lower by this amount once more.
// ok reports whether all these amounts are small.
func stableTails(values, last []float64, k int, trace float64) (tails []float64, ok bool) {
	if values == nil {
		return nil, false
	}
	ok = last != nil
	sum, before := 0.0, 0.0
	for i := range k {
		if i < len(values) {
			sum += max(values[i], 0)
		}
		if i < len(last) {
			before += max(last[i], 0)
		}
		left, rise := max(trace-sum, 0), 0.0
		if last != nil {
			rise = max(sum-before, 0)
		}
		ok = ok && rise <= leadingTol*left+tailRounding*trace
		tails = append(tails, max(left-rise, 0))
	}
	return tails, ok || trace-sum <= tailRounding*trace
}

// tailRounding is the share of the trace below which a tail counts as rounding.
const tailRounding = 1e-12
