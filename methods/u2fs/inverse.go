package u2fs

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// featureInverse represents P = (XᵀX + λI)⁻¹ for the n features that remained at the start of a block of removals.
type featureInverse interface {
	// computeForFeatures computes P for the listed features, ascending. It returns its diagonal, and W = PXᵀU, row-major.
	computeForFeatures(features []int) (diag, w []float64, err error)
	// writeColumn writes a column of P to v. The parameter `at` is the index of the column.
	writeColumn(v []float64, at int)
	// keepFeatures replaces P by P − VᵀV, V being the matrix v with a row for each removed feature. Then it reduces P to
	// the features whose indices, ascending, are in the parameter stay. The argument diag is the diagonal of P after these
	// removals. The result is the diagonal of the reduced P.
	keepFeatures(v kernel.Matrix[float64], stay []int, diag []float64) ([]float64, error)
}

// fullInverse stores P as n×n numbers for the n remaining features.
type fullInverse struct {
	team    *kernel.Team
	g       *gram.Matrix
	lambda  float64
	targets kernel.Matrix[float64] // XᵀU, d×c
	n       int
	p       []float64
}

func (f *fullInverse) computeForFeatures(features []int) (diag, w []float64, err error) {
	n, c := len(features), f.targets.Cols
	f.n = n
	a := f.selectedGram(features)
	for i := range n {
		a.Data[i*n+i] += f.lambda
	}
	var chol linalg.Cholesky
	if err := chol.Factor(f.team, a); err != nil {
		return nil, nil, fmt.Errorf("u2fs: regression on %d features: %w", n, err)
	}
	chol.HalfInverseTo(f.team, a)
	if cap(f.p) < n*n {
		f.p = make([]float64, n*n)
	}
	f.p = f.p[:n*n]
	clear(f.p)
	p := kernel.RowMajor(f.p, n, n, n)
	kernel.Syrk(f.team, 1, a.Trans(), p)
	kernel.MirrorUpper(f.team.Threads(), p)
	w = make([]float64, n*c)
	for i, j := range features {
		copy(w[i*c:][:c], f.targets.Data[j*c:][:c])
	}
	m := kernel.RowMajor(w, n, c, c)
	chol.SolveTo(f.team, m, m)
	return f.inverseDiagonal(), w, nil
}

func (f *fullInverse) selectedGram(features []int) kernel.Matrix[float64] {
	n := len(features)
	a := kernel.RowMajor(make([]float64, n*n), n, n, n)
	if !f.g.IsFactor() {
		for i, j := range features {
			for k, l := range features {
				a.Data[i*n+k] = f.g.Sym[j*f.g.D+l]
			}
		}
		return a
	}
	x := featureRows(f.g, features)
	kernel.Syrk(f.team, 1, x, a)
	kernel.MirrorUpper(f.team.Threads(), a)
	return a
}

func featureRows(g *gram.Matrix, features []int) kernel.Matrix[float64] {
	x := kernel.RowMajor(make([]float64, len(features)*g.Rank), len(features), g.Rank, g.Rank)
	for i, j := range features {
		copy(x.Data[i*g.Rank:][:g.Rank], g.R[j*g.Rank:])
	}
	return x
}

func (f *fullInverse) inverseDiagonal() []float64 {
	diag := make([]float64, f.n)
	for i := range diag {
		diag[i] = f.p[i*f.n+i]
	}
	return diag
}

func (f *fullInverse) writeColumn(v []float64, column int) { copy(v, f.p[column*f.n:][:f.n]) }

func (f *fullInverse) keepFeatures(v kernel.Matrix[float64], kept []int, _ []float64) ([]float64, error) {
	n, most := f.n, len(kept)
	kernel.Syrk(f.team, -1, v.Trans(), kernel.RowMajor(f.p, n, n, n))
	for a, i := range kept { // no entry is overwritten before it is moved
		for b, j := range kept[a:] {
			f.p[a*most+a+b] = f.p[i*n+j]
		}
	}
	f.n, f.p = most, f.p[:most*most]
	kernel.MirrorUpper(f.team.Threads(), kernel.RowMajor(f.p, most, most, most))
	return f.inverseDiagonal(), nil
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

	x    kernel.Matrix[float64] // the remaining features, one in each row
	k    kernel.Matrix[float64] // K, upper triangle
	chol linalg.Cholesky
	room []float64
}

func isWide(g *gram.Matrix, features int) bool { return g.IsFactor() && features > 2*g.Rank }

func (b *rowInverse) computeForFeatures(features []int) (diag, w []float64, err error) {
	n, rank, c := len(features), b.g.Rank, b.u.Cols
	b.x = featureRows(b.g, features)
	b.k = kernel.RowMajor(make([]float64, rank*rank), rank, rank, rank)
	kernel.Syrk(b.team, 1, b.x.Trans(), b.k)
	for i := range rank {
		b.k.Data[i*rank+i] += b.lambda
	}
	if err := b.factorizeK(); err != nil {
		return nil, nil, err
	}
	y := kernel.RowMajor(make([]float64, rank*c), rank, c, c)
	b.chol.SolveTo(b.team, y, b.u)
	w = make([]float64, n*c)
	kernel.Gemm(b.team, 1, b.x, y, kernel.RowMajor(w, n, c, c))

	half := kernel.RowMajor(make([]float64, rank*rank), rank, rank, rank) // L⁻¹ of K = LLᵀ
	b.chol.HalfInverseTo(b.team, half)
	diag = make([]float64, n)
	lx := make([]float64, min(blockFeatures, n)*rank)
	for from := 0; from < n; from += blockFeatures {
		h := min(blockFeatures, n-from)
		clear(lx)
		kernel.Gemm(b.team, 1, b.x.Sub(from, 0, h, rank), half.Trans(), kernel.RowMajor(lx, h, rank, rank))
		for i := range h {
			row := lx[i*rank:][:rank]
			diag[from+i] = (1 - kernel.Dot(row, row)) / b.lambda
		}
	}
	return diag, w, nil
}

func (b *rowInverse) factorizeK() error {
	if err := b.chol.Factor(b.team, b.k); err != nil {
		return fmt.Errorf("u2fs: regression on %d features: %w", b.x.Rows, err)
	}
	return nil
}

func (b *rowInverse) writeColumn(v []float64, column int) {
	rank := b.g.Rank
	b.room = append(b.room[:0], b.x.Data[column*rank:][:rank]...)
	z := kernel.RowMajor(b.room, rank, 1, 1)
	b.chol.SolveTo(b.team, z, z)
	for i := range b.room {
		b.room[i] /= -b.lambda
	}
	clear(v)
	kernel.Gemv(b.team.Threads(), b.x.Rows, rank, b.x.Data, rank, b.room, v)
	v[column] += 1 / b.lambda
}

// keepFeatures subtracts the products of the removed features from K. diag is already the diagonal after the removals.
func (b *rowInverse) keepFeatures(v kernel.Matrix[float64], stay []int, diag []float64) ([]float64, error) {
	rank, next := b.g.Rank, 0
	removed := kernel.RowMajor(make([]float64, 0, v.Rows*rank), v.Rows, rank, rank)
	for i := range b.x.Rows {
		row := b.x.Data[i*rank:][:rank]
		if next == len(stay) || stay[next] != i {
			removed.Data = append(removed.Data, row...)
			continue
		}
		copy(b.x.Data[next*rank:], row) // no row is overwritten before it is copied
		diag[next] = diag[i]
		next++
	}
	b.x = b.x.Sub(0, 0, next, rank)
	kernel.Syrk(b.team, -1, removed.Trans(), b.k)
	return diag[:next], b.factorizeK()
}
