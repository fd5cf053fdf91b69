package copier

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
)

type arrowMapping struct {
	physical parquet.Type
	logical  schema.LogicalType
	size     int  // length of fixed-length byte arrays, else -1
	dict     bool // whether a dictionary probably saves space
}

func (m arrowMapping) newNode(name string, required bool) (*schema.PrimitiveNode, error) {
	return schema.NewPrimitiveNodeLogical(name, writer.Repetition(required), m.logical, m.physical, m.size, -1)
}

// mapArrowType returns a Parquet type that can represent every value of t. This is the same type if Parquet supports
// it. Times in seconds become milliseconds, because Parquet does not support seconds.
func mapArrowType(t arrow.DataType) (arrowMapping, error) {
	none := schema.NoLogicalType{}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		m, err := mapArrowType(t.ValueType)
		m.dict = true
		return m, err
	case *arrow.RunEndEncodedType:
		m, err := mapArrowType(t.Encoded())
		m.dict = true
		return m, err
	case *arrow.BooleanType:
		return arrowMapping{parquet.Types.Boolean, none, -1, false}, nil
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		bits, physical := t.(arrow.FixedWidthDataType).BitWidth(), parquet.Types.Int32
		if bits == 64 {
			physical = parquet.Types.Int64
		}
		return arrowMapping{physical, schema.NewIntLogicalType(int8(bits), arrow.IsSignedInteger(t.ID())), -1, bits <= 16}, nil
	case *arrow.Float16Type:
		return arrowMapping{parquet.Types.FixedLenByteArray, schema.Float16LogicalType{}, 2, false}, nil
	case *arrow.Float32Type:
		return arrowMapping{parquet.Types.Float, none, -1, false}, nil
	case *arrow.Float64Type:
		return arrowMapping{parquet.Types.Double, none, -1, false}, nil
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return arrowMapping{parquet.Types.ByteArray, schema.StringLogicalType{}, -1, true}, nil
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return arrowMapping{parquet.Types.ByteArray, none, -1, true}, nil
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth > 0 {
			return arrowMapping{parquet.Types.FixedLenByteArray, none, t.ByteWidth, true}, nil
		}
	case *arrow.Date32Type, *arrow.Date64Type:
		return arrowMapping{parquet.Types.Int32, schema.DateLogicalType{}, -1, true}, nil
	case *arrow.Time32Type:
		return arrowMapping{parquet.Types.Int32, schema.NewTimeLogicalType(false, schema.TimeUnitMillis), -1, false}, nil
	case *arrow.Time64Type:
		return arrowMapping{parquet.Types.Int64, schema.NewTimeLogicalType(false, parquetTimeUnit(t.Unit)), -1, false}, nil
	case *arrow.TimestampType:
		return arrowMapping{parquet.Types.Int64, schema.NewTimestampLogicalType(t.TimeZone != "", parquetTimeUnit(t.Unit)), -1, false}, nil
	case *arrow.DurationType:
		return arrowMapping{parquet.Types.Int64, none, -1, false}, nil
	case *arrow.Decimal128Type:
		return mapDecimal(t.Precision, t.Scale, 16)
	case *arrow.Decimal256Type:
		return mapDecimal(t.Precision, t.Scale, 32)
	case *arrow.NullType:
		return arrowMapping{parquet.Types.Int32, schema.NullLogicalType{}, -1, false}, nil
	case arrow.ExtensionType:
		return mapArrowType(t.StorageType())
	}
	return arrowMapping{}, fmt.Errorf("the Arrow type %v cannot be written to Parquet", t)
}

// mapDecimal maps decimals of up to 18 digits to Parquet integers, as most writers do.
func mapDecimal(precision, scale int32, size int) (arrowMapping, error) {
	if precision < 1 || scale < 0 || scale > precision {
		return arrowMapping{}, fmt.Errorf("decimal(%d,%d) cannot be written to Parquet", precision, scale)
	}
	m := arrowMapping{parquet.Types.FixedLenByteArray, schema.NewDecimalLogicalType(precision, scale), size, false}
	if precision <= 18 {
		m.physical, m.size = parquet.Types.Int64, -1
	}
	return m, nil
}

func parquetTimeUnit(u arrow.TimeUnit) schema.TimeUnitType {
	switch u {
	case arrow.Microsecond:
		return schema.TimeUnitMicros
	case arrow.Nanosecond:
		return schema.TimeUnitNanos
	}
	return schema.TimeUnitMillis
}
