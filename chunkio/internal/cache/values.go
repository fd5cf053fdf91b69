package cache

import (
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// keptValues contains the numbers of a column in a form that converts back to the same bits.
type keptValues interface {
	// copyTo fills dst with the values that start at index from.
	copyTo(dst []float64, from int)
}

// equalValues is a column whose rows all have this value.
type equalValues float64

func (e equalValues) copyTo(dst []float64, _ int) {
	for i := range dst {
		dst[i] = float64(e)
	}
}

// uint8s contains whole numbers that fit into a byte, except -0. The types of whole numbers below exclude -0 too.
type uint8s []byte

func (u uint8s) copyTo(dst []float64, from int) { kernel.FromBytes(u[from:][:len(dst)], dst) }

// wholeNumbers contains whole numbers that fit into a T.
type wholeNumbers[T int16 | int32] []T

func (w wholeNumbers[T]) copyTo(dst []float64, from int) {
	for i, v := range w[from:][:len(dst)] {
		dst[i] = float64(v)
	}
}

// int8s contains whole numbers that fit into an int8.
type int8s []byte

func (s int8s) copyTo(dst []float64, from int) {
	for i, v := range s[from:][:len(dst)] {
		dst[i] = float64(int8(v))
	}
}

// singles contains nulls and numbers that a float32 represents exactly.
type singles []float32

// nullSingle is the bit pattern of a null in singles.
const nullSingle = 0x7FEE_6C6C

func (s singles) copyTo(dst []float64, from int) {
	for i, v := range s[from:][:len(dst)] {
		if math.Float32bits(v) == nullSingle {
			dst[i] = format.Null
		} else {
			dst[i] = float64(v)
		}
	}
}

// doubles contains any numbers, unchanged.
type doubles []float64

func (d doubles) copyTo(dst []float64, from int) { copy(dst, d[from:]) }

// valueForm is a form in which a column can be kept.
type valueForm int

const (
	asEqual valueForm = iota

	asInt8

	asUint8

	asInt16

	asInt32

	asSingles

	asSinglesOrNull

	asDoubles
)

// narrowestForm returns the form of x with the fewest bytes, and the number of these bytes. It passes once or twice
// over x, and each pass ends at the first value that does not fit.
func narrowestForm(x []float64) (f valueForm, bytes int64) {
	n := int64(len(x))
	if areAllEqual(x) {
		return asEqual, 8
	}
	least, most, ok := kernel.WholeRange(x)
	switch {
	case ok && least >= 0 && most <= math.MaxUint8:
		return asUint8, AllocationBytes(n)
	case ok && least >= math.MinInt8 && most <= math.MaxInt8:
		return asInt8, AllocationBytes(n)
	case ok && least >= math.MinInt16 && most <= math.MaxInt16:
		return asInt16, AllocationBytes(2 * n)
	case ok:
		return asInt32, AllocationBytes(4 * n)
	case kernel.AllSingles(x):
		return asSingles, AllocationBytes(4 * n)
	case areAllSinglesOrNull(x):
		return asSinglesOrNull, AllocationBytes(4 * n)
	}
	return asDoubles, AllocationBytes(8 * n)
}

// convertValues returns x in the form found by narrowestForm.
func (f valueForm) convertValues(x []float64) keptValues {
	switch f {
	case asEqual:
		return equalValues(x[0])
	case asInt8:
		return int8s(lowBytesOfWholes(x))
	case asUint8:
		return uint8s(lowBytesOfWholes(x))
	case asInt16:
		return toWholeNumbers[int16](x)
	case asInt32:
		return toWholeNumbers[int32](x)
	case asSingles:
		s := make(singles, len(x))
		kernel.ToSingles(x, s)
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

func areAllEqual(x []float64) bool {
	first := math.Float64bits(x[0])
	for _, v := range x {
		if math.Float64bits(v) != first {
			return false
		}
	}
	return true
}

func toWholeNumbers[T int16 | int32](x []float64) wholeNumbers[T] {
	w := make(wholeNumbers[T], len(x))
	for i, v := range x {
		w[i] = T(int32(v))
	}
	return w
}

func lowBytesOfWholes(x []float64) []byte {
	b := make([]byte, len(x))
	kernel.ToLowBytes(x, b)
	return b
}

// areAllSinglesOrNull reports whether each value of x is a null or a float64 whose bits survive a conversion to
// float32. A NaN that would become nullSingle does not count.
func areAllSinglesOrNull(x []float64) bool {
	for _, v := range x {
		s := float32(v)
		if !format.IsNull(v) && (math.Float64bits(float64(s)) != math.Float64bits(v) || math.Float32bits(s) == nullSingle) {
			return false
		}
	}
	return true
}

// KeptWidth returns the largest number of bytes that a kept value of the type typ needs. nulls is set if the column may
// have nulls. For a list, typ is the type of its elements.
func KeptWidth(typ string, nulls bool) int64 {
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

// AllocationBytes bounds the memory that the allocator uses for n bytes: its size classes are at most an eighth apart,
// powers of 2 are size classes, and large sizes are whole pages.
func AllocationBytes(n int64) int64 {
	switch {
	case n&(n-1) == 0 && n <= 32<<10:
		return n
	case n <= 32<<10:
		return n + n/8 + 16
	}
	return (n + 8191) / 8192 * 8192
}
