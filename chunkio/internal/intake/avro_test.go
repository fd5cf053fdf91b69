package intake

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// avroFile is a container file of blocks, each of the given number of rows.
func avroFile(schema, codec string, blocks ...avroBlock) string {
	var b []byte
	text := func(s string) { b = append(binary.AppendVarint(b, int64(len(s))), s...) }
	b = append(b, AvroMagic...)
	b = binary.AppendVarint(b, 2)
	text("avro.schema")
	text(schema)
	text("avro.codec")
	text(codec)
	b = append(b, 0)
	mark := "0123456789abcdef"
	b = append(b, mark...)
	for _, k := range blocks {
		packed := k.data
		switch codec {
		case "deflate":
			var out bytes.Buffer
			w, _ := flate.NewWriter(&out, 6)
			w.Write(k.data)
			w.Close()
			packed = out.Bytes()
		case "snappy":
			packed = binary.BigEndian.AppendUint32(snappy.Encode(nil, k.data), crc32.ChecksumIEEE(k.data))
		case "zstandard":
			w, _ := zstd.NewWriter(nil)
			packed = w.EncodeAll(k.data, nil)
		}
		b = binary.AppendVarint(b, int64(k.rows))
		text(string(packed))
		b = append(b, mark...)
	}
	return string(b)
}

type avroBlock struct {
	rows int
	data []byte
}

const avroTypes = `{"type":"record","name":"n.Row","fields":[
 {"name":"i","type":"int"},{"name":"d","type":["null","double"]},{"name":"f","type":"float"},{"name":"s","type":"string"},
 {"name":"b","type":"boolean"},{"name":"in","type":{"type":"record","name":"In","fields":[{"name":"l","type":"long"}]}},
 {"name":"again","type":"n.In"},{"name":"e","type":{"type":"enum","name":"E","symbols":["x","y"]}},
 {"name":"day","type":{"type":"int","logicalType":"date"}},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
 {"name":"dec","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}},
 {"name":"list","type":{"type":"array","items":"In"}},{"name":"map","type":{"type":"map","values":["null","int"]}},
 {"name":"raw","type":{"type":"fixed","name":"Raw","size":3}},{"name":"num","type":["int","double"]},{"name":"odd","type":["int","string"]}]}`

// avroRow is a row of avroTypes.
func avroRow(null bool) []byte {
	var b []byte
	long := func(x int64) { b = binary.AppendVarint(b, x) }
	text := func(s string) { long(int64(len(s))); b = append(b, s...) }
	long(-7)
	if null {
		long(0)
	} else {
		long(1)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(2.5))
	}
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(0.5))
	text("té")
	b = append(b, 1)
	long(1 << 40)
	long(3)
	long(1)
	long(365)
	long(1_500)
	text("\xFF\x85") // -123
	long(2)
	long(5)
	long(6)
	long(0)
	long(-1)
	long(4) // bytes
	text("k")
	long(1)
	long(9)
	long(0)
	b = append(b, "raw"...)
	if null {
		long(0)
		long(8)
	} else {
		long(1)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(8.5))
	}
	long(0)
	long(4)
	return b
}

func avroExample(codec string) string {
	rows := append(avroRow(false), avroRow(true)...)
	return avroFile(avroTypes, codec, avroBlock{2, rows}, avroBlock{0, nil}, avroBlock{1, avroRow(true)})
}

func TestAvro(t *testing.T) {
	for _, codec := range []string{"null", "deflate", "snappy", "zstandard"} {
		wants(t, Avro, avroExample(codec), Options{Exact: anyColumn}, "i int64: -7|-7|-7", "d double: 2.5|null|null", "f double: 0.5|0.5|0.5",
			"s string: té|té|té", "b bool: true|true|true", "in.l int64: 1099511627776|1099511627776|1099511627776", "again.l int64: 3|3|3",
			"e string: y|y|y", "day date: 1971-01-01|1971-01-01|1971-01-01", "at timestamp: 1970-01-01T00:00:01.5Z|1970-01-01T00:00:01.5Z|1970-01-01T00:00:01.5Z",
			"dec double: -1.23|-1.23|-1.23", "num double: 8.5|8|8")
	}
	_, table, err := taken(Avro, []byte(avroExample("null")), Options{})
	formattest.Must(t, err)
	want := []stream.LeftOut{{Name: "list", Why: "lists of varying length"}, {Name: "map", Why: "a map"}, {Name: "raw", Why: "bytes"}, {Name: "odd", Why: "a union of types that no column holds"}}
	if !slices.Equal(table.LeftOut, want) {
		t.Errorf("left out: %v", table.LeftOut)
	}
	if want := []int{11, 11, 11, 12}; !slices.Equal(table.Before, want) { // odd is behind num
		t.Errorf("so many columns stand before those left out: %v, want %v", table.Before, want)
	}
}

