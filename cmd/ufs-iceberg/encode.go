package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"
)

// encoder writes values of a column as bytes. Two values of a column of the table are equal if and only if their bytes
// are equal, whatever types they have in files: the files may be older than a promotion of the column's type.
// All NaNs are equal, and the two zeros of floats differ, as among partition values. Functions that are nil do not apply.
type encoder struct {
	convert func(int64) (int64, error) // converts a whole number to the unit of the table's type
	decimal bool
	float   bool
	truth   bool
	text    bool
	nano    bool // times have nanoseconds
	epoch   bool // the type is a timestamp
}

var errStrangeType = errors.New("its type in the file is not the table's")

func newEncoder(t iceberg.Type, leaf *schema.PrimitiveNode) (encoder, error) {
	e, whole := encoder{}, leaf.PhysicalType() == parquet.Types.Int32 || leaf.PhysicalType() == parquet.Types.Int64
	var fits bool
	switch t := t.(type) {
	case iceberg.BooleanType:
		e.truth, fits = true, leaf.PhysicalType() == parquet.Types.Boolean
	case iceberg.Int32Type, iceberg.Int64Type:
		e.convert, fits = keepNumber, whole
	case iceberg.Float32Type, iceberg.Float64Type:
		e.float, fits = true, leaf.PhysicalType() == parquet.Types.Float || leaf.PhysicalType() == parquet.Types.Double
	case iceberg.DecimalType:
		logical, is := leaf.LogicalType().(schema.DecimalLogicalType)
		e.decimal, fits = true, is && int(logical.Scale()) == t.Scale()
	case iceberg.DateType:
		e.convert, fits = keepNumber, leaf.PhysicalType() == parquet.Types.Int32
	case iceberg.TimeType:
		logical, is := leaf.LogicalType().(schema.TimeLogicalType)
		if fits = is; is {
			e.convert = converterOfUnits(logical.TimeUnit(), time.Microsecond)
		}
	case iceberg.TimestampType, iceberg.TimestampTzType:
		e.epoch = true
		e.convert, fits = timestampConverter(leaf, time.Microsecond)
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		e.epoch, e.nano = true, true
		e.convert, fits = timestampConverter(leaf, time.Nanosecond)
	case iceberg.StringType, iceberg.BinaryType:
		e.text, fits = true, leaf.PhysicalType() == parquet.Types.ByteArray
	case iceberg.UUIDType, iceberg.FixedType:
		e.text, fits = true, leaf.PhysicalType() == parquet.Types.FixedLenByteArray
	default:
		return e, fmt.Errorf("values of type %s cannot be compared for equality", t)
	}
	if !fits {
		return e, fmt.Errorf("column %q: %w, %s", leaf.Path(), errStrangeType, t)
	}
	return e, nil
}

func keepNumber(v int64) (int64, error) { return v, nil }

func timestampConverter(leaf *schema.PrimitiveNode, unit time.Duration) (func(int64) (int64, error), bool) {
	switch logical := leaf.LogicalType().(type) {
	case schema.TimestampLogicalType:
		return converterOfUnits(logical.TimeUnit(), unit), true
	case schema.DateLogicalType:
		return multiplier(int64(24 * time.Hour / unit)), true
	}
	return nil, leaf.PhysicalType() == parquet.Types.Int96
}

func converterOfUnits(from schema.TimeUnitType, unit time.Duration) func(int64) (int64, error) {
	of := map[schema.TimeUnitType]time.Duration{schema.TimeUnitMillis: time.Millisecond, schema.TimeUnitMicros: time.Microsecond, schema.TimeUnitNanos: time.Nanosecond}[from]
	switch {
	case of == 0:
		return func(int64) (int64, error) { return 0, errStrangeType }
	case of < unit:
		return func(v int64) (int64, error) {
			q := v / int64(unit/of)
			if v%int64(unit/of) < 0 {
				q-- // towards the past
			}
			return q, nil
		}
	}
	return multiplier(int64(of / unit))
}

func multiplier(factor int64) func(int64) (int64, error) {
	return func(v int64) (int64, error) {
		if v > math.MaxInt64/factor || v < math.MinInt64/factor {
			return 0, fmt.Errorf("its value %d is outside of the range of the table's type", v)
		}
		return v * factor, nil
	}
}

func (e encoder) appendBool(b []byte, v bool) ([]byte, error) {
	if !e.truth {
		return b, errStrangeType
	}
	if v {
		return append(b, 1), nil
	}
	return append(b, 0), nil
}

func (e encoder) appendInt(b []byte, v int64) ([]byte, error) {
	switch {
	case e.decimal:
		var whole [8]byte
		binary.BigEndian.PutUint64(whole[:], uint64(v))
		return appendTrimmed(b, whole[:]), nil
	case e.convert == nil:
		return b, errStrangeType
	}
	v, err := e.convert(v)
	return binary.BigEndian.AppendUint64(b, uint64(v)), err
}

// appendInt96 appends a timestamp of Hive and old versions of Spark.
func (e encoder) appendInt96(b []byte, v parquet.Int96) ([]byte, error) {
	at := v.ToTime()
	switch {
	case !e.epoch:
		return b, errStrangeType
	case !e.nano:
		return binary.BigEndian.AppendUint64(b, uint64(at.UnixMicro())), nil
	case !time.Unix(0, at.UnixNano()).Equal(at):
		return b, fmt.Errorf("its value %v is outside of the range of the table's type", at)
	}
	return binary.BigEndian.AppendUint64(b, uint64(at.UnixNano())), nil
}

func (e encoder) appendFloat(b []byte, v float64) ([]byte, error) {
	if !e.float {
		return b, errStrangeType
	}
	if math.IsNaN(v) {
		v = math.NaN()
	}
	return binary.BigEndian.AppendUint64(b, math.Float64bits(v)), nil
}

func (e encoder) appendBytes(b, v []byte) ([]byte, error) {
	switch {
	case e.decimal:
		return appendTrimmed(b, v), nil
	case e.text:
		return append(b, v...), nil
	}
	return b, errStrangeType
}

// appendTrimmed appends a big-endian two's complement in its shortest form.
func appendTrimmed(b, v []byte) []byte {
	for len(v) > 1 && (v[0] == 0 && v[1] < 0x80 || v[0] == 0xff && v[1] >= 0x80) {
		v = v[1:]
	}
	return append(b, v...)
}

// encodeConstant encodes a value in the table's own type: a partition value, or the default of a column.
func encodeConstant(value any) ([]byte, error) {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Bool:
		return encoder{truth: true}.appendBool(nil, v.Bool())
	case reflect.Int32, reflect.Int64:
		return encoder{convert: keepNumber}.appendInt(nil, v.Int())
	case reflect.Float32, reflect.Float64:
		return encoder{float: true}.appendFloat(nil, v.Float())
	case reflect.String:
		return []byte(v.String()), nil
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(b), v)
			return b, nil
		}
	case reflect.Struct:
		if d, ok := value.(iceberg.Decimal); ok {
			return twosComplement(d.Val.BigInt()), nil
		}
		if d, ok := value.(iceberg.DecimalLiteral); ok {
			return twosComplement(d.Val.BigInt()), nil
		}
	}
	return nil, fmt.Errorf("a value of type %T cannot be compared for equality", value)
}

func twosComplement(x *big.Int) []byte {
	const size = 17 // more than any decimal has
	if x.Sign() < 0 {
		x = new(big.Int).Add(x, new(big.Int).Lsh(big.NewInt(1), 8*size))
	}
	return appendTrimmed(nil, x.FillBytes(make([]byte, size)))
}
