package u2fs

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// featureInverse represents P = (XᵀX + λI)⁻¹ for the n features that remained at the start of a block of removals.
type featureInverse interface {
	// computeForFeatures computes P for the listed features, ascending. It writes the diagonal of P to diag, and W = PXᵀU,
	// row-major, to w.
	computeForFeatures(features []int, diag, w []float64) error
	// copyColumnTo copies a column of P to v. The parameter `at` is the index of the column.
	copyColumnTo(v []float64, at int)
	// keepFeatures replaces P by P − VᵀV, V being the matrix v with a row for each removed feature. Then it reduces P to
	// the features whose indices, ascending, are in the parameter stay. diag is the diagonal of P after these removals.
	// It is overwritten by the diagonal of the reduced P.
	keepFeatures(v kernel.Matrix[float64], stay []int, diag []float64) error
}

// fullInverse stores P as n×n numbers for the n remaining features.
type fullInverse struct {
	team    *kernel.Team
	g       *gram.Matrix
	lambda  float64
	targets kernel.Matrix[float64] // XᵀU, d×c
	n       int
	p       []float64 // P; nil until needed

	gram []float64 // XᵀX + λI of the features for which P is computed, then the inverse of its Cholesky factor
	rows []float64 // rows of the factor of G for these features
	chol linalg.Cholesky
}

func (f *fullInverse) layOut(l *room.Layout, n, rank int) {
	f.p, f.gram, f.rows = room.Slice[float64](l, n*n), room.Slice[float64](l, n*n), room.Slice[float64](l, n*rank)
	f.chol.LayOut(l, n)
}

func (f *fullInverse) computeForFeatures(features []int, diag, w []float64) error {
	n, c := len(features), f.targets.Cols
	if f.p == nil {
		f.layOut(nil, n, f.g.Rank)
	}
	f.n = n
	a, p := kernel.RowMajor(f.gram[:n*n], n, n, n), kernel.RowMajor(f.p[:n*n], n, n, n)
	f.fillGram(a, features)
	for i := range n {
		a.Data[i*n+i] += f.lambda
	}
	if err := f.chol.Factor(f.team, a); err != nil {
		return fmt.Errorf("u2fs: regression on %d features: %w", n, err)
	}
	f.chol.HalfInverseTo(f.team, a)
	clear(p.Data)
	kernel.Syrk(f.team, 1, a.Trans(), p)
	kernel.MirrorUpper(f.team.Threads(), p)
	for i, j := range features {
		copy(w[i*c:][:c], f.targets.Data[j*c:][:c])
	}
	m := kernel.RowMajor(w, n, c, c)
	f.chol.SolveTo(f.team, m, m)
	f.copyDiagonal(diag)
	return nil
}

func (f *fullInverse) fillGram(a kernel.Matrix[float64], features []int) {
	if !f.g.IsFactor() {
		for i, j := range features {
			for k, l := range features {
				a.Data[i*a.Cols+k] = f.g.Sym[j*f.g.D+l]
			}
		}
		return
	}
	clear(a.Data)
	kernel.Syrk(f.team, 1, copyFeatureRows(f.rows, f.g, features), a)
	kernel.MirrorUpper(f.team.Threads(), a)
}

func copyFeatureRows(dst []float64, g *gram.Matrix, features []int) kernel.Matrix[float64] {
	for i, j := range features {
		copy(dst[i*g.Rank:][:g.Rank], g.R[j*g.Rank:])
	}
	return kernel.RowMajor(dst, len(features), g.Rank, g.Rank)
}

func (f *fullInverse) copyDiagonal(diag []float64) {
	for i := range f.n {
		diag[i] = f.p[i*f.n+i]
	}
}

func (f *fullInverse) copyColumnTo(v []float64, column int) { copy(v, f.p[column*f.n:][:f.n]) }

func (f *fullInverse) keepFeatures(v kernel.Matrix[float64], kept []int, diag []float64) error {
	n, most := f.n, len(kept)
	kernel.Syrk(f.team, -1, v.Trans(), kernel.RowMajor(f.p, n, n, n))
	for a, i := range kept { // no entry is overwritten before it is moved
		for b, j := range kept[a:] {
			f.p[a*most+a+b] = f.p[i*n+j]
		}
	}
	f.n = most
	kernel.MirrorUpper(f.team.Threads(), kernel.RowMajor(f.p, most, most, most))
	f.copyDiagonal(diag)
	return nil
}

