package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// kind says how physical values become numbers.
type kind uint8

const (
	notNumber kind = iota
	asBool
	asSigned // of 8 to 64 bits
	asUint8  // on INT32, like the next two
	asUint16 //
	asUint32 //
	asUint64
	asHalf
	asFloat
	asDouble
	asDecimal
)

// numericType says what a primitive's values mean: its kind, the type's name for
// reports, and, where it is no number, why.
func numericType(p *schema.PrimitiveNode) (k kind, scale int, typ, why string) {
	switch t := p.LogicalType().(type) {
	case schema.StringLogicalType:
		return notNumber, 0, "string", "text"
	case schema.EnumLogicalType:
		return notNumber, 0, "enum", "text (enum)"
	case schema.JSONLogicalType:
		return notNumber, 0, "json", "text (JSON)"
	case schema.BSONLogicalType:
		return notNumber, 0, "bson", "binary (BSON)"
	case schema.UUIDLogicalType:
		return notNumber, 0, "uuid", "identifier (UUID)"
	case schema.DateLogicalType:
		return notNumber, 0, "date", "date"
	case *schema.TimeLogicalType:
		return notNumber, 0, "time", "time of day"
	case *schema.TimestampLogicalType:
		return notNumber, 0, "timestamp", "timestamp"
	case schema.IntervalLogicalType:
		return notNumber, 0, "interval", "interval"
	case schema.NullLogicalType:
		return notNumber, 0, "null", "always null"
	case schema.Float16LogicalType:
		return asHalf, 0, "float16", ""
	case *schema.DecimalLogicalType:
		typ = fmt.Sprintf("decimal(%d,%d)", t.Precision(), t.Scale())
		if t.Scale() < 0 || t.Scale() > maxScale {
			return notNumber, 0, typ, "decimal of a scale that cannot be read"
		}
		return asDecimal, int(t.Scale()), typ, ""
	case *schema.IntLogicalType:
		return intKind(t)
	case schema.NoLogicalType, nil:
		return plainType(p.PhysicalType())
	}
	return notNumber, 0, "unknown", "type unknown to this program"
}

func intKind(t *schema.IntLogicalType) (kind, int, string, string) {
	name := fmt.Sprintf("int%d", t.BitWidth())
	if t.IsSigned() {
		return asSigned, 0, name, ""
	}
	k := asUint64
	switch t.BitWidth() {
	case 8:
		k = asUint8
	case 16:
		k = asUint16
	case 32:
		k = asUint32
	}
	return k, 0, "u" + name, ""
}

func plainType(t parquet.Type) (kind, int, string, string) {
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
