package chunkio

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// number is a numeric Parquet type that float64 values can be written as.
type number struct {
	name     string
	physical parquet.Type
	bits     int  // of an integer; 1 for bool, 0 for float and double
	signed   bool // of an integer
}

// numberOf returns the type of that name; unknown names are double.
func numberOf(name string) number {
	switch name {
	case "bool", "boolean":
		return number{"bool", parquet.Types.Boolean, 1, false}
	case "float", "float32":
		return number{"float", parquet.Types.Float, 0, true}
	}
	digits, signed := strings.CutPrefix(name, "int")
	if !signed {
		var unsigned bool
		if digits, unsigned = strings.CutPrefix(name, "uint"); !unsigned {
			digits = ""
		}
	}
	switch bits, _ := strconv.Atoi(digits); {
	case bits == 8, bits == 16, bits == 32:
		return number{name, parquet.Types.Int32, bits, signed}
	case bits == 64 && signed:
		return number{name, parquet.Types.Int64, bits, signed}
	}
	return number{"double", parquet.Types.Double, 0, true}
}

// node is a column of this type.
func (n number) node(name string, required bool) schema.Node {
	var logical schema.LogicalType = schema.NoLogicalType{}
	if n.bits > 1 {
		logical = schema.NewIntLogicalType(int8(n.bits), n.signed)
	}
	rep := parquet.Repetitions.Optional
	if required {
		rep = parquet.Repetitions.Required
	}
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, rep, logical, n.physical, -1, -1))
}

// write encodes column x, NaN as null, to c.
func (n number) write(c *chunkWriter, x []float64) error { return n.encode(c, x, math.IsNaN) }

// writeMarked encodes column x, in which nullValue marks the nulls, to c.
func (n number) writeMarked(c *chunkWriter, x []float64) error { return n.encode(c, x, format.IsNull) }

func (n number) encode(c *chunkWriter, x []float64, null func(float64) bool) error {
	return format.Guard(func() error {
		switch n.physical {
		case parquet.Types.Boolean:
			return writeNumbers(c, n, x, null, func(v float64) bool { return v != 0 })
		case parquet.Types.Int32:
			return writeNumbers(c, n, x, null, func(v float64) int32 { return int32(int64(v)) }) // uint32 wraps, as the format wants
		case parquet.Types.Int64:
			return writeNumbers(c, n, x, null, func(v float64) int64 { return int64(v) })
		case parquet.Types.Float:
			return writeNumbers(c, n, x, null, func(v float64) float32 { return float32(v) })
		}
		return writeNumbers(c, n, x, null, func(v float64) float64 { return v })
	})
}

func writeNumbers[T any](c *chunkWriter, n number, x []float64, null func(float64) bool, convert func(float64) T) error {
	values := make([]T, 0, len(x))
	var def []int16
	if c.optional() {
		def = make([]int16, len(x))
	}
	for i, v := range x {
		switch {
		case !null(v) && n.holds(v):
			values = append(values, convert(v))
			if def != nil {
				def[i] = 1
			}
		case !null(v) || def == nil:
			return &valueError{i, v, n.name}
		}
	}
	return writeValues(c, values, def, nil)
}

// holds reports whether the type has the value v; float may round it.
func (n number) holds(v float64) bool {
	switch {
	case n.physical == parquet.Types.Double:
		return true
	case n.physical == parquet.Types.Float:
		return !math.IsInf(float64(float32(v)), 0) || math.IsInf(v, 0)
	case n.physical == parquet.Types.Boolean:
		return v == 0 || v == 1
	case v != math.Trunc(v):
		return false
	case n.signed:
		limit := math.Ldexp(1, n.bits-1)
		return -limit <= v && v < limit
	}
	return 0 <= v && v < math.Ldexp(1, n.bits)
}

// valueError is a value that its column's type cannot hold; row counts within the batch.
type valueError struct {
	row   int
	value float64
	typ   string
}

func (e *valueError) Error() string {
	if math.IsNaN(e.value) {
		return "a missing value in a REQUIRED column"
	}
	return fmt.Sprintf("%v does not fit %s", e.value, e.typ)
}
