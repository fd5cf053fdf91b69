//go:build !purego

package kernel

import (
	"math"

	"golang.org/x/sys/cpu"
)

// machinePaths returns the instruction sets of the processor. For AVX-512 it requires the foundation, and BW for whole
// numbers. x/sys/cpu has checked that the operating system saves the registers.
func machinePaths() []*isa {
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

// Tiles are 8×3 and 4×3 vectors. Of the shapes whose sums fit the 32 and 16 registers and
// whose panels are multiples of 4, these load the fewest bytes for a multiplication.
var avx512 = isa{
	name: "avx512",
	f64:  micro[float64]{mr: 8, nr: 24, mul: mulF64AVX512, transpose: transposeF64AVX2, copy: copyAVX2, thin: thinAVX512, thinCols: 16},
	f32:  micro[float32]{mr: 8, nr: 48, mul: mulF32AVX512, transpose: transposeF32AVX2, copy: copyAVX2},

	whole:  integers{mr: 8, nr: 48, mul: mulIntsAVX512, wholes: wholesAVX2, fetch: fetchAVX2},
	coarse: coarseAVX2(48, coarseMost, mulBytesAVX512, dotsAVX512),

	dot: dotFMA, axpy: axpyFMA, gather: gatherAVX2, squares: squaresVector, narrow: narrowAVX2, below: belowVector, lowest: lowestAVX512, within: withinAVX512, shift: shiftAVX2, standardize: standardizeAVX2, lookup: lookupAVX2, finite: finiteAVX2,
	wholeRange: wholeRangeAVX2, lowBytes: lowBytesAVX2, ofBytes: ofBytesAVX2, allSingles: allSinglesAVX2, singles: singlesAVX2, ofSingles: ofSinglesAVX2, rotate: rotateAVX512,
}

// coarseMost is the largest magnitude of a row's numbers if pairs of products must fit an int16: 2·255·64.
const coarseMost = 64

func coarseAVX2(nr, most int, mul bytesMul, dots bytesDots) coarseCode {
	return coarseCode{nr: nr, most: most, offset: 128, mul: mul, flip: flipAVX2, mix: mixAVX2, widest: widestAVX2, quantise: quantiseAVX2, dots: dots}
}

// avx512VNNI multiplies whole numbers by VPDPWSSD, and bytes by VPDPBUSD.
var avx512VNNI = withVNNI(avx512, "avx512vnni", mulIntsVNNI, mulBytesVNNI, dotsVNNI)

// avxVNNI uses the same instructions on 32 bytes.
var avxVNNI = withVNNI(avx2, "avxvnni", mulIntsAVXVNNI, mulBytesAVXVNNI, dotsAVXVNNI)

func withVNNI(i isa, name string, ints func(pairs int, a, b *int16, c *float64, ldc int), bytes bytesMul, dots bytesDots) isa {
	i.name, i.whole.mul, i.coarse.mul, i.coarse.dots, i.coarse.most = name, ints, bytes, dots, 127
	return i
}

type bytesMul = func(quads int, a, b *byte, step *[lanes]float32, shift *[lanes]int32, half, factor, c *float32, ldc int)

type bytesDots = func(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32)

var avx2 = isa{
	name: "avx2",
	f64:  micro[float64]{mr: 4, nr: 12, mul: mulF64AVX2, transpose: transposeF64AVX2, copy: copyAVX2, thin: thinAVX2, thinCols: 12},
	f32:  micro[float32]{mr: 4, nr: 24, mul: mulF32AVX2, transpose: transposeF32AVX2, copy: copyAVX2},

	whole:  integers{mr: 4, nr: 16, mul: mulIntsAVX2, wholes: wholesAVX2, fetch: fetchAVX2},
	coarse: coarseAVX2(8, coarseMost, mulBytesAVX2, dotsAVX2),

	dot: dotFMA, axpy: axpyFMA, gather: gatherAVX2, squares: squaresVector, narrow: narrowAVX2, below: belowVector, lowest: lowestAVX2, shift: shiftAVX2, standardize: standardizeAVX2, lookup: lookupAVX2, finite: finiteAVX2,
	wholeRange: wholeRangeAVX2, lowBytes: lowBytesAVX2, ofBytes: ofBytesAVX2, allSingles: allSinglesAVX2, singles: singlesAVX2, ofSingles: ofSinglesAVX2, rotate: rotateAVX2,
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

func squaresVector(blocks int, x, y, z, nextY, nextZ []float64) (xy, xz float64) {
	if blocks == 0 {
		return 0, 0
	}
	return squaresAVX2(blocks, &x[0], &y[0], &z[0], &nextY[0], &nextZ[0])
}

func belowVector(c, slack []float32, norm, limit float32, from, n int) int {
	return belowAVX2(&c[0], &slack[0], norm, limit, from, n)
}
