//go:build !purego

package kernel

import "unsafe"

// machinePaths asks nobody: every arm64 processor has NEON.
func machinePaths() []*isa { return []*isa{&neon} }

// Tiles are 4×6 vectors: 24 sums and their factors fill the 32 registers, and both panels
// are multiples of 4.
var neon = isa{
	name: "neon",
	f64:  micro[float64]{mr: 4, nr: 12, mul: mulF64NEON, transpose: transposeF64NEON, copy: copyNEON},
	f32:  micro[float32]{mr: 4, nr: 24, mul: mulF32NEON, transpose: transposeF32NEON, copy: copyNEON},

	dot: dotGo, axpy: axpyFMA, gather: gatherNEON, squares: squaresGo, below: belowGo, rotate: rotateGo,
}

func axpyFMA(alpha float64, x, y []float64) {
	y = y[:len(x)]
	if len(x) > 0 {
		var first int32
		axpyRowsNEON(1, 1, &first, &alpha, &x[0], 0, len(x), &y[0], 0)
	}
}

func gatherNEON(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int) {
	from := unsafe.Slice(starts, columns+1)
	row, weight := unsafe.Slice(rows, from[columns]), unsafe.Slice(weights, from[columns])
	for j := range columns {
		var first int32
		for e := from[j]; e < from[j+1]; e++ {
			axpyRowsNEON(1, 1, &first, &weight[e], (*float64)(unsafe.Add(unsafe.Pointer(x), 8*int(row[e])*ldx)), 0, width,
				(*float64)(unsafe.Add(unsafe.Pointer(c), 8*j*ldc)), 0)
		}
	}
}
