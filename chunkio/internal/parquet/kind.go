package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// numberKind selects the conversion from the physical values of a column to numbers.
type numberKind uint8

const (
	notNumber numberKind = iota
	asBool
	asSigned // 8 to 64 bits
	asUint8  // stored as INT32, like asUint16 and asUint32
	asUint16 //
	asUint32 //
	asUint64
	asHalf
	asFloat
	asDouble
	asDecimal
)

// nonNumericTypes are the types without parameters whose values are not numbers.
var nonNumericTypes = map[schema.LogicalType]struct{ typ, why string }{
	schema.StringLogicalType{}:   {"string", "text"},
	schema.EnumLogicalType{}:     {"enum", "text (enum)"},
	schema.JSONLogicalType{}:     {"json", "text (JSON)"},
	schema.BSONLogicalType{}:     {"bson", "binary (BSON)"},
	schema.UUIDLogicalType{}:     {"uuid", "identifier (UUID)"},
	schema.DateLogicalType{}:     {"date", "date"},
	schema.IntervalLogicalType{}: {"interval", "interval"},
	schema.NullLogicalType{}:     {"null", "always null"},
}

// numericType describes the type of a primitive node: the conversion k of its values to numbers, the scale if it is a
// decimal, its name for reports, and the reason why if it is not numeric.
func numericType(p *schema.PrimitiveNode) (k numberKind, scale int, typ, why string) {
	switch t := p.LogicalType().(type) {
	case *schema.TimeLogicalType:
		return notNumber, 0, "time", "time of day"
	case *schema.TimestampLogicalType:
		return notNumber, 0, "timestamp", "timestamp"
	case schema.Float16LogicalType:
		return asHalf, 0, "float16", ""
	case *schema.DecimalLogicalType:
		typ = fmt.Sprintf("decimal(%d,%d)", t.Precision(), t.Scale())
		if t.Scale() < 0 || t.Scale() > maxScale {
			return notNumber, 0, typ, "decimal of a scale that cannot be read"
		}
		return asDecimal, int(t.Scale()), typ, ""
	case *schema.IntLogicalType:
		name := fmt.Sprintf("int%d", t.BitWidth())
		if t.IsSigned() {
			return asSigned, 0, name, ""
		}
		return map[int8]numberKind{8: asUint8, 16: asUint16, 32: asUint32, 64: asUint64}[t.BitWidth()], 0, "u" + name, ""
	case schema.NoLogicalType, nil:
		return numericTypeWithoutAnnotation(p.PhysicalType())
	}
	if known, ok := nonNumericTypes[p.LogicalType()]; ok {
		return notNumber, 0, known.typ, known.why
	}
	return notNumber, 0, "unknown", "type unknown to this program"
}

func numericTypeWithoutAnnotation(t parquet.Type) (numberKind, int, string, string) {
	switch t {
	case parquet.Types.Boolean:
		return asBool, 0, "bool", ""
	case parquet.Types.Int32:
		return asSigned, 0, "int32", ""
	case parquet.Types.Int64:
		return asSigned, 0, "int64", ""
	case parquet.Types.Float:
		return asFloat, 0, "float", ""
	case parquet.Types.Double:
		return asDouble, 0, "double", ""
	case parquet.Types.Int96:
		return notNumber, 0, "int96", "timestamp"
	}
	return notNumber, 0, "binary", "binary"
}
