package linalg

import "github.com/ufs-stream/ufs-stream/internal/numeric/kernel"

// The functions below receive a triangle as a view U that is upper triangular; a lower triangle L is passed as its
// transpose Lᵀ. They neither read nor write elements below the diagonal of the view. Two solves then cover all sixteen
// cases of BLAS's xTRSM: B ← U⁻ᵀ·B starts at the first row of B, and B ← U⁻¹·B at the last row. A triangle that
// multiplies B from the right is passed together with Bᵀ.

const (
	// leafOrder is the order at which the recursion ends in plain loops. In a solve with n rows, these scalar loops do
	// leafOrder/n of all flops. For products of fewer than leafOrder terms, packing would cost more than it saves.
	leafOrder = 8
	// columnsPerTask is the number of columns of B for which a worker solves a leaf at a time, in about 20 µs.
	columnsPerTask = 1024
)

// halfOrder returns the size of the first of two parts of n > leafOrder rows, a multiple of leafOrder near n/2.
func halfOrder(n int) int { return (n/2 + leafOrder - 1) / leafOrder * leafOrder }

// solveTrans overwrites the n×m matrix B, row- or column-major, by U⁻ᵀ·B in n²·m flops. If unit is set, U's diagonal is
// 1.
func solveTrans(team *kernel.Team, u kernel.Matrix[float64], unit bool, b kernel.Matrix[float64]) {
	n, m := b.Rows, b.Cols
	if n == 0 || m == 0 {
		return
	}
	if n <= leafOrder {
		eachColumnBlock(team, u, b, unit, solveTransLeaf)
		return
	}
	h := halfOrder(n)
	solveTrans(team, u.Sub(0, 0, h, h), unit, b.Sub(0, 0, h, m))
	kernel.Gemm(team, -1, u.Sub(0, h, h, n-h).Trans(), b.Sub(0, 0, h, m), b.Sub(h, 0, n-h, m))
	solveTrans(team, u.Sub(h, h, n-h, n-h), unit, b.Sub(h, 0, n-h, m))
}

// solveUpper overwrites the n×m matrix B, row- or column-major, by U⁻¹·B in n²·m flops. If unit is set, U's diagonal is
// 1.
func solveUpper(team *kernel.Team, u kernel.Matrix[float64], unit bool, b kernel.Matrix[float64]) {
	n, m := b.Rows, b.Cols
	if n == 0 || m == 0 {
		return
	}
	if n <= leafOrder {
		eachColumnBlock(team, u, b, unit, solveUpperLeaf)
		return
	}
	h := halfOrder(n)
	solveUpper(team, u.Sub(h, h, n-h, n-h), unit, b.Sub(h, 0, n-h, m))
	kernel.Gemm(team, -1, u.Sub(0, h, h, n-h), b.Sub(h, 0, n-h, m), b.Sub(0, 0, h, m))
	solveUpper(team, u.Sub(0, 0, h, h), unit, b.Sub(0, 0, h, m))
}

func eachColumnBlock(team *kernel.Team, u, b kernel.Matrix[float64], unit bool, solveLeaf func(u kernel.Matrix[float64], unit bool, b kernel.Matrix[float64])) {
	if b.Cols <= columnsPerTask {
		solveLeaf(u, unit, b)
		return
	}
	kernel.Each(team.Threads(), (b.Cols+columnsPerTask-1)/columnsPerTask, func(i int) {
		solveLeaf(u, unit, b.Sub(0, i*columnsPerTask, b.Rows, min(columnsPerTask, b.Cols-i*columnsPerTask)))
	})
}

// leafTriangle contains the triangle U of a leaf of the recursion, row by row.
type leafTriangle [leafOrder * leafOrder]float64

func (t *leafTriangle) loadLeaf(u kernel.Matrix[float64], unit bool) {
	for i := range u.Rows {
		t[i*leafOrder+i] = 1
		if !unit {
			t[i*leafOrder+i] = u.Data[i*(u.RowStride+u.ColStride)]
		}
		for j := i + 1; j < u.Cols; j++ {
			t[i*leafOrder+j] = u.Data[i*u.RowStride+j*u.ColStride]
		}
	}
}

