package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// putBatch writes values of the writer's physical type.
func putBatch(w pqfile.ColumnChunkWriter, values any, def, rep []int16) error {
	written := reflect.ValueOf(w).MethodByName("WriteBatch").Call([]reflect.Value{reflect.ValueOf(values), reflect.ValueOf(def), reflect.ValueOf(rep)})
	err, _ := written[1].Interface().(error)
	return err
}

// typeCase is a column type: n values of it, physical and as numbers.
type typeCase struct {
	typ  string
	node func(parquet.Repetition) schema.Node
	make func(r *rand.Rand, n int) (any, []float64)
	// encodings in addition to PLAIN and the dictionary
	encodings []parquet.Encoding
}

// fill makes n values from a function of one.
func fill[T any](one func(*rand.Rand) (T, float64)) func(*rand.Rand, int) (any, []float64) {
	return func(r *rand.Rand, n int) (any, []float64) {
		values, want := make([]T, n), make([]float64, n)
		for i := range values {
			values[i], want[i] = one(r)
		}
		return values, want
	}
}

func logicalNode(l schema.LogicalType, physical parquet.Type, size int) func(parquet.Repetition) schema.Node {
	return func(rep parquet.Repetition) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical("x", rep, l, physical, size, -1))
	}
}

func typeCases() []typeCase {
	types, none := parquet.Types, schema.NoLogicalType{}
	delta := []parquet.Encoding{parquet.Encodings.DeltaBinaryPacked}
	ints := func(bits int8, signed bool) typeCase {
		typ := "int"
		if !signed {
			typ = "uint"
		}
		c := typeCase{typ: fmt.Sprint(typ, bits), encodings: delta}
		l := schema.NewIntLogicalType(bits, signed)
		value := func(r *rand.Rand) (int64, float64) {
			v := r.Uint64()
			if r.IntN(3) == 0 {
				v = uint64(r.IntN(5)) - 2 // around zero, and both ends
			}
			if signed {
				x := int64(v<<(64-bits)) >> (64 - bits)
				return x, float64(x)
			}
			x := v << (64 - bits) >> (64 - bits)
			return int64(x), float64(x)
		}
		if bits == 64 {
			c.node, c.make = logicalNode(l, types.Int64, 0), fill(value)
			return c
		}
		c.node = logicalNode(l, types.Int32, 0)
		c.make = fill(func(r *rand.Rand) (int32, float64) { x, f := value(r); return int32(x), f })
		return c
	}
	decimals := func(physical parquet.Type, size, precision, scale int) typeCase {
		c := typeCase{typ: fmt.Sprintf("decimal(%d,%d)", precision, scale)}
		c.node = logicalNode(schema.NewDecimalLogicalType(int32(precision), int32(scale)), physical, size)
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
		value := func(r *rand.Rand) *big.Int {
			v := new(big.Int).SetUint64(r.Uint64())
			v.Mul(v, new(big.Int).SetUint64(r.Uint64())).Rem(v, limit)
			if r.IntN(2) == 0 {
				v.SetInt64(int64(r.IntN(1000)))
			}
			if r.IntN(2) == 0 {
				v.Neg(v)
			}
			return v
		}
		switch physical {
		case types.Int32:
			c.make = fill(func(r *rand.Rand) (int32, float64) {
				v := value(r)
				return int32(v.Int64()), formattest.NaiveDecimal(v, scale)
			})
		case types.Int64:
			c.make = fill(func(r *rand.Rand) (int64, float64) {
				v := value(r)
				return v.Int64(), formattest.NaiveDecimal(v, scale)
			})
		case types.FixedLenByteArray:
			c.make = fill(func(r *rand.Rand) (parquet.FixedLenByteArray, float64) {
				v := value(r)
				return formattest.BigEndian(v, size), formattest.NaiveDecimal(v, scale)
			})
		default:
			c.encodings = []parquet.Encoding{parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray}
			c.make = fill(func(r *rand.Rand) (parquet.ByteArray, float64) {
				v := value(r)
				return formattest.BigEndian(v, v.BitLen()/8+1), formattest.NaiveDecimal(v, scale)
			})
		}
		return c
	}
	return []typeCase{
		{typ: "bool", node: logicalNode(none, types.Boolean, 0), make: fill(func(r *rand.Rand) (bool, float64) {
			x := r.IntN(2)
			return x == 1, float64(x)
		}), encodings: []parquet.Encoding{parquet.Encodings.RLE}},
		ints(8, true), ints(16, true), ints(32, true), ints(64, true),
		ints(8, false), ints(16, false), ints(32, false), ints(64, false),
		{typ: "float", node: logicalNode(none, types.Float, 0), make: fill(func(r *rand.Rand) (float32, float64) {
			x := float32(r.NormFloat64())
			return x, float64(x)
		})},
		{typ: "double", node: logicalNode(none, types.Double, 0), make: fill(func(r *rand.Rand) (float64, float64) {
			x := r.NormFloat64()
			if r.IntN(50) == 0 {
				x = math.Inf(1)
			}
			return x, x
		})},
		{typ: "float16", node: logicalNode(schema.Float16LogicalType{}, types.FixedLenByteArray, 2), make: fill(func(r *rand.Rand) (parquet.FixedLenByteArray, float64) {
			x := float16.New(float32(r.NormFloat64()))
			return binary.LittleEndian.AppendUint16(nil, x.Uint16()), float64(x.Float32())
		})},
		decimals(types.Int32, 0, 9, 3), decimals(types.Int64, 0, 18, 7), decimals(types.FixedLenByteArray, 5, 11, 0),
		decimals(types.FixedLenByteArray, 16, 38, 10), decimals(types.FixedLenByteArray, 16, 38, 38), decimals(types.ByteArray, 0, 30, 25),
	}
}

