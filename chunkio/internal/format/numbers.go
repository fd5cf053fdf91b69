package format

import (
	"math"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// HalfFloat converts an IEEE half-precision number. The function of arrow/float16 in v15.0.2 is wrong for subnormals:
// 0x032E yields 9.3e-39 instead of 4.9e-5.
func HalfFloat(h uint16) float64 {
	exp, frac := uint64(h>>10&31), uint64(h&1023)
	sign := uint64(h>>15) << 63
	switch exp {
	case 0:
		return math.Copysign(float64(frac)*0x1p-24, math.Float64frombits(sign|1))
	case 31:
		exp = 0x7FF // ±Inf and NaN
	default:
		exp += 1023 - 15
	}
	return math.Float64frombits(sign | exp<<52 | frac<<42)
}

// exactPowers are the powers of ten that float64 represents exactly. Dividing two exact numbers rounds once, whereas
// multiplying by 1/10^s would round twice.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ScaledFloat returns the float64 nearest to v / 10^scale.
func ScaledFloat(v int64, scale int) float64 {
	const exact, powers = 1 << 53, len(exactPowers)
	if -powers < scale && scale < powers && -exact <= v && v <= exact {
		if scale < 0 {
			return float64(v) * exactPowers[-scale]
		}
		return float64(v) / exactPowers[scale]
	}
	var digits [32]byte
	return parseScaled(strconv.AppendInt(digits[:0], v, 10), scale)
}

// parseScaled returns digits times 10^-scale, correctly rounded, or ±Inf outside the range of float64.
func parseScaled(digits []byte, scale int) float64 {
	x, _ := strconv.ParseFloat(string(strconv.AppendInt(append(digits, 'e'), int64(-scale), 10)), 64)
	return x
}

// DecimalFloat returns the float64 nearest to v / 10^scale. The bytes b are v as a big-endian two's complement number
// of at least one byte.
func DecimalFloat(b []byte, scale int) float64 {
	fill := byte(int8(b[0]) >> 7)                              // 0 or 0xFF
	for len(b) > 1 && b[0] == fill && b[1]&0x80 == fill&0x80 { // remove redundant sign bytes
		b = b[1:]
	}
	if len(b) > 8 {
		return parseScaled(text.BigInt(b).Append(nil, 10), scale)
	}
	v := int64(int8(fill))
	for _, x := range b {
		v = v<<8 | int64(x)
	}
	return ScaledFloat(v, scale)
}

// ShortDecimal parses a number as text usually contains it, with or without a sign: up to 15 digits, which may include
// a decimal point, and no exponent. Such a number is a whole number divided by a power of ten. Both are exact, so the
// quotient is rounded only once, as in strconv. For other notations ok is false.
func ShortDecimal[T string | []byte](word T) (x float64, ok bool) {
	digits, negative := word, false
	if len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		digits, negative = word[1:], word[0] == '-'
	}
	whole, point := int64(0), -1
	for i := range len(digits) {
		d := digits[i] - '0'
		switch {
		case d <= 9 && i < 16:
			whole = 10*whole + int64(d)
		case digits[i] == '.' && point < 0 && i < 16:
			point = i
		default:
			return 0, false
		}
	}
	n := len(digits)
	if point >= 0 {
		n--
	}
	if n < 1 || n > 15 {
		return 0, false
	}
	x = float64(whole)
	if point >= 0 {
		x /= exactPowers[len(digits)-1-point]
	}
	if negative {
		x = -x
	}
	return x, true
}
