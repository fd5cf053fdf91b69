package linalg

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// roundAtRandom writes factor·src, rounded to integers, to dst, which has the same length. The probability of rounding
// a number up is its fraction, to a precision of 2⁻¹⁶, so that the rounding errors are independent and 0 on average.
// The same seed gives the same results. The numbers must be at most 2¹⁴ in magnitude.
//
// (Stochastic rounding: Croci et al., Royal Society Open Science 9, 2022.)
func roundAtRandom(dst []int16, src []float64, factor float64, seed uint64) {
	const (
		offset = 1 << 15 // makes all numbers positive, so that conversion rounds towards −∞
		one    = 0x3ff0_0000_8000_0000
	)
	// round adds (b + ½)/2¹⁶, with 16 random bits b, and rounds down. It makes that fraction from a float64 in [1, 2).
	round := func(x float64, bits uint64) int16 {
		return int16(int32(factor*x+(math.Float64frombits(bits<<48>>12|one)+(offset-1))) - offset)
	}
	dst, seed = dst[:len(src)], splitmix.Mix(seed)
	i := 0
	for ; i+4 <= len(src); i += 4 {
		bits, x, to := splitmix.Mix(seed+uint64(i)), (*[4]float64)(src[i:]), (*[4]int16)(dst[i:])
		to[0], to[1], to[2], to[3] = round(x[0], bits), round(x[1], bits>>16), round(x[2], bits>>32), round(x[3], bits>>48)
	}
	bits := splitmix.Mix(seed + uint64(i))
	for ; i < len(src); i++ {
		dst[i] = round(src[i], bits)
		bits >>= 16
	}
}
