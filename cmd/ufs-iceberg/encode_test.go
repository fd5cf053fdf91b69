package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func leaf(t *testing.T, physical parquet.Type, logical schema.LogicalType, length int) *schema.PrimitiveNode {
	t.Helper()
	if logical == nil {
		logical = schema.NoLogicalType{}
	}
	return must.Get(schema.NewPrimitiveNodeLogical("c", parquet.Repetitions.Optional, logical, physical, length, 1))(t)
}

// int96 is a timestamp of Hive, by the days of Julian's calendar.
func int96(at time.Time) (v parquet.Int96) {
	midnight := at.Truncate(24 * time.Hour)
	binary.LittleEndian.PutUint64(v[:], uint64(at.Sub(midnight)))
	binary.LittleEndian.PutUint32(v[8:], uint32(midnight.Unix()/86400+2440588))
	return v
}

// Values of a column are equal if their bytes are, whichever types they have in files or in a manifest.
func TestEqualAcrossTypes(t *testing.T) {
	p, types := iceberg.PrimitiveTypes, parquet.Types
	at := time.Date(1816, 3, 4, 5, 6, 7, 891_234_567, time.UTC)
	day := at.Truncate(24 * time.Hour)
	stamp := func(unit schema.TimeUnitType) schema.LogicalType { return schema.NewTimestampLogicalType(false, unit) }
	decimal := schema.NewDecimalLogicalType(9, 2)
	type cell struct {
		physical parquet.Type
		logical  schema.LogicalType
		length   int
		value    any
	}
	constant := parquet.Type(-1)
	for name, c := range map[string]struct {
		of    iceberg.Type
		cells []cell
	}{
		"int":           {p.Int64, []cell{{physical: types.Int32, value: int32(-7)}, {physical: types.Int64, value: int64(-7)}, {physical: constant, value: int32(-7)}, {physical: constant, value: int64(-7)}}},
		"float":         {p.Float64, []cell{{physical: types.Float, value: float32(1.1)}, {physical: types.Double, value: float64(float32(1.1))}, {physical: constant, value: float32(1.1)}}},
		"NaN":           {p.Float64, []cell{{physical: types.Float, value: float32(math.NaN())}, {physical: types.Double, value: -math.NaN()}, {physical: types.Double, value: math.Float64frombits(0x7ff8_0000_0000_1234)}}},
		"decimal":       {iceberg.DecimalTypeOf(30, 2), []cell{{types.Int32, decimal, 0, int32(-150)}, {types.Int64, decimal, 0, int64(-150)}, {types.FixedLenByteArray, decimal, 13, append(bytes.Repeat([]byte{0xff}, 12), 0x6a)}, {types.ByteArray, decimal, 0, []byte{0xff, 0x6a}}, {physical: constant, value: iceberg.Decimal{Val: decimal128.FromI64(-150), Scale: 2}}}},
		"large decimal": {iceberg.DecimalTypeOf(38, 2), []cell{{types.FixedLenByteArray, schema.NewDecimalLogicalType(38, 2), 16, twosComplement(new(big.Int).Lsh(big.NewInt(-3), 100))}, {physical: constant, value: iceberg.Decimal{Val: decimal128.FromBigInt(new(big.Int).Lsh(big.NewInt(-3), 100)), Scale: 2}}}},
		"timestamp": {p.Timestamp, []cell{
			{types.Int64, stamp(schema.TimeUnitMicros), 0, at.UnixMicro()}, {types.Int64, stamp(schema.TimeUnitNanos), 0, at.UnixNano()}, {physical: types.Int96, value: int96(at)}, {physical: constant, value: iceberg.Timestamp(at.UnixMicro())},
		}},
		"nanoseconds":         {p.TimestampNs, []cell{{types.Int64, stamp(schema.TimeUnitNanos), 0, at.UnixNano()}, {physical: types.Int96, value: int96(at)}}},
		"date as a time":      {p.Timestamp, []cell{{types.Int32, schema.DateLogicalType{}, 0, int32(day.Unix() / 86400)}, {types.Int64, stamp(schema.TimeUnitMillis), 0, day.UnixMilli()}, {types.Int64, stamp(schema.TimeUnitMicros), 0, day.UnixMicro()}}},
		"date as nanoseconds": {p.TimestampNs, []cell{{types.Int32, schema.DateLogicalType{}, 0, int32(day.Unix() / 86400)}, {types.Int64, stamp(schema.TimeUnitNanos), 0, day.UnixNano()}}},
		"date":                {p.Date, []cell{{types.Int32, schema.DateLogicalType{}, 0, int32(-5)}, {physical: constant, value: iceberg.Date(-5)}}},
		"time":                {p.Time, []cell{{types.Int64, schema.NewTimeLogicalType(true, schema.TimeUnitMicros), 0, int64(7000)}, {types.Int32, schema.NewTimeLogicalType(true, schema.TimeUnitMillis), 0, int32(7)}, {types.Int64, schema.NewTimeLogicalType(true, schema.TimeUnitNanos), 0, int64(7_000_999)}}},
		"text":                {p.String, []cell{{types.ByteArray, schema.StringLogicalType{}, 0, []byte("zürich")}, {physical: types.ByteArray, value: []byte("zürich")}, {physical: constant, value: "zürich"}}},
		"uuid":                {p.UUID, []cell{{types.FixedLenByteArray, schema.UUIDLogicalType{}, 16, []byte("0123456789abcdef")}, {physical: constant, value: [16]byte([]byte("0123456789abcdef"))}}},
		"truth":               {p.Bool, []cell{{physical: types.Boolean, value: true}, {physical: constant, value: true}}},
	} {
		var first []byte
		for i, v := range c.cells {
			var b []byte
			var err error
			if v.physical == constant {
				b, err = encodeConstant(v.value)
			} else {
				b, err = encodeCell(must.Get(newEncoder(c.of, leaf(t, v.physical, v.logical, v.length)))(t), v.value)
			}
			if err != nil {
				t.Errorf("%s, cell %d: %v", name, i, err)
			}
			if i == 0 {
				first = b
			} else if !bytes.Equal(b, first) {
				t.Errorf("%s: cell %d is % x, and the first % x", name, i, b, first)
			}
		}
	}
}

