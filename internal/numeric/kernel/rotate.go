package kernel

import "unsafe"

// RotateWidth is the number of columns of the panel of [RotateRows].
const RotateWidth = 32

// RotateRows applies plane rotations to neighbouring rows of a row-major panel of [RotateWidth] columns. Rotation i
// replaces x, in row first + i, and y, in the next row, by c[i]·x + s[i]·y and c[i]·y − s[i]·x. The next rotation uses
// the result. If back is set, rows are visited in descending order: x is then in row first − i. RotateRows costs 6
// flops for each rotation and column, and reads each row once.
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

// rotateGo implements isa.rotate for eight columns at a time. Their operations are independent, and overlap.
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
