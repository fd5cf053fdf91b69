package parquet

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Conversions of physical values to float64. dst and src have the same length.

func isDecodedFromPlainNumbers(c *column) bool {
	if c.texts != nil {
		return false
	}
	switch c.kind {
	case asSigned, asUint8, asUint16, asUint32, asUint64, asFloat, asDouble:
		return true
	}
	return false
}

// convertPlain converts len(dst) PLAIN numbers in b. It does not use a reader of the library, because creating one
// takes 0.7 µs, as long as converting 500 values. Memory writes limit the speed of these loops: a version that converts
// four values at a time (AVX2) decoded float32 columns in 3 % less time, too little to justify assembly.
func convertPlain(c *column, dst []float64, b []byte) {
	switch c.kind {
	case asFloat:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			b = b[4:]
		}
	case asDouble:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
	case asUint8:
		convertPlainInts[uint8](dst, b, 4)
	case asUint16:
		convertPlainInts[uint16](dst, b, 4)
	case asUint32:
		convertPlainInts[uint32](dst, b, 4)
	case asUint64:
		convertPlainInts[uint64](dst, b, 8)
	default:
		if c.size == 4 {
			convertPlainInts[int32](dst, b, 4)
		} else {
			convertPlainInts[int64](dst, b, 8)
		}
	}
}

// convertPlainInts converts integers that are stored in 4 or 8 bytes. Only the low bytes that fit type T are used: see
// convertInts.
func convertPlainInts[T int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []float64, b []byte, size int) {
	if size == 4 {
		for i := range dst {
			dst[i] = float64(T(binary.LittleEndian.Uint32(b)))
			b = b[4:]
		}
		return
	}
	for i := range dst {
		dst[i] = float64(T(binary.LittleEndian.Uint64(b)))
		b = b[8:]
	}
}

// convertInts converts each T to a U, and then to float64. Unsigned values are stored in signed types, and a writer may
// have extended the sign.
func convertInts[T, U int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []float64, src []T) error {
	for i, x := range src {
		dst[i] = float64(U(x))
	}
	return nil
}

func convertBools(dst []float64, src []bool) error {
	for i, x := range src {
		dst[i] = 0
		if x {
			dst[i] = 1
		}
	}
	return nil
}

func newInt32Converter(c *column) func([]float64, []int32) error {
	switch c.kind {
	case asUint8:
		return convertInts[int32, uint8]
	case asUint16:
		return convertInts[int32, uint16]
	case asUint32:
		return convertInts[int32, uint32]
	case asDecimal:
		return func(dst []float64, src []int32) error {
			for i, x := range src {
				dst[i] = format.ScaledFloat(int64(x), c.scale)
			}
			return nil
		}
	}
	return convertInts[int32, int32]
}

func newInt64Converter(c *column) func([]float64, []int64) error {
	switch c.kind {
	case asUint64:
		return convertInts[int64, uint64]
	case asDecimal:
		return func(dst []float64, src []int64) error {
			for i, x := range src {
				dst[i] = format.ScaledFloat(x, c.scale)
			}
			return nil
		}
	}
	return convertInts[int64, int64]
}

func newFixedBytesConverter(c *column) func([]float64, []parquet.FixedLenByteArray) error {
	if c.kind == asHalf {
		return func(dst []float64, src []parquet.FixedLenByteArray) error {
			for i, b := range src {
				dst[i] = format.HalfFloat(binary.LittleEndian.Uint16(b))
			}
			return nil
		}
	}
	return func(dst []float64, src []parquet.FixedLenByteArray) error {
		return convertDecimals(dst, src, c.scale)
	}
}

// maxScale is the largest scale of the decimals that are decoded; the largest scale of the usual decimal types is 76.
const maxScale = 300

func convertDecimals[T ~[]byte](dst []float64, src []T, decimalScale int) error {
	for i, b := range src {
		if len(b) == 0 {
			return errors.New("a decimal of no bytes")
		}
		dst[i] = format.DecimalFloat(b, decimalScale)
	}
	return nil
}
