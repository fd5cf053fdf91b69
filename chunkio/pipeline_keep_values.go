package chunkio

import (
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// values are numbers in some form that converts back to the same bits.
type values interface {
	// to writes those from on to dst.
	to(dst []float64, from int)
}

// equal is one value for all rows.
type equal float64

func (e equal) to(dst []float64, _ int) {
	for i := range dst {
		dst[i] = float64(e)
	}
}

// unsigned are whole numbers that a byte holds; -0 is none, here and below.
type unsigned []byte

func (u unsigned) to(dst []float64, from int) { kernel.OfBytes(u[from:][:len(dst)], dst) }

// whole are whole numbers that a T holds.
type whole[T int16 | int32] []T

func (w whole[T]) to(dst []float64, from int) {
	for i, v := range w[from:][:len(dst)] {
		dst[i] = float64(v)
	}
}

// signed are whole numbers that an int8 holds.
type signed []byte

func (s signed) to(dst []float64, from int) {
	for i, v := range s[from:][:len(dst)] {
		dst[i] = float64(int8(v))
	}
}

// singles are numbers that a float32 holds, and nulls.
type singles []float32

// nullSingle are the bits that a null has there.
const nullSingle = 0x7FEE_6C6C

func (s singles) to(dst []float64, from int) {
	for i, v := range s[from:][:len(dst)] {
		if math.Float32bits(v) == nullSingle {
			dst[i] = format.Null
		} else {
			dst[i] = float64(v)
		}
	}
}

// doubles are any numbers.
type doubles []float64

func (d doubles) to(dst []float64, from int) { copy(dst, d[from:]) }

// form is how a column can be held.
type form int

const (
	asEqual form = iota
	asInt8
	asUint8
	asInt16
	asInt32
	asSingles
	asSinglesOrNull
	asDoubles
)

// narrowest is the form of x that takes the fewest bytes, with their number. It costs one or
// two passes over x, each until the first value that does not fit.
func narrowest(x []float64) (f form, bytes int64) {
	n := int64(len(x))
	if allEqual(x) {
		return asEqual, 8
	}
	least, most, ok := kernel.WholeRange(x)
	switch {
	case ok && least >= 0 && most <= math.MaxUint8:
		return asUint8, allocated(n)
	case ok && least >= math.MinInt8 && most <= math.MaxInt8:
		return asInt8, allocated(n)
	case ok && least >= math.MinInt16 && most <= math.MaxInt16:
		return asInt16, allocated(2 * n)
	case ok:
		return asInt32, allocated(4 * n)
	case kernel.AllSingles(x):
		return asSingles, allocated(4 * n)
	case allSinglesOrNull(x):
		return asSinglesOrNull, allocated(4 * n)
	}
	return asDoubles, allocated(8 * n)
}

// hold makes values of x in the form that narrowest has found.
func (f form) hold(x []float64) values {
	switch f {
	case asEqual:
		return equal(x[0])
	case asInt8:
		return signed(lowBytes(x))
	case asUint8:
		return unsigned(lowBytes(x))
	case asInt16:
		return wholeOf[int16](x)
	case asInt32:
		return wholeOf[int32](x)
	case asSingles:
		s := make(singles, len(x))
		kernel.Singles(x, s)
		return s
	case asSinglesOrNull:
		s := make(singles, len(x))
		for i, v := range x {
			if s[i] = float32(v); format.IsNull(v) {
				s[i] = math.Float32frombits(nullSingle)
			}
		}
		return s
	}
	return append(make(doubles, 0, len(x)), x...)
}

func allEqual(x []float64) bool {
	first := math.Float64bits(x[0])
	for _, v := range x {
		if math.Float64bits(v) != first {
			return false
		}
	}
	return true
}

func wholeOf[T int16 | int32](x []float64) whole[T] {
	w := make(whole[T], len(x))
	for i, v := range x {
		w[i] = T(int32(v))
	}
	return w
}

func lowBytes(x []float64) []byte {
	b := make([]byte, len(x))
	kernel.LowBytes(x, b)
	return b
}

// allSinglesOrNull reports whether a float32 holds each of x, or it is a null. The NaN that stands for a
// null is taken for no value.
func allSinglesOrNull(x []float64) bool {
	for _, v := range x {
		s := float32(v)
		if !format.IsNull(v) && (math.Float64bits(float64(s)) != math.Float64bits(v) || math.Float32bits(s) == nullSingle) {
			return false
		}
	}
	return true
}

// keptWidth is the most bytes that a value of a type takes, where nulls tells whether there may be
// some. Lists are of their elements' type.
func keptWidth(typ string, nulls bool) int64 {
	switch strings.TrimSuffix(strings.TrimPrefix(typ, "list<"), ">") {
	case "bool", "int8", "uint8":
		if !nulls {
			return 1
		}
		return 4 // a null needs a float
	case "int16":
		if !nulls {
			return 2
		}
		return 4
	case "uint16", "float16", "float":
		return 4
	case "int32":
		if !nulls {
			return 4
		}
	}
	return 8
}

// allocated bounds what the allocator sets aside for n bytes: its size classes are at most an
// eighth apart, powers of 2 are such, and large ones are whole pages.
func allocated(n int64) int64 {
	switch {
	case n&(n-1) == 0 && n <= 32<<10:
		return n
	case n <= 32<<10:
		return n + n/8 + 16
	}
	return (n + 8191) / 8192 * 8192
}
