//go:build !purego

package kernel

import (
	"math"

	"golang.org/x/sys/cpu"
)

// machineInstructionSets returns the instruction sets that the processor supports. AVX-512 here requires its extension
// F and, for integers, its extension BW. Package x/sys/cpu has checked that the operating system saves the registers.
func machineInstructionSets() []*isa {
	var found []*isa
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW {
			if cpu.X86.HasAVX512VNNI {
				found = append(found, &avx512VNNI)
			}
			found = append(found, &avx512)
		}
		if cpu.X86.HasAVXVNNI {
			found = append(found, &avxVNNI)
		}
		found = append(found, &avx2)
	}
	return found
}

// Tiles have 8×3 vectors for AVX-512 and 4×3 vectors for AVX2, whose sums fit into 32 and 16 registers. Of the shapes
// that fit and whose panels have a multiple of 4 rows, these load the fewest bytes for a multiplication.
var avx512 = isa{
	name: "avx512",
	f64:  micro[float64]{mr: 8, nr: 24, mul: mulF64AVX512, transpose: transposeF64AVX2, copy: copyAVX2, thin: thinAVX512, thinCols: 16},
	f32:  micro[float32]{mr: 8, nr: 48, mul: mulF32AVX512, transpose: transposeF32AVX2, copy: copyAVX2},

	integer: integerCode{mr: 8, nr: 48, mul: mulIntsAVX512, toInt16: wholesAVX2, prefetch: fetchAVX2},
	coarse:  newCoarseCodeAVX2(48, maxRowNumber, mulBytesAVX512, dotsAVX512),

	dot: dotFMA, axpy: axpyFMA, gatherRows: gatherAVX2, squaredDistances: squaredDistancesVector, narrowRows: narrowAVX2, firstNotAbove: firstNotAboveVector, lowestBounds: lowestAVX512, findWithin: withinAVX512, shiftColumn: shiftAVX2, standardize: standardizeAVX2, lookup: lookupAVX2, allFinite: finiteAVX2,
	wholeRange: wholeRangeAVX2, toLowBytes: lowBytesAVX2, fromBytes: ofBytesAVX2, allSingles: allSinglesAVX2, toSingles: singlesAVX2, fromSingles: ofSinglesAVX2, rotate: rotateAVX512,
}

// maxRowNumber is the largest magnitude of a row's numbers for which a sum of two products with unsigned bytes,
// 2·255·64, fits an int16.
const maxRowNumber = 64

func newCoarseCodeAVX2(nr, most int, mul byteTileProduct, dots byteDotProducts) coarseCode {
	return coarseCode{nr: nr, maxNumber: most, offset: 128, mul: mul, flipSigns: flipAVX2, mixDimensions: mixAVX2, largestMagnitudes: widestAVX2, quantise: quantiseAVX2, dotProducts: dots}
}

// avx512VNNI multiplies integers by the instruction VPDPWSSD, and bytes by VPDPBUSD.
var avx512VNNI = withVNNI(avx512, "avx512vnni", mulIntsVNNI, mulBytesVNNI, dotsVNNI)

// avxVNNI uses the same instructions as avx512VNNI, on registers of 32 bytes.
var avxVNNI = withVNNI(avx2, "avxvnni", mulIntsAVXVNNI, mulBytesAVXVNNI, dotsAVXVNNI)

func withVNNI(i isa, name string, ints func(pairs int, a, b *int16, c *float64, ldc int), bytes byteTileProduct, dots byteDotProducts) isa {
	i.name, i.integer.mul, i.coarse.mul, i.coarse.dotProducts, i.coarse.maxNumber = name, ints, bytes, dots, 127
	return i
}

type byteTileProduct = func(quads int, a, b *byte, step *[lanes]float32, shift *[lanes]int32, half, factor, c *float32, ldc int)

type byteDotProducts = func(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32)

var avx2 = isa{
	name: "avx2",
	f64:  micro[float64]{mr: 4, nr: 12, mul: mulF64AVX2, transpose: transposeF64AVX2, copy: copyAVX2, thin: thinAVX2, thinCols: 12},
	f32:  micro[float32]{mr: 4, nr: 24, mul: mulF32AVX2, transpose: transposeF32AVX2, copy: copyAVX2},

	integer: integerCode{mr: 4, nr: 16, mul: mulIntsAVX2, toInt16: wholesAVX2, prefetch: fetchAVX2},
	coarse:  newCoarseCodeAVX2(8, maxRowNumber, mulBytesAVX2, dotsAVX2),

	dot: dotFMA, axpy: axpyFMA, gatherRows: gatherAVX2, squaredDistances: squaredDistancesVector, narrowRows: narrowAVX2, firstNotAbove: firstNotAboveVector, lowestBounds: lowestAVX2, shiftColumn: shiftAVX2, standardize: standardizeAVX2, lookup: lookupAVX2, allFinite: finiteAVX2,
	wholeRange: wholeRangeAVX2, toLowBytes: lowBytesAVX2, fromBytes: ofBytesAVX2, allSingles: allSinglesAVX2, toSingles: singlesAVX2, fromSingles: ofSinglesAVX2, rotate: rotateAVX2,
}

func dotFMA(x, y []float64) float64 {
	y = y[:len(x)]
	var s [16]float64
	if whole := len(x) / 16; whole > 0 {
		dotAVX2(whole, &x[0], &y[0], &s)
		x, y = x[16*whole:], y[16*whole:]
	}
	for i, v := range x {
		s[i] = math.FMA(v, y[i], s[i])
	}
	for half := 8; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}

func axpyFMA(alpha float64, x, y []float64) {
	y = y[:len(x)]
	if len(x) > 0 {
		one, row := [2]int32{0, 1}, int32(0)
		gatherAVX2(1, &one[0], &row, &alpha, &x[0], 0, len(x), &y[0], 0)
	}
}

func squaredDistancesVector(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64) {
	if blocks == 0 {
		return 0, 0
	}
	return squaresAVX2(blocks, &x[0], &y[0], &z[0], &nextY[0], &nextZ[0])
}

func firstNotAboveVector(c, slack []float32, norm, limit float32, from, n int) int {
	return belowAVX2(&c[0], &slack[0], norm, limit, from, n)
}
