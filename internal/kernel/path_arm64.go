//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// machinePaths returns the instruction sets of the processor. Every arm64 processor has NEON, but not all have dot
// products of bytes.
func machinePaths() []*isa {
	if cpu.ARM64.HasASIMDDP {
		return []*isa{&neonDot, &neon}
	}
	return []*isa{&neon}
}

// Tiles are 4×6 vectors: 24 sums and their factors fill the 32 registers, and both panels
// are multiples of 4.
var neon = isa{
	name: "neon",
	f64:  micro[float64]{mr: 4, nr: 12, mul: mulF64NEON, transpose: transposeF64NEON, copy: copyNEON},
	f32:  micro[float32]{mr: 4, nr: 24, mul: mulF32NEON, transpose: transposeF32NEON, copy: copyNEON},

	whole: integers{mr: 4, nr: 16, mul: mulIntsNEON, wholes: wholesNEON},

	dot: dotVector, axpy: axpyFMA, gather: gatherNEON, squares: squaresVector, narrow: narrowNEON, below: belowVector, lowest: lowestNEON, shift: shiftNEON, standardize: standardizeNEON, rotate: rotateNEON,
}

// neonDot multiplies bytes by SDOT, and whole numbers as two bytes. Without SDOT anchors are screened in float32.
var neonDot = withDot(neon)

func withDot(i isa) isa {
	i.name = "neondot"
	i.whole.nr, i.whole.mul = 8, mulIntsDot
	i.coarse = coarseCode{nr: 8, most: 127, mul: mulBytesDot, flip: flipNEON, mix: mixNEON, widest: widestNEON, quantise: quantiseNEON, dots: dotsDot}
	return i
}

func dotVector(x, y []float64) float64 {
	y = y[:len(x)]
	if len(x) == 0 {
		return 0
	}
	return dotNEON(len(x)/16, &x[0], &y[0], len(x)%16)
}

func axpyFMA(alpha float64, x, y []float64) {
	y = y[:len(x)]
	if len(x) > 0 {
		one, row := [2]int32{0, 1}, int32(0)
		gatherNEON(1, &one[0], &row, &alpha, &x[0], 0, len(x), &y[0], 0)
	}
}

func squaresVector(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64) {
	if blocks == 0 {
		return 0, 0
	}
	return squaresNEON(blocks, &x[0], &y[0], &z[0], &nextY[0], &nextZ[0])
}

func belowVector(c, slack []float32, norm, limit float32, from, n int) int {
	return belowNEON(&c[0], &slack[0], norm, limit, from, n)
}
