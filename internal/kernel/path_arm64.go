//go:build !purego

package kernel

import "unsafe"

// machinePaths asks nobody: every arm64 processor has NEON.
func machinePaths() []*isa { return []*isa{&neon} }

// Tiles are 4×6 vectors: 24 sums and what feeds them fill the 32 registers, and both
// panels are multiples of 4.
var neon = isa{
	name: "neon",
	f64:  micro[float64]{mr: 4, nr: 12, mul: mulF64NEON, transpose: transposeF64NEON, copy: copyF64},
	f32:  micro[float32]{mr: 4, nr: 24, mul: mulF32NEON, transpose: transposeF32NEON, copy: copyF32},

	dot: dotGo, axpy: axpyFMA, axpyRows: axpyRowsNEON, squares: squaresGo, below: belowGo,
}

func copyF64(k int, src *float64, stride int, dst *float64, width int) {
	copyNEON(k, (*byte)(unsafe.Pointer(src)), 8*stride, (*byte)(unsafe.Pointer(dst)), width/2)
}

func copyF32(k int, src *float32, stride int, dst *float32, width int) {
	copyNEON(k, (*byte)(unsafe.Pointer(src)), 4*stride, (*byte)(unsafe.Pointer(dst)), width/4)
}

func axpyFMA(alpha float64, x, y []float64) {
	y = y[:len(x)]
	if len(x) > 0 {
		var first int32
		axpyRowsNEON(1, 1, &first, &alpha, &x[0], 0, len(x), &y[0], 0)
	}
}
