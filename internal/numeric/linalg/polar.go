package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// ErrTooFewRows is wrapped by the error of [Polar.Factor] for a matrix with fewer rows than columns.
var ErrTooFewRows = errors.New("fewer rows than columns")

// Polar computes the orthonormal polar factor P = U·Vᵀ of a tall n×l matrix A = U·Σ·Vᵀ. It needs the rows of A twice,
// in chunks. Of all matrices with orthonormal columns, P is the nearest to A and has the largest Tr(PᵀA).
//
//	Add(chunk)          pass 1, for every chunk: computes its QR factorization and keeps R
//	Factor()            the QR factorization of the stacked R's, and the SVD of the resulting R
//	RowsTo(k, P, chunk) pass 2, for the chunks in any order: computes the rows of P for chunk k
//
// This is TSQR (Demmel et al. 2012) with a tree of two levels. It neither squares A nor solves equations. The rows of P
// are products of the orthogonal factors of Householder's method. Therefore PᵀP = I to rounding for any A, also a
// singular one. P is the exact factor of A + E with ‖E‖ ≤ c·l·2⁻⁵³·‖A‖ for a small constant c. The error of P is
// therefore ‖E‖/σ_l to first order, and no method can give a smaller one (Chaitin-Chatelin and Gratton 2000).
//
// If A has a rank r < l to working precision, the factor is not unique. P·V is then determined only for the r right
// singular vectors of A's row space. The other l − r columns of P·V are orthonormal vectors that depend on the division
// into chunks. [Polar.Rank] returns r.
//
// The determined part of P does not depend on the division into chunks, up to rounding. For a chunk of h rows, Polar
// keeps min(h, l)·l values until the end (see [PolarBytes]). These are at most as many as the chunk has, and take 800
// bytes for a chunk of 8,192 rows with l = 10.
type Polar struct {
	l, rows    int
	chunkRows  []int     // number of rows of each chunk
	chunkStart []int     // row of r at which the R of each chunk starts
	r          []float64 // the stacked R's, min(h, l)×l each; after Factor the matrices for RowsTo
	sigma      []float64 // singular values of A; nil until Factor
}

// NewPolar returns a Polar for l columns, without rows.
func NewPolar(l int) *Polar {
	if l < 0 {
		panic(fmt.Sprintf("linalg: polar factor of %d columns", l))
	}
	return &Polar{l: l}
}

// PolarBytes bounds the memory of a [Polar] of l columns after the given number of chunks of at most h rows. It
// includes the factors of the chunks, a second copy of these for Factor or for a growing slice, and the scratch memory
// for one chunk.
func PolarBytes(l, chunks, h int) int64 {
	factorRows := int64(chunks) * int64(min(h, l))
	return 8 * (2*factorRows*int64(l) + factorRows + 2*int64(chunks) + int64(h+4*l)*int64(l))
}

// Add adds the next chunk, an h×l matrix, in 2·h·l² flops. If it returns an error, p is unchanged. The error wraps
// [ErrNotFinite] and names the row in the whole matrix.
func (p *Polar) Add(chunk kernel.Matrix[float64]) error {
	if chunk.Cols != p.l || p.sigma != nil {
		panic(fmt.Sprintf("linalg: chunk of %d columns for a polar factor of %d, factored %t",
			chunk.Cols, p.l, p.sigma != nil))
	}
	if at, _ := firstNotFinite(chunk); at >= 0 {
		return fmt.Errorf("row %d: %w", p.rows+at+1, ErrNotFinite)
	}
	r := newReflections(chunk).appendR(nil)
	if at, _ := firstNotFinite(kernel.RowMajor(r, 1, len(r), len(r))); at >= 0 {
		return fmt.Errorf("rows %d to %d: length of a column: %w", p.rows+1, p.rows+chunk.Rows, ErrNotFinite)
	}
	p.chunkStart = append(p.chunkStart, len(p.r)/max(1, p.l))
	p.chunkRows = append(p.chunkRows, chunk.Rows)
	p.rows += chunk.Rows
	p.r = append(p.r, r...)
	return nil
}

// Factor ends pass 1. It costs 6·l³ flops for each chunk. It returns [ErrNoConvergence], or an error that wraps
// [ErrTooFewRows] or, if the length of a column overflows, [ErrNotFinite].
func (p *Polar) Factor() error {
	l := p.l
	if p.sigma != nil {
		panic("linalg: polar factor: Factor called twice")
	}
	if p.rows < l {
		return fmt.Errorf("polar factor of %d×%d: %w", p.rows, l, ErrTooFewRows)
	}
	if l == 0 {
		p.sigma = []float64{}
		return nil
	}
	stacked := kernel.RowMajor(p.r, len(p.r)/l, l, l)
	q := newReflections(stacked)
	r := q.appendR(nil)
	if at, _ := firstNotFinite(kernel.RowMajor(r, l, l, l)); at >= 0 {
		return fmt.Errorf("polar factor: length of a column: %w", ErrNotFinite)
	}
	u, sigma, vt, ok := computeSVD(r, l)
	if !ok {
		return ErrNoConvergence
	}
	uvt := kernel.RowMajor(make([]float64, l*l), l, l, l)
	kernel.Gemm(kernel.NewTeam(1), 1, kernel.RowMajor(u, l, l, l), kernel.RowMajor(vt, l, l, l), uvt)
	q.mulTo(stacked, uvt)
	p.sigma = sigma
	return nil
}

