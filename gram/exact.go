package gram

import "math"

// Exact sums do not depend on the order of addition. The method is that of Demmel and Nguyen (Parallel reproducible
// summation, 2015), with integers in place of floating-point bins.
//
// A number is divided into digits of base 2³², whose boundaries are the same for all numbers. Of a column only two
// digits are summed: the highest digit of the column's largest number, and the next lower digit. r sums of the higher
// digit are followed by r sums of the lower digit. If a later number has a higher digit, the sums of the lower digit
// are dropped, as if that number had come first. The part of a number that is not summed is below 2⁻³² of the largest
// number. A sum can add up to 2³¹ numbers.
const (
	bitsPerDigit = 32
	// A column whose numbers are below 2^(32·t), but not all below 2^(32·(t−1)), has top t. lowestTop is the lowest top
	// of a column. Below lowestTop, the lower digit would leave float64's range.
	lowestTop  = -28
	highestTop = 33
)

// addSignedValues adds sign[i]·x[i] to the sum with index row[i] of a column, and returns the number of missing entries
// of x, which add nothing. If x is nil, it adds sign[i] instead: for each i, or only for the missing entries of
// `missing` if that is not nil.
func addSignedValues(top *int8, sums []int64, r int, row []int, sign, x, missing []float64) (missingCount int) {
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
		if !(math.Abs(digits) < 1<<bitsPerDigit) {
			if v != v {
				missingCount++
				continue
			}
			raiseTop(top, sums, topForLargest(v))
			scale = digitScale(*top)
			digits = v * scale
		}
		d := int64(digits)
		high[at] += d
		low[at] += int64((digits - float64(d)) * (1 << bitsPerDigit))
	}
	return missingCount
}

// digitScale returns the factor that moves the higher digit of a number before the binary point.
func digitScale(top int8) float64 { return math.Ldexp(1, bitsPerDigit*(1-int(top))) }

// topForLargest returns the top (see lowestTop) of a column whose largest number is v.
func topForLargest(v float64) int8 {
	_, e := math.Frexp(v) // |v| < 2^e
	t := e / bitsPerDigit
	if e > t*bitsPerDigit {
		t++
	}
	return int8(max(t, lowestTop))
}

func raiseTop(top *int8, sums []int64, newTop int8) {
	if newTop <= *top {
		return
	}
	r := len(sums) / 2
	if newTop == *top+1 {
		copy(sums[r:], sums[:r])
		clear(sums[:r])
	} else {
		clear(sums)
	}
	*top = newTop
}

func addExactSums(top *int8, sums []int64, otherTop int8, otherSums []int64) {
	raiseTop(top, sums, otherTop)
	r := len(sums) / 2
	switch *top - otherTop {
	case 0:
		for i, v := range otherSums {
			sums[i] += v
		}
	case 1:
		for i, v := range otherSums[:r] {
			sums[r+i] += v
		}
	}
}

func exactSumsToFloats(dst []float64, top int8, sums []int64) {
	r := len(dst)
	high := math.Ldexp(1, bitsPerDigit*(int(top)-1))
	low := math.Ldexp(1, -bitsPerDigit)
	for i := range dst {
		dst[i] = (float64(sums[i]) + float64(sums[r+i])*low) * high
	}
}
