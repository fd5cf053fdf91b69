package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strconv"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Conversions of physical values to float64. dst and src have the same length.

// cast reads T as U: an unsigned type stands in a signed one, and a writer may have
// extended its sign.
func cast[T, U int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32](dst []float64, src []T) error {
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
		return cast[int32, uint8]
	case asUint16:
		return cast[int32, uint16]
	case asUint32:
		return cast[int32, uint32]
	case asDecimal:
		return func(dst []float64, src []int32) error {
			for i, x := range src {
				dst[i] = scaled(int64(x), c.scale)
			}
			return nil
		}
	}
	return cast[int32, int32]
}

func int64Floats(c *column) func([]float64, []int64) error {
	switch c.kind {
	case asUint64:
		return cast[int64, uint64]
	case asDecimal:
		return func(dst []float64, src []int64) error {
			for i, x := range src {
				dst[i] = scaled(x, c.scale)
			}
			return nil
		}
	}
	return cast[int64, int64]
}

func fixedFloats(c *column) func([]float64, []parquet.FixedLenByteArray) error {
	if c.kind == asHalf {
		return func(dst []float64, src []parquet.FixedLenByteArray) error {
			for i, b := range src {
				dst[i] = format.Half(binary.LittleEndian.Uint16(b))
			}
			return nil
		}
	}
	return func(dst []float64, src []parquet.FixedLenByteArray) error {
		return decimals(dst, src, c.scale)
	}
}

// maxScale is the largest decimal scale that is read; the format's own types end at 76.
const maxScale = 300

// exactPowers are the powers of ten that float64 holds exactly: dividing two exact
// numbers rounds once, multiplying by 1/10^s would round twice.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scaled is the float64 nearest to v / 10^scale.
func scaled(v int64, scale int) float64 {
	const exact = 1 << 53
	if scale < len(exactPowers) && -exact <= v && v <= exact {
		return float64(v) / exactPowers[scale]
	}
	var digits [32]byte
	return parseScaled(strconv.AppendInt(digits[:0], v, 10), scale)
}

// parseScaled reads decimal digits times 10^-scale, correctly rounded.
func parseScaled(digits []byte, scale int) float64 {
	digits = append(digits, 'e', '-')
	x, err := strconv.ParseFloat(string(strconv.AppendInt(digits, int64(scale), 10)), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range is ±Inf, as it should
		return math.NaN()
	}
	return x
}

// decimals reads big-endian two's complement numbers of any length.
func decimals[T ~[]byte](dst []float64, src []T, scale int) error {
	for i, b := range src {
		if len(b) == 0 {
			return errors.New("a decimal of no bytes")
		}
		dst[i] = bigDecimal(b, scale)
	}
	return nil
}

func bigDecimal(b []byte, scale int) float64 {
	negative := b[0]&0x80 != 0
	fill := byte(0)
	if negative {
		fill = 0xFF
	}
	for len(b) > 1 && b[0] == fill && b[1]&0x80 == fill&0x80 { // strip copies of the sign
		b = b[1:]
	}
	if len(b) <= 8 {
		v := int64(0)
		if negative {
			v = -1
		}
		for _, x := range b {
			v = v<<8 | int64(x)
		}
		return scaled(v, scale)
	}
	v := new(big.Int).SetBytes(b)
	if negative {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return parseScaled(v.Append(nil, 10), scale)
}