// RowsTo writes the rows of P that belong to the k-th chunk to dst, an h×l matrix. chunk must be
// equal to the last bit to the k-th chunk passed to Add. It costs 8·h·l² flops at most. dst may be
// the chunk itself. Calls for different chunks may run at the same time.
func (p *Polar) RowsTo(k int, dst, chunk kernel.Matrix[float64]) {
	if p.sigma == nil || chunk.Rows != p.chunkRows[k] || chunk.Cols != p.l || dst.Rows != chunk.Rows || dst.Cols != p.l {
		panic(fmt.Sprintf("linalg: polar factor of %d columns, factored %t: chunk %d of %d×%d into %d×%d",
			p.l, p.sigma != nil, k, chunk.Rows, chunk.Cols, dst.Rows, dst.Cols))
	}
	q := newReflections(chunk)
	top := min(chunk.Rows, p.l)
	q.mulTo(dst, kernel.RowMajor(p.r[p.chunkStart[k]*p.l:], top, p.l, p.l))
}

// SingularValues returns the singular values of A in descending order. It may be called after Factor.
func (p *Polar) SingularValues() []float64 { return slices.Clone(p.sigma) }

// Rank returns the number of singular values above l·2⁻⁵⁰·σ_1, σ_1 being the largest one. Smaller values may come from
// the rounding of A's entries (√l·2⁻⁵³·σ_1) and of the factorization (a few times as much).
func (p *Polar) Rank() int {
	rank := 0
	for _, s := range p.sigma {
		if s > float64(p.l)*0x1p-50*p.sigma[0] {
			rank++
		}
	}
	return rank
}

func computeSVD(a []float64, n int) (u, sigma, vt []float64, ok bool) {
	g := func() blas64.General {
		return blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	}
	ga, gu, gv := blas64.General{Rows: n, Cols: n, Stride: n, Data: a}, g(), g()
	sigma = make([]float64, n)
	var size [1]float64
	lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, ga, gu, gv, sigma, size[:], -1)
	work := make([]float64, int(size[0]))
	ok = lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, ga, gu, gv, sigma, work, len(work))
	return gu.Data, sigma, gv.Data, ok
}

// reflections contains the QR factorization of an h×l matrix by Householder's reflections I − tau·v·vᵀ (Golub and Van
// Loan, Algorithm 5.2.1). cols holds the columns one after the other: the v's below the diagonal, R on and above it.
// Columns are long enough for vector loops. LAPACK's row order would loop over rows of about ten values.
type reflections struct {
	h, l int
	cols []float64
	tau  []float64
}

func newReflections(a kernel.Matrix[float64]) *reflections {
	q := &reflections{a.Rows, a.Cols, make([]float64, a.Rows*a.Cols), make([]float64, min(a.Rows, a.Cols))}
	kernel.Copy(kernel.ColMajor(q.cols, q.h, q.l, q.h), a)
	for k := range q.tau {
		x := q.cols[k*q.h+k : (k+1)*q.h]
		q.tau[k] = makeReflection(x)
		for j := k + 1; j < q.l; j++ {
			q.applyTo(k, q.cols[j*q.h:][:q.h])
		}
	}
	return q
}

// makeReflection finds the reflection that maps x to a multiple of the first unit vector, and returns its tau. It
// overwrites x[0] by the factor of that multiple, and x[1:] by v[1:]. v[0] is 1.
func makeReflection(x []float64) (tau float64) {
	tail := blas64.Vector{N: len(x) - 1, Inc: 1, Data: x[1:]}
	below := blas64.Nrm2(tail)
	if below == 0 {
		return 0
	}
	// Like LAPACK's DLARFG, give beta the sign that avoids cancellation.
	beta := -math.Copysign(math.Hypot(x[0], below), x[0])
	tau = (beta - x[0]) / beta
	scale := x[0] - beta
	for i := range tail.Data {
		tail.Data[i] /= scale
	}
	x[0] = beta
	return tau
}

func (q *reflections) applyTo(k int, y []float64) {
	v := q.cols[k*q.h+k+1 : (k+1)*q.h]
	s := -q.tau[k] * (y[k] + kernel.Dot(v, y[k+1:]))
	y[k] += s
	kernel.Axpy(s, v, y[k+1:])
}

func (q *reflections) appendR(r []float64) []float64 {
	for i := range q.tau {
		for j := range q.l {
			v := 0.0
			if j >= i {
				v = q.cols[j*q.h+i]
			}
			r = append(r, v)
		}
	}
	return r
}

// mulTo writes Q·B to the h×c matrix dst. B is min(h, l)×c, and Q consists of the first min(h, l) columns of the
// product of the reflections.
func (q *reflections) mulTo(dst, b kernel.Matrix[float64]) {
	y := make([]float64, q.h)
	for j := range b.Cols {
		clear(y)
		for i := range b.Rows {
			y[i] = b.Data[i*b.RowStride+j*b.ColStride]
		}
		for k := len(q.tau) - 1; k >= 0; k-- {
			q.applyTo(k, y)
		}
		for i, v := range y {
			dst.Data[i*dst.RowStride+j*dst.ColStride] = v
		}
	}
}