// written are the codecs that the library writes.
var written = decodableCodecs[:5]

// TestEveryEncoding decodes every type, encoding, codec and page version that arrow's
// writer can produce, whole and in ranges, with and without nulls.
func TestEveryEncoding(t *testing.T) {
	turn := 0 // codecs take turns, each type and encoding meets several
	for _, c := range typeCases() {
		encodings := append([]parquet.Encoding{parquet.Encodings.RLEDict, parquet.Encodings.Plain}, c.encodings...)
		for _, e := range encodings {
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				for _, rep := range []parquet.Repetition{parquet.Repetitions.Required, parquet.Repetitions.Optional} {
					codec := written[turn%len(written)]
					turn++
					t.Run(fmt.Sprint(c.typ, " ", e, " v", version+1, " ", rep, " ", codec), func(t *testing.T) {
						roundTrip(t, c, e, version, rep, codec)
					})
				}
			}
		}
	}
}

func roundTrip(t *testing.T, c typeCase, e parquet.Encoding, version parquet.DataPageVersion, rep parquet.Repetition, codec compress.Compression) {
	const rows, groups = 400, 2
	r := rand.New(rand.NewPCG(7, uint64(e)))
	var want []float64
	props := []parquet.WriterProperty{
		parquet.WithDataPageVersion(version), parquet.WithCompression(codec), parquet.WithDataPageSize(1000), parquet.WithBatchSize(64),
	}
	if e == parquet.Encodings.RLEDict {
		props = append(props, parquet.WithDictionaryDefault(true))
	} else {
		props = append(props, parquet.WithDictionaryDefault(false), parquet.WithEncoding(e))
	}
	nulls := int64(0)
	file := formattest.WriteFile(t, schema.FieldList{c.node(rep)}, groups, func(_, _ int, w pqfile.ColumnChunkWriter) error {
		var def []int16
		present := rows
		if rep == parquet.Repetitions.Optional {
			def = make([]int16, rows)
			present = 0
			for i := range def {
				if i/50%3 == 0 && r.IntN(3) > 0 || i/50%5 == 1 { // runs of nulls, mixtures, and full pages
					continue
				}
				def[i] = 1
				present++
			}
		}
		values, numbers := c.make(r, present)
		for i := range rows {
			if def != nil && def[i] == 0 {
				want = append(want, format.Null)
				nulls++
			} else {
				want = append(want, numbers[0])
				numbers = numbers[1:]
			}
		}
		return putBatch(w, values, def, nil)
	}, props...)
	f, err := Open(formattest.NewMemory(file), 1<<20)
	formattest.Must(t, err)
	if l := f.leaves[0]; l.Type != c.typ || l.Why != "" || l.Nulls != nulls && l.Nulls >= 0 {
		t.Fatalf("leaf %+v, want type %s and %d nulls", l, c.typ, nulls)
	}
	for _, step := range []int64{rows, 133, 64, 399} {
		if got := decodeLeaf(t, f, 0, step)[0]; !equalBits(got, want) {
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("ranges of %d: row %d is %v, want %v", step, i, got[i], want[i])
				}
			}
		}
	}
}

// TestColumnReader copies columns of any type through the raw reader.
func TestColumnReader(t *testing.T) {
	text := make([]parquet.ByteArray, 3000)
	for i := range text {
		text[i] = fmt.Append(nil, "text ", i*i%977, strings.Repeat("x", i%50))
	}
	node := schema.NewByteArrayNode("t", parquet.Repetitions.Required, -1)
	for _, e := range []parquet.Encoding{parquet.Encodings.Plain, parquet.Encodings.DeltaByteArray, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.RLEDict} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			props := []parquet.WriterProperty{parquet.WithDataPageVersion(version), parquet.WithDataPageSize(1000), parquet.WithBatchSize(50), parquet.WithCompression(compress.Codecs.Zstd)}
			if e != parquet.Encodings.RLEDict {
				props = append(props, parquet.WithDictionaryDefault(false), parquet.WithEncoding(e))
			}
			file := formattest.WriteFile(t, schema.FieldList{node}, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error {
				return putBatch(w, text, nil, nil)
			}, props...)
			f, err := Open(formattest.NewMemory(file), 1<<20)
			formattest.Must(t, err)
			reader, done, err := f.ColumnReader(0, 0)
			formattest.Must(t, err)
			got := make([]parquet.ByteArray, len(text)+1)
			n, _, err := reader.(*pqfile.ByteArrayColumnChunkReader).ReadBatch(int64(len(got)), got, nil, nil)
			if err := errors.Join(err, reader.Err()); err != nil || n != int64(len(text)) {
				t.Fatalf("%v: %d values, %v", e, n, err)
			}
			for i := range text {
				if !bytes.Equal(got[i], text[i]) {
					t.Fatalf("%v: row %d is %q, want %q", e, i, got[i], text[i])
				}
			}
			done()
		}
	}
}
