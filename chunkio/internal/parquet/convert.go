package parquet

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Conversions of physical values to float64. dst and src have the same length.

func (c *column) hasPlainNumbers() bool {
	if c.texts != nil {
		return false
	}
	switch c.kind {
	case asSigned, asUint8, asUint16, asUint32, asUint64, asFloat, asDouble:
		return true
	}
	return false
}

// plainFloats converts len(dst) plain numbers of the column. Creating a reader of the library takes 0.7 µs, as long as
// converting 500 values. These loops are limited by memory writes: with four values at a time (AVX2), decoding float32
// columns took 3 % less time, too little to justify a kernel.
func plainFloats(c *column, dst []float64, b []byte) {
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
		plainInts[uint8](dst, b, 4)
	case asUint16:
		plainInts[uint16](dst, b, 4)
	case asUint32:
		plainInts[uint32](dst, b, 4)
	case asUint64:
		plainInts[uint64](dst, b, 8)
	default:
		if c.size == 4 {
			plainInts[int32](dst, b, 4)
		} else {
			plainInts[int64](dst, b, 8)
		}
	}
}

// plainInts converts integers that are stored in 4 or 8 bytes. Only the low bytes that fit type T count: see
// convertInts.
func plainInts[T int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []float64, b []byte, size int) {
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

// convertInts reinterprets each T as a U: unsigned types are stored in signed types, and a writer may have extended the
// sign.
func convertInts[T, U int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []float64, src []T) error {
	for i, x := range src {
		dst[i] = float64(U(x))
	}
	return nil
}

func boolFloats(dst []float64, src []bool) error {
	for i, x := range src {
		dst[i] = 0
		if x {
			dst[i] = 1
		}
	}
	return nil
}

func int32Floats(c *column) func([]float64, []int32) error {
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

func int64Floats(c *column) func([]float64, []int64) error {
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

func fixedFloats(c *column) func([]float64, []parquet.FixedLenByteArray) error {
	if c.kind == asHalf {
		return func(dst []float64, src []parquet.FixedLenByteArray) error {
			for i, b := range src {
				dst[i] = format.HalfFloat(binary.LittleEndian.Uint16(b))
			}
			return nil
		}
	}
	return func(dst []float64, src []parquet.FixedLenByteArray) error {
		return decimalFloats(dst, src, c.scale)
	}
}

// maxScale is the largest decimal scale that is read; the format's own types end at 76.
const maxScale = 300

func decimalFloats[T ~[]byte](dst []float64, src []T, scale int) error {
	for i, b := range src {
		if len(b) == 0 {
			return errors.New("a decimal of no bytes")
		}
		dst[i] = format.DecimalFloat(b, scale)
	}
	return nil
}
