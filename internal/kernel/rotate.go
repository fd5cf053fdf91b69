package kernel

import "unsafe"

// RotateWidth is the number of columns of [Rotate]'s panel.
const RotateWidth = 32

// RotateRows applies plane rotations to the rows of a panel of [RotateWidth] columns, row-major: the i-th turns x, in row
// first ± i, and y, in the row after it, into c[i]·x + s[i]·y and c[i]·y − s[i]·x, which the next one turns further.
// Rows go up, or down if back is set. Costs 6 flops a rotation and column, without a second reading of a row.
func RotateRows(c, s, panel []float64, first int, back bool) {
	if len(c) == 0 {
		return
	}
	last, step := first+len(c), RotateWidth
	if back {
		last, step = first-len(c), -step
	}
	_, _ = s[len(c)-1], panel[last*RotateWidth:][:RotateWidth]
	best.rotate(len(c), &c[0], &s[0], &panel[first*RotateWidth], step)
}

// rotateGo is isa.rotate, on eight columns at a time, whose rotations do not wait for each other.
func rotateGo(n int, c, s, panel *float64, step int) {
	cs, ss := unsafe.Slice(c, n), unsafe.Slice(s, n)
	at := func(row, column int) *[8]float64 {
		return (*[8]float64)(unsafe.Add(unsafe.Pointer(panel), 8*(row*step+column)))
	}
	for column := 0; column < RotateWidth; column += 8 {
		carry := *at(0, column)
		for i, c := range cs {
			s, x, y := ss[i], at(i, column), at(i+1, column)
			for j, v := range y {
				x[j] = float64(c*carry[j]) + float64(s*v)
				carry[j] = float64(c*v) - float64(s*carry[j])
			}
		}
		*at(n, column) = carry
	}
}