func solveTransLeaf(u kernel.Matrix[float64], unit bool, b kernel.Matrix[float64]) {
	var t leafTriangle
	t.loadLeaf(u, unit)
	rs, cs := b.RowStride, b.ColStride
	if b.Rows != leafOrder {
		for j := range b.Cols {
			x := b.Data[j*cs:]
			for i := range b.Rows {
				s := x[i*rs]
				for k := range i {
					s -= t[k*leafOrder+i] * x[k*rs]
				}
				x[i*rs] = s / t[i*leafOrder+i]
			}
		}
		return
	}
	for j := range b.Cols {
		x := b.Data[j*cs:]
		x0 := x[0] / t[0]
		x1 := (x[rs] - t[1]*x0) / t[9]
		x2 := (x[2*rs] - t[2]*x0 - t[10]*x1) / t[18]
		x3 := (x[3*rs] - t[3]*x0 - t[11]*x1 - t[19]*x2) / t[27]
		x4 := (x[4*rs] - t[4]*x0 - t[12]*x1 - t[20]*x2 - t[28]*x3) / t[36]
		x5 := (x[5*rs] - t[5]*x0 - t[13]*x1 - t[21]*x2 - t[29]*x3 - t[37]*x4) / t[45]
		x6 := (x[6*rs] - t[6]*x0 - t[14]*x1 - t[22]*x2 - t[30]*x3 - t[38]*x4 - t[46]*x5) / t[54]
		x7 := (x[7*rs] - t[7]*x0 - t[15]*x1 - t[23]*x2 - t[31]*x3 - t[39]*x4 - t[47]*x5 - t[55]*x6) / t[63]
		x[0], x[rs], x[2*rs], x[3*rs] = x0, x1, x2, x3
		x[4*rs], x[5*rs], x[6*rs], x[7*rs] = x4, x5, x6, x7
	}
}

func solveUpperLeaf(u kernel.Matrix[float64], unit bool, b kernel.Matrix[float64]) {
	var t leafTriangle
	t.loadLeaf(u, unit)
	rs, cs := b.RowStride, b.ColStride
	if b.Rows != leafOrder {
		for j := range b.Cols {
			x := b.Data[j*cs:]
			for i := b.Rows - 1; i >= 0; i-- {
				s := x[i*rs]
				for k := i + 1; k < b.Rows; k++ {
					s -= t[i*leafOrder+k] * x[k*rs]
				}
				x[i*rs] = s / t[i*leafOrder+i]
			}
		}
		return
	}
	for j := range b.Cols {
		x := b.Data[j*cs:]
		x7 := x[7*rs] / t[63]
		x6 := (x[6*rs] - t[55]*x7) / t[54]
		x5 := (x[5*rs] - t[47]*x7 - t[46]*x6) / t[45]
		x4 := (x[4*rs] - t[39]*x7 - t[38]*x6 - t[37]*x5) / t[36]
		x3 := (x[3*rs] - t[31]*x7 - t[30]*x6 - t[29]*x5 - t[28]*x4) / t[27]
		x2 := (x[2*rs] - t[23]*x7 - t[22]*x6 - t[21]*x5 - t[20]*x4 - t[19]*x3) / t[18]
		x1 := (x[rs] - t[15]*x7 - t[14]*x6 - t[13]*x5 - t[12]*x4 - t[11]*x3 - t[10]*x2) / t[9]
		x0 := (x[0] - t[7]*x7 - t[6]*x6 - t[5]*x5 - t[4]*x4 - t[3]*x3 - t[2]*x2 - t[1]*x1) / t[0]
		x[0], x[rs], x[2*rs], x[3*rs] = x0, x1, x2, x3
		x[4*rs], x[5*rs], x[6*rs], x[7*rs] = x4, x5, x6, x7
	}
}
