package gram

import "math"

// Exact sums are the same for any order of addition. They follow Demmel and Nguyen (Parallel reproducible summation,
// 2015), with whole numbers in place of floating-point bins.
//
// A number is cut into digits of base 2³², whose boundaries are the same for all numbers. Only the two highest digits
// of the column's largest number are summed: r sums of the higher digit, followed by r sums of the lower digit. If a
// later number of the column exceeds the boundary, the column loses its lower digit, as it would have if the large
// number had come first. The part that is not summed is below 2⁻³² of the largest number. A sum has room for 2³¹
// numbers.
const (
	digitBits = 32
	// lowestTop is the lowest top of a column. A column of top t has numbers below 2^(32·t). Below lowestTop, a number
	// of the lower digit would leave float64's range.
	lowestTop  = -28
	highestTop = 33
)

// addSigned adds sign[i]·x[i] to the sums of row[i], and returns the number of missing entries of x, which add
// nothing. If x is nil, it adds sign[i] for every entry, or if missing is not nil, only for the missing entries of
// `missing`.
func addSigned(top *int8, sums []int64, r int, row []int, sign, x, missing []float64) (holes int) {
	high, low := sums[:r:r], sums[r:2*r:2*r]
	scale := digitScale(*top)
	for i, at := range row {
		v := sign[i]
		switch {
		case x != nil:
			v *= x[i]
		case missing != nil && missing[i] == missing[i]:
			continue
		}
		digits := v * scale
		if !(math.Abs(digits) < 1<<digitBits) {
			if v != v {
				holes++
				continue
			}
			raiseTop(top, sums, topOf(v))
			scale = digitScale(*top)
			digits = v * scale
		}
		d := int64(digits)
		high[at] += d
		low[at] += int64((digits - float64(d)) * (1 << digitBits))
	}
	return holes
}

// digitScale returns the factor by which the higher digit of a number becomes its whole part.
func digitScale(top int8) float64 { return math.Ldexp(1, digitBits*(1-int(top))) }

// topOf returns the top of a column whose largest number is v.
func topOf(v float64) int8 {
	_, e := math.Frexp(v) // |v| < 2^e
	t := e / digitBits
	if e > t*digitBits {
		t++
	}
	return int8(max(t, lowestTop))
}

func raiseTop(top *int8, sums []int64, to int8) {
	if to <= *top {
		return
	}
	r := len(sums) / 2
	if to == *top+1 {
		copy(sums[r:], sums[:r])
		clear(sums[:r])
	} else {
		clear(sums)
	}
	*top = to
}

func mergeSums(top *int8, sums []int64, otherTop int8, others []int64) {
	raiseTop(top, sums, otherTop)
	r := len(sums) / 2
	switch *top - otherTop {
	case 0:
		for i, v := range others {
			sums[i] += v
		}
	case 1:
		for i, v := range others[:r] {
			sums[r+i] += v
		}
	}
}

func sumsToFloats(dst []float64, top int8, sums []int64) {
	r := len(dst)
	high := math.Ldexp(1, digitBits*(int(top)-1))
	low := math.Ldexp(1, -digitBits)
	for i := range dst {
		dst[i] = (float64(sums[i]) + float64(sums[r+i])*low) * high
	}
}
