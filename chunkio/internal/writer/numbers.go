package writer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Number is a numeric Parquet type to which float64 values can be converted when they are written.
type Number struct {
	Name     string
	Physical parquet.Type
	Bits     int  // size of an integer; 1 for bool, 0 for float and double
	Signed   bool // for an integer: it has a sign
}

// NumberOf returns the type with this name. For an unknown name it returns double.
func NumberOf(name string) Number {
	switch name {
	case "bool", "boolean":
		return Number{"bool", parquet.Types.Boolean, 1, false}
	case "float", "float32":
		return Number{"float", parquet.Types.Float, 0, true}
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
		return Number{name, parquet.Types.Int32, bits, signed}
	case bits == 64 && signed:
		return Number{name, parquet.Types.Int64, bits, signed}
	}
	return Number{"double", parquet.Types.Double, 0, true}
}

// Repetition returns REQUIRED or OPTIONAL.
func Repetition(required bool) parquet.Repetition {
	if required {
		return parquet.Repetitions.Required
	}
	return parquet.Repetitions.Optional
}

// Node returns a column of this type.
func (n Number) Node(name string, required bool) schema.Node {
	var logical schema.LogicalType = schema.NoLogicalType{}
	if n.Bits > 1 {
		logical = schema.NewIntLogicalType(int8(n.Bits), n.Signed)
	}
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, Repetition(required), logical, n.Physical, -1, -1))
}

// Encode writes the values x of a column to c. The function null reports whether a value is null.
func (n Number) Encode(c *Chunk, x []float64, null func(float64) bool) error {
	return n.EncodeLists(c, x, nil, null)
}

// EncodeLists writes the elements x of lists that are not empty. rep contains their repetition levels.
func (n Number) EncodeLists(c *Chunk, x []float64, rep []int16, null func(float64) bool) error {
	return format.Guard(func() error {
		switch n.Physical {
		case parquet.Types.Boolean:
			return writeNumbers(c, n, x, rep, null, func(v float64) bool { return v != 0 })
		case parquet.Types.Int32:
			return writeNumbers(c, n, x, rep, null, func(v float64) int32 { return int32(int64(v)) }) // uint32 values wrap around, as the format requires
		case parquet.Types.Int64:
			return writeNumbers(c, n, x, rep, null, func(v float64) int64 { return int64(v) })
		case parquet.Types.Float:
			return writeNumbers(c, n, x, rep, null, func(v float64) float32 { return float32(v) })
		}
		return writeNumbers(c, n, x, rep, null, func(v float64) float64 { return v })
	})
}

func writeNumbers[T any](c *Chunk, n Number, x []float64, rep []int16, null func(float64) bool, convert func(float64) T) error {
	values := make([]T, 0, len(x))
	present := c.Descr().MaxDefinitionLevel()
	optional := present > c.Descr().MaxRepetitionLevel() // a list has one more level
	var def []int16
	if present > 0 {
		def = slices.Repeat([]int16{present}, len(x))
	}
	for i, v := range x {
		switch {
		case !null(v) && n.HoldsValue(v):
			values = append(values, convert(v))
		case !null(v) || !optional:
			return &ValueError{i, v, n.Name}
		default:
			def[i]--
		}
	}
	return Put(c, values, def, rep)
}

// HoldsValue reports whether the type can represent the value v; float may round it.
func (n Number) HoldsValue(v float64) bool {
	switch {
	case n.Physical == parquet.Types.Double:
		return true
	case n.Physical == parquet.Types.Float:
		return !math.IsInf(float64(float32(v)), 0) || math.IsInf(v, 0)
	case n.Physical == parquet.Types.Boolean:
		return v == 0 || v == 1
	case v != math.Trunc(v):
		return false
	case n.Signed:
		limit := math.Ldexp(1, n.Bits-1)
		return -limit <= v && v < limit
	}
	return 0 <= v && v < math.Ldexp(1, n.Bits)
}

// ValueError reports a value that the type of its column cannot represent. Row is the index of the value in the batch.
type ValueError struct {
	Row   int
	Value float64
	Type  string
}

func (e *ValueError) Error() string {
	if math.IsNaN(e.Value) {
		return "a missing value in a REQUIRED column"
	}
	return fmt.Sprintf("%v does not fit %s", e.Value, e.Type)
}
