package kernel

import "math"

// WholeRange returns the smallest and the largest value of x if all values are integers that an int32 represents to the
// bit, which excludes -0. Otherwise ok is false, and it stops at the first other value. x must not be empty.
func WholeRange(x []float64) (least, most int32, ok bool) {
	least, most = math.MaxInt32, math.MinInt32
	if blocks := len(x) / 16; best.wholeRange != nil && blocks > 0 {
		if least, most, ok = best.wholeRange(blocks, &x[0]); !ok {
			return 0, 0, false
		}
		x = x[16*blocks:]
	}
	for _, v := range x {
		i := int32(v)
		if math.Float64bits(float64(i)) != math.Float64bits(v) {
			return 0, 0, false
		}
		least, most = min(least, i), max(most, i)
	}
	return least, most, true
}

// ToLowBytes writes the lowest byte of each number of src to dst, which must be as long. The numbers must be integers
// in the range of int32.
func ToLowBytes(src []float64, dst []byte) {
	src, dst = convertBlocks(best.toLowBytes, src, dst)
	for i, v := range src {
		dst[i] = byte(int32(v))
	}
}

// FromBytes writes src as float64 to dst, which must be as long.
func FromBytes(src []byte, dst []float64) {
	src, dst = convertBlocks(best.fromBytes, src, dst)
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// AllSingles reports whether each value of x is equal to a float32 to the bit, and not NaN. It stops at the first other
// value.
func AllSingles(x []float64) bool {
	if blocks := len(x) / 16; best.allSingles != nil && blocks > 0 {
		if !best.allSingles(blocks, &x[0]) {
			return false
		}
		x = x[16*blocks:]
	}
	for _, v := range x {
		if float64(float32(v)) != v { // true for NaN; false for -0, which float32 represents
			return false
		}
	}
	return true
}

// ToSingles writes src as float32 to dst, which must be as long. src must not contain NaN.
func ToSingles(src []float64, dst []float32) {
	src, dst = convertBlocks(best.toSingles, src, dst)
	for i, v := range src {
		dst[i] = float32(v)
	}
}

// FromSingles writes src as float64 to dst, which must be as long. NaN stays NaN.
func FromSingles(src []float32, dst []float64) {
	src, dst = convertBlocks(best.fromSingles, src, dst)
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// convertBlocks converts blocks of 16 numbers of src by an instruction set's function, if it has one. It returns the
// numbers that are left, and their places in dst.
func convertBlocks[S, D any](convert func(blocks int, src *S, dst *D), src []S, dst []D) ([]S, []D) {
	dst = dst[:len(src)]
	if blocks := len(src) / 16; convert != nil && blocks > 0 {
		convert(blocks, &src[0], &dst[0])
		return src[16*blocks:], dst[16*blocks:]
	}
	return src, dst
}