// rowInverse represents P if the factor X of G has fewer rows than features, by
//
//	P = (I − XᵀK⁻¹X)/λ,   W = XᵀK⁻¹U,   K = XXᵀ + λI,
//
// so that the order of K is the number of rows. With more features than rows, features are dependent and P_ii is about
// as large as 1/λ. So the subtraction loses no precision, as it would with fewer features than rows.
type rowInverse struct {
	team   *kernel.Team
	g      *gram.Matrix
	lambda float64
	u      kernel.Matrix[float64] // U, rows×c

	data    []float64              // memory of x
	x       kernel.Matrix[float64] // the remaining features, one in each row
	k, half kernel.Matrix[float64] // K, upper triangle, and L⁻¹ of K = LLᵀ
	y       kernel.Matrix[float64] // K⁻¹U
	chol    linalg.Cholesky
	column  []float64 // K⁻¹ times a row of x
	block   []float64 // blockFeatures rows: L⁻¹X for some features, or the removed features
}

func isWide(rank, features int) bool { return rank > 0 && features > 2*rank }

func (b *rowInverse) layOut(l *room.Layout, d, rank, c int) {
	b.u, b.y = kernel.NewMatrix[float64](l, rank, c), kernel.NewMatrix[float64](l, rank, c)
	b.k, b.half = kernel.NewMatrix[float64](l, rank, rank), kernel.NewMatrix[float64](l, rank, rank)
	b.chol.LayOut(l, rank)
	b.data, b.column = room.Slice[float64](l, d*rank), room.Slice[float64](l, rank)
	b.block = room.Slice[float64](l, min(blockFeatures, d)*rank)
}

func (b *rowInverse) computeForFeatures(features []int, diag, w []float64) error {
	n, rank, c := len(features), b.g.Rank, b.u.Cols
	b.x = copyFeatureRows(b.data, b.g, features)
	clear(b.k.Data)
	kernel.Syrk(b.team, 1, b.x.Trans(), b.k)
	for i := range rank {
		b.k.Data[i*rank+i] += b.lambda
	}
	if err := b.factorizeK(); err != nil {
		return err
	}
	b.chol.SolveTo(b.team, b.y, b.u)
	clear(w)
	kernel.Gemm(b.team, 1, b.x, b.y, kernel.RowMajor(w, n, c, c))

	b.chol.HalfInverseTo(b.team, b.half)
	for from := 0; from < n; from += blockFeatures {
		h := min(blockFeatures, n-from)
		clear(b.block)
		kernel.Gemm(b.team, 1, b.x.Sub(from, 0, h, rank), b.half.Trans(), kernel.RowMajor(b.block, h, rank, rank))
		for i := range h {
			row := b.block[i*rank:][:rank]
			diag[from+i] = (1 - kernel.Dot(row, row)) / b.lambda
		}
	}
	return nil
}

func (b *rowInverse) factorizeK() error {
	if err := b.chol.Factor(b.team, b.k); err != nil {
		return fmt.Errorf("u2fs: regression on %d features: %w", b.x.Rows, err)
	}
	return nil
}

func (b *rowInverse) copyColumnTo(v []float64, column int) {
	rank := b.g.Rank
	copy(b.column, b.x.Data[column*rank:])
	z := kernel.RowMajor(b.column, rank, 1, 1)
	b.chol.SolveTo(b.team, z, z)
	for i := range b.column {
		b.column[i] /= -b.lambda
	}
	clear(v)
	kernel.Gemv(b.team.Threads(), b.x.Rows, rank, b.x.Data, rank, b.column, v)
	v[column] += 1 / b.lambda
}

// keepFeatures subtracts the products of the removed features from K. diag is already the diagonal after the removals.
func (b *rowInverse) keepFeatures(v kernel.Matrix[float64], stay []int, diag []float64) error {
	rank, next, removed := b.g.Rank, 0, b.block[:0]
	for i := range b.x.Rows {
		row := b.x.Data[i*rank:][:rank]
		if next == len(stay) || stay[next] != i {
			removed = append(removed, row...)
			continue
		}
		copy(b.x.Data[next*rank:], row) // no row is overwritten before it is copied
		diag[next] = diag[i]
		next++
	}
	b.x = b.x.Sub(0, 0, next, rank)
	kernel.Syrk(b.team, -1, kernel.RowMajor(removed, v.Rows, rank, rank).Trans(), b.k)
	return b.factorizeK()
}
