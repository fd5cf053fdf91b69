package linalg

import (
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// matrixForm is a way to store a symmetric matrix A, with the operations that [Smallest] needs. Vectors are rows.
type matrixForm interface {
	// addProduct adds X·A to Y.
	addProduct(y, x kernel.Matrix[float64])
	// factorShifted factors B = A − σI + VᵀV, with the shift sigma for σ. It returns nil if B is not positive definite.
	// The factor is valid until the next call.
	factorShifted(sigma float64, v kernel.Matrix[float64]) shiftedFactor
	// completeVectors computes the redundant numbers at the end of each row from the numbers before them. A form has these
	// if it uses more numbers for a vector than the vector has coordinates.
	completeVectors(x kernel.Matrix[float64])
	// measureResiduals writes the lengths of the residuals in r to lengths. It may replace a row by another that
	// represents the same residual.
	measureResiduals(r kernel.Matrix[float64], lengths []float64)
}

// shiftedFactor is the factor of a matrix B = A − σI + VᵀV.
type shiftedFactor interface {
	// solveRows overwrites the rows of X with X·B⁻¹.
	solveRows(x kernel.Matrix[float64])
	// inverseGram writes V·B⁻¹·Vᵀ to the upper triangle of g. It may overwrite v, which must be V.
	inverseGram(g, v kernel.Matrix[float64])
}

type fullMatrix struct {
	n    int
	team *kernel.Team
	a    []float64    // A, scaled by a power of 2; both triangles, n×n
	u    []float64    // the factor U of B = UᵀU; also the scratch of the dense solver
	rows [2][]float64 // scratch: two numbers for each row
}

// layOutFull takes the memory of a full matrix of order n from l.
func layOutFull(l *room.Layout, team *kernel.Team, n int) fullMatrix {
	return fullMatrix{n, team, room.Slice[float64](l, n*n), room.Slice[float64](l, n*n), [2][]float64{room.Slice[float64](l, n), room.Slice[float64](l, n)}}
}

func (f *fullMatrix) matrixView() kernel.Matrix[float64] { return kernel.RowMajor(f.a, f.n, f.n, f.n) }
func (f *fullMatrix) factorView() kernel.Matrix[float64] { return kernel.RowMajor(f.u, f.n, f.n, f.n) }

func (f *fullMatrix) addProduct(y, x kernel.Matrix[float64]) {
	kernel.Gemm(f.team, 1, x, f.matrixView(), y)
}

func (f *fullMatrix) factorShifted(sigma float64, v kernel.Matrix[float64]) shiftedFactor {
	n := f.n
	for i := range n {
		copy(f.u[i*n+i:(i+1)*n], f.a[i*n+i:])
		f.u[i*n+i] -= sigma
	}
	if v.Rows > 0 {
		kernel.Syrk(f.team, 1, v.Trans(), f.factorView())
	}
	if at, _ := factorUpper(f.team, f.factorView()); at >= 0 {
		return nil
	}
	return f
}

func (f *fullMatrix) solveRows(x kernel.Matrix[float64]) {
	solveTrans(f.team, f.factorView(), false, x.Trans())
	solveUpper(f.team, f.factorView(), false, x.Trans())
}

func (f *fullMatrix) inverseGram(g, v kernel.Matrix[float64]) {
	solveTrans(f.team, f.factorView(), false, v.Trans())
	kernel.Syrk(f.team, 1, v, g)
}

func (f *fullMatrix) completeVectors(kernel.Matrix[float64]) {}
func (f *fullMatrix) measureResiduals(r kernel.Matrix[float64], lengths []float64) {
	writeRowLengths(r, lengths)
}

func writeRowLengths(r kernel.Matrix[float64], lengths []float64) {
	for i := range r.Rows {
		lengths[i] = norm2(r.Data[i*r.RowStride:][:r.Cols])
	}
}

// RowNorms returns the Euclidean lengths of the rows of a row-major matrix with the given number of columns.
func RowNorms(x []float64, columns int) []float64 {
	norms := make([]float64, len(x)/columns)
	writeRowLengths(kernel.RowMajor(x, len(norms), columns, columns), norms)
	return norms
}

// Symmetrize replaces the entries of a row-major square matrix by the means of the matrix and its transpose.
func Symmetrize(x kernel.Matrix[float64]) {
	for i := range x.Rows {
		for j := range i {
			mean := (x.Data[i*x.RowStride+j] + x.Data[j*x.RowStride+i]) / 2
			x.Data[i*x.RowStride+j], x.Data[j*x.RowStride+i] = mean, mean
		}
	}
}

// PermuteSymmetric permutes the rows and the columns of a symmetric d×d matrix in place: its new column i is its old column
// order[i]. It overwrites row, d numbers, and isPlaced, which must be false for each row.
func PermuteSymmetric(matrix []float64, order []int, row []float64, isPlaced []bool) {
	d := len(order)
	for i := range d { // columns, row by row
		old := matrix[i*d:][:d]
		copy(row, old)
		for j := range old {
			old[j] = row[order[j]]
		}
	}
	for first := range d { // rows, cycle by cycle
		if isPlaced[first] {
			continue
		}
		copy(row, matrix[first*d:][:d])
		i := first
		for ; order[i] != first; i = order[i] {
			copy(matrix[i*d:][:d], matrix[order[i]*d:][:d])
			isPlaced[i] = true
		}
		copy(matrix[i*d:][:d], row)
		isPlaced[i] = true
	}
}

// MultiplyMatrices returns the product AB as a new row-major matrix without gaps.
func MultiplyMatrices(team *kernel.Team, a, b kernel.Matrix[float64]) kernel.Matrix[float64] {
	c := kernel.NewMatrix[float64](nil, a.Rows, b.Cols)
	kernel.Gemm(team, 1, a, b, c)
	return c
}

// MultiplyTo writes alpha·AB to dst, which must have no gaps and not overlap A or B.
func MultiplyTo(team *kernel.Team, dst kernel.Matrix[float64], alpha float64, a, b kernel.Matrix[float64]) {
	clear(dst.Data)
	kernel.Gemm(team, alpha, a, b, dst)
}