func encodeCell(e encoder, value any) ([]byte, error) {
	switch v := value.(type) {
	case bool:
		return e.appendBool(nil, v)
	case int32:
		return e.appendInt(nil, int64(v))
	case int64:
		return e.appendInt(nil, v)
	case float32:
		return e.appendFloat(nil, float64(v))
	case float64:
		return e.appendFloat(nil, v)
	case parquet.Int96:
		return e.appendInt96(nil, v)
	}
	return e.appendBytes(nil, value.([]byte))
}

// Different values have different bytes, in one column and in keys of several.
func TestDifferentKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	zero := must.Get(encoder{float: true}.appendFloat(nil, 0))(t)
	if minus := must.Get(encoder{float: true}.appendFloat(nil, math.Copysign(0, -1)))(t); bytes.Equal(zero, minus) {
		t.Error("the zeros are equal")
	}
	decimals := make(map[string]int64)
	for range 10_000 {
		v := rng.Int64() >> rng.IntN(64)
		if rng.IntN(2) == 0 {
			v = -v
		}
		b := string(must.Get(encoder{decimal: true}.appendInt(nil, v))(t))
		if was, known := decimals[b]; known && was != v {
			t.Fatalf("%d and %d have the bytes % x", v, was, b)
		}
		decimals[b] = v
	}
	keys := make(map[string]string)
	some := []string{"", "a", "\x00", "\x01", "a\x01", "\x01a", "\x01\x01a"}
	for range 10_000 {
		var key, said []byte
		for range 3 {
			if rng.IntN(3) == 0 {
				key, said = append(key, 0), append(said, "null,"...)
				continue
			}
			s := some[rng.IntN(len(some))]
			key, said = appendKeyCell(key, []byte(s)), append(said, "'"+s+"',"...)
		}
		if was, known := keys[string(key)]; known && was != string(said) {
			t.Fatalf("%q and %q have the key % x", said, was, key)
		}
		keys[string(key)] = string(said)
	}
}

// A file's column that is not of the table's type is an error, and so is a value outside of the table's type.
func TestStrangeTypes(t *testing.T) {
	p, types := iceberg.PrimitiveTypes, parquet.Types
	for _, c := range []struct {
		of   iceberg.Type
		leaf *schema.PrimitiveNode
	}{
		{p.Int64, leaf(t, types.Double, nil, 0)}, {p.Float64, leaf(t, types.Int32, nil, 0)}, {p.String, leaf(t, types.Int32, nil, 0)},
		{iceberg.DecimalTypeOf(9, 2), leaf(t, types.Int32, schema.NewDecimalLogicalType(9, 3), 0)}, {iceberg.DecimalTypeOf(9, 2), leaf(t, types.Int32, nil, 0)},
		{p.Timestamp, leaf(t, types.Int64, nil, 0)}, {p.Bool, leaf(t, types.Int32, nil, 0)}, {p.UUID, leaf(t, types.ByteArray, nil, 0)},
		{&iceberg.StructType{}, leaf(t, types.Int32, nil, 0)},
	} {
		if _, err := newEncoder(c.of, c.leaf); err == nil {
			t.Errorf("%s of %v: got no error", c.of, c.leaf)
		}
	}
	nanos := must.Get(newEncoder(p.TimestampNs, leaf(t, types.Int32, schema.DateLogicalType{}, 0)))(t)
	hive := must.Get(newEncoder(p.TimestampNs, leaf(t, types.Int96, nil, 0)))(t)
	for _, year := range []int{1, 9999} {
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if _, err := nanos.appendInt(nil, at.Unix()/86400); err == nil || !strings.Contains(err.Error(), "outside of the range") {
			t.Errorf("year %d in nanoseconds: %v, want an error", year, err)
		}
		if _, err := hive.appendInt96(nil, int96(at)); err == nil || !strings.Contains(err.Error(), "outside of the range") {
			t.Errorf("year %d of Hive in nanoseconds: %v, want an error", year, err)
		}
	}
}
