package ipc

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// convertNumbers converts len(dst) little-endian numbers of field f from raw. Integers beyond 2^53 and decimals are
// rounded to the nearest float64. It does not convert bools, which are single bits.
func (f *field) convertNumbers(dst []float64, raw []byte) {
	le := binary.LittleEndian
	switch size := f.bits / 8; {
	case f.kind == arrowDecimal:
		for i := range dst {
			dst[i] = decimalFloat(raw[i*size:(i+1)*size], f.scale)
		}
	case f.kind == arrowFloat && size == 8:
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(raw[8*i:]))
		}
	case f.kind == arrowFloat && size == 4:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(le.Uint32(raw[4*i:])))
		}
	case f.kind == arrowFloat:
		for i := range dst {
			dst[i] = format.HalfFloat(le.Uint16(raw[2*i:]))
		}
	case f.signed:
		convertIntegers[int8, int16, int32, int64](dst, raw, size)
	default:
		convertIntegers[uint8, uint16, uint32, uint64](dst, raw, size)
	}
}

// convertIntegers converts integers of size bytes. T1, T2, T4 and T8 are integer types of 1, 2, 4 and 8 bytes.
func convertIntegers[T1 int8 | uint8, T2 int16 | uint16, T4 int32 | uint32, T8 int64 | uint64](dst []float64, raw []byte, size int) {
	le := binary.LittleEndian
	switch size {
	case 1:
		for i := range dst {
			dst[i] = float64(T1(raw[i]))
		}
	case 2:
		for i := range dst {
			dst[i] = float64(T2(le.Uint16(raw[2*i:])))
		}
	case 4:
		for i := range dst {
			dst[i] = float64(T4(le.Uint32(raw[4*i:])))
		}
	default:
		for i := range dst {
			dst[i] = float64(T8(le.Uint64(raw[8*i:])))
		}
	}
}

// decimalFloat returns the float64 nearest to unscaled·10^(−scale). b has the integer unscaled in little-endian two's
// complement.
func decimalFloat(b []byte, scale int) float64 {
	sign := byte(int8(b[len(b)-1]) >> 7) // 0 or 0xFF
	small := true
	for _, x := range b[min(8, len(b)):] {
		small = small && x == sign
	}
	if low := int64(binary.LittleEndian.Uint64(extendSign(b, sign))); small && int8(low>>56)>>7 == int8(sign) {
		return format.ScaledFloat(low, scale)
	}
	big := slices.Clone(b)
	slices.Reverse(big)
	return format.DecimalFloat(big, scale)
}

// extendSign returns the first 8 bytes of b. If b is shorter, it appends bytes that are equal to sign.
func extendSign(b []byte, sign byte) []byte {
	if len(b) >= 8 {
		return b[:8]
	}
	return append(b[:len(b):len(b)], sign, sign, sign, sign)
}