// A file that hamba/avro v2.31 wrote, with snappy.
func TestAvroOfAnother(t *testing.T) {
	file, err := os.ReadFile("testdata/hamba.avro")
	formattest.Must(t, err)
	wants(t, Avro, string(file), Options{Exact: anyColumn}, "id int64: 0|1|2", "x double: 0|null|1", "name string: r0|r1|r2", "at timestamp: 2026-01-31T00:00:00Z|2026-01-31T01:00:00Z|2026-01-31T02:00:00Z")
}

// A type within itself has no columns there: its values are passed over, however it is written.
func TestAvroTypesWithinThemselves(t *testing.T) {
	const schema = `{"type":"record","name":"R","fields":[{"name":"z","type":{"type":"record","name":"L","fields":[
 {"name":"v","type":"int"},{"name":"next","type":["null",%s]},{"name":"more","type":{"type":"array","items":%s}}]}},{"name":"a","type":"long"}]}`
	list := []byte{2, 2, 4, 2, 6, 0, 0, 2, 8, 0, 0, 0, 0, 14} // 1 → 2 → 3, whose list is empty, and 2's of one, 4
	for _, name := range []string{`"L"`, `{"type":"L"}`} {
		file := avroFile(fmt.Sprintf(schema, name, name), "null", avroBlock{2, append(list, 10, 0, 0, 16)})
		wants(t, Avro, file, Options{}, "z.v double: 1|5", "a double: 7|8")
		_, table, err := taken(Avro, []byte(file), Options{})
		formattest.Must(t, err)
		if len(table.LeftOut) != 2 || table.LeftOut[0] != (stream.LeftOut{Name: "z.next", Why: "a type that contains itself"}) {
			t.Errorf("left out: %v", table.LeftOut)
		}
	}
	deep := append(bytes.Repeat([]byte{2, 2}, maxDepth), 2, 0, 0)
	refuses(t, Avro, avroFile(fmt.Sprintf(schema, `"L"`, `"L"`), "null", avroBlock{1, deep}), "records more than 10000 deep")
	endless := `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":{"type":"record","name":"L","fields":[{"name":"l","type":"L"}]}}]}`
	refuses(t, Avro, avroFile(endless, "null", avroBlock{1, []byte{2}}), "records more than 10000 deep")
}

func TestAvroRefuses(t *testing.T) {
	one := `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`
	for _, x := range [][2]string{
		{"Obj", "end early"}, {"Obj\x01", "end early"}, {avroFile("{", "null"), "no JSON"}, {avroFile(`"int"`, "null"), "not records"},
		{avroFile(one, "lzma"), "codec"}, {avroFile(`{"type":"record","name":"R","fields":[{"name":"a","type":"R"}]}`, "null"), `column "a": the input has no column that can be read: a type that contains itself`},
		{avroFile(`{"type":"record","name":"R","fields":[{"name":"a","type":"X"}]}`, "null"), `no type "X"`},
		{avroFile(one, "null", avroBlock{2, []byte{2}}), "block"}, {avroFile(one, "null", avroBlock{1, []byte{2, 2}}), "after the last row"},
		{avroFile(one, "null", avroBlock{1 << 40, []byte{2, 2}}), "block of"}, {avroFile(one, "null", avroBlock{1, []byte{2}})[:120], "end early"},
		{avroFile(one, "snappy", avroBlock{1, []byte{2}}) + "x", "end early"},
		{avroFile(`{"type":"record","name":"R","fields":[]}`, "null"), "no column"},
	} {
		refuses(t, Avro, x[0], x[1])
	}
	damaged := []byte(avroFile(one, "null", avroBlock{1, []byte{2}}))
	damaged[len(damaged)-1] ^= 1
	refuses(t, Avro, string(damaged), "mark")
}

// Every cut of a file, and every byte of it changed, is an error or another table, never a panic.
func TestAvroDamage(t *testing.T) {
	whole := []byte(avroExample("null"))
	for n := range whole {
		if _, _, err := taken(Avro, whole[:n], Options{}); err != nil && !errors.As(err, new(*stream.DataError)) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
	for n := range whole {
		bad := bytes.Clone(whole)
		bad[n] ^= 0x81
		survives(Avro, bad)
	}
}

func FuzzAvro(f *testing.F) {
	f.Add([]byte(avroExample("null")))
	f.Add([]byte(avroExample("deflate")))
	f.Add([]byte(avroFile(`{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"l","type":["null","R"]}]}`, "null", avroBlock{1, []byte{2, 2, 4, 0}})))
	f.Fuzz(func(_ *testing.T, data []byte) { survives(Avro, data) })
}
