package linalg

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

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
	room := MostTailVectors(n, k)
	s := &searchSpace{n: n, team: team}
	s.q, s.w = make([]float64, room*n), make([]float64, leadingBlock*n)
	h := make([]float64, room*room) // QAQᵀ, the rows of Q being the basis of the search space
	s.rand = rand.New(rand.NewPCG(uint64(n), uint64(k)))
	rows := min(start.Rows, leadingBlock)
	kernel.Copy(kernel.RowMajor(s.w, rows, n, n), start.Sub(0, 0, rows, n))
	rows = s.orthonormalizeTwice(rows)
	var last []float64
	next := min(room, 2*k+leadingBlock) // dimension of the space at which the Ritz values are computed next
	for {
		if rows = min(rows, room-s.m); rows == 0 && s.m < room {
			// The space is invariant: products with A do not lead out of it. Continue with random vectors.
			for i := range s.w {
				s.w[i] = s.rand.NormFloat64()
			}
			if rows = min(s.orthonormalizeTwice(leadingBlock), room-s.m); rows == 0 {
				return nil
			}
		}
		from := s.m
		copy(s.q[from*n:], s.w[:rows*n])
		s.m += rows
		y := kernel.RowMajor(s.q, room, n, n).Sub(from, 0, rows, n)
		w := kernel.RowMajor(s.w, rows, n, n)
		clear(w.Data[:rows*n])
		product(w, y)
		part := kernel.RowMajor(h, room, room, room).Sub(from, 0, rows, s.m)
		kernel.Gemm(team, 1, w, kernel.RowMajor(s.q, s.m, n, n).Trans(), part)
		if s.m >= next {
			values := ritzValues(h, room, s.m)
			tails, ok := stableTails(values, last, k, trace)
			if ok || s.m == n {
				return tails
			}
			if s.m >= room {
				return nil
			}
			last, next = values, min(room, s.m+max(s.m/4, leadingBlock))
		}
		rows = s.orthonormalizeTwice(rows)
	}
}

// MostTailVectors returns the largest number of vectors that [TailBounds] stores.
func MostTailVectors(n, k int) int { return min(n, 4*k+4*leadingBlock) }

// TailsBytes returns the memory of [TailBounds] without the matrix.
func TailsBytes(n, k int) int64 {
	room, size := int64(MostTailVectors(n, k)), int64(n)
	return 8*(room*size+4*leadingBlock*size+3*room*room) + kernel.TeamBytes(n, n)
}

func (s *searchSpace) orthonormalizeTwice(rows int) int {
	if rows = s.orthonormalizeRows(rows, 1e-10); rows == 0 {
		return 0
	}
	return s.orthonormalizeRows(rows, 0.25)
}

// ritzValues returns the eigenvalues, in descending order, of a symmetric m×m matrix whose lower triangle is in h.
func ritzValues(h []float64, ld, m int) []float64 {
	a := make([]float64, m*m)
	for i := range m {
		for j := range i + 1 {
			a[i*m+j], a[j*m+i] = h[i*ld+j], h[i*ld+j]
		}
	}
	values, size := make([]float64, m), [1]float64{}
	sym := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: a}
	lapack64.Syev(lapack.EVNone, sym, values, size[:], -1)
	work := make([]float64, int(size[0]))
	if !lapack64.Syev(lapack.EVNone, sym, values, work, len(work)) {
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
