//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// machineInstructionSets returns the instruction sets that the processor supports. Every arm64 processor has NEON, but
// not every one has the instructions for dot products of bytes.
func machineInstructionSets() []*isa {
	if cpu.ARM64.HasASIMDDP {
		return []*isa{&neonDot, &neon}
	}
	return []*isa{&neon}
}

// Tiles are 4×6 vectors: 24 sums and their factors fill the 32 registers, and both panels have a multiple of 4 rows.
var neon = isa{
	name: "neon",
	f64:  micro[float64]{mr: 4, nr: 12, mul: mulF64NEON, transpose: transposeF64NEON, copy: copyNEON},
	f32:  micro[float32]{mr: 4, nr: 24, mul: mulF32NEON, transpose: transposeF32NEON, copy: copyNEON},

	integer: integerCode{mr: 4, nr: 16, mul: mulIntsNEON, toInt16: wholesNEON},

	dot: dotVector, axpy: axpyFMA, gatherRows: gatherNEON, squaredDistances: squaredDistancesVector, narrowRows: narrowNEON, firstNotAbove: firstNotAboveVector, lowestBounds: lowestNEON, shiftColumn: shiftNEON, standardize: standardizeNEON, rotate: rotateNEON,
}

// neonDot multiplies bytes by the instruction SDOT, and integers as two bytes each. Without SDOT float32 is used.
var neonDot = withByteDots(neon)

func withByteDots(i isa) isa {
	i.name = "neondot"
	i.integer.nr, i.integer.mul = 8, mulIntsDot
	i.coarse = coarseCode{nr: 8, maxNumber: 127, mul: mulBytesDot, flipSigns: flipNEON, mixDimensions: mixNEON, largestMagnitudes: widestNEON, quantise: quantiseNEON, dotProducts: dotsDot}
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

func squaredDistancesVector(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64) {
	if blocks == 0 {
		return 0, 0
	}
	return squaresNEON(blocks, &x[0], &y[0], &z[0], &nextY[0], &nextZ[0])
}

func firstNotAboveVector(c, slack []float32, norm, limit float32, from, n int) int {
	return belowNEON(&c[0], &slack[0], norm, limit, from, n)
}
