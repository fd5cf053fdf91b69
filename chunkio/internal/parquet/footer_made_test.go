package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// Files that the library cannot write are made here, Thrift field by Thrift field.

// thrift is the fields of a struct, in the order of their numbers.
type thriftBytes struct {
	b    []byte
	last byte
}

func (t thriftBytes) field(id, typ byte, value ...byte) thriftBytes {
	head := []byte{(id-t.last)<<4 | typ}
	if id-t.last > 15 || id == 0 {
		head = binary.AppendVarint([]byte{typ}, int64(id))
	}
	return thriftBytes{slices.Concat(t.b, head, value), id}
}

func (t thriftBytes) i32(id byte, v int64) thriftBytes {
	return t.field(id, thrift.I32, binary.AppendVarint(nil, v)...)
}

func (t thriftBytes) i64(id byte, v int64) thriftBytes {
	return t.field(id, thrift.I64, binary.AppendVarint(nil, v)...)
}

func (t thriftBytes) text(id byte, s string) thriftBytes {
	return t.field(id, thrift.Binary, append(binary.AppendUvarint(nil, uint64(len(s))), s...)...)
}

func (t thriftBytes) record(id byte, r thriftBytes) thriftBytes {
	return t.field(id, thrift.Struct, r.bytes()...)
}

func (t thriftBytes) list(id, elem byte, items ...[]byte) thriftBytes {
	head := binary.AppendUvarint([]byte{15<<4 | elem}, uint64(len(items)))
	return t.field(id, thrift.List, append(head, slices.Concat(items...)...)...)
}

func (t thriftBytes) bytes() []byte { return append(slices.Clone(t.b), thrift.Stop) }

// madeColumn is a column of a file of one row group, which begins as one of three INT32 in a PLAIN page.
type madeColumn struct {
	name      string
	physical  parquet.Type
	length    int64 // of fixed values
	annotate  func(thriftBytes) thriftBytes
	codec     compress.Compression
	values    int64
	at, size  int64 // of the chunk; 0 for what is true
	memory    int64 // total_uncompressed_size
	encodings []int64
	noList    bool                          // of encodings
	elsewhere string                        // the file that the chunk is in
	more      func(thriftBytes) thriftBytes // of the ColumnChunk
	page      []byte                        // with its header
}

// plainColumn has the values 1, 2 and 3.
func plainColumn(name string) madeColumn {
	values := []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}
	return madeColumn{name: name, physical: parquet.Types.Int32, values: 3, memory: 40, encodings: []int64{0, 3}, page: madePage(values, values)}
}

// madePage is a PLAIN page of three values.
func madePage(values, packed []byte) []byte {
	h := AppendPageHeader(nil, PageHeader{Kind: DataPage, Uncompressed: len(values), Compressed: len(packed), Values: 3, DefLevels: parquet.Encodings.RLE, RepLevels: parquet.Encodings.RLE, CRC: crc32.ChecksumIEEE(packed), HasCRC: true})
	return append(h, packed...)
}

// makeFile writes a file whose footer claims the given number of rows; it has a row for each value of the first
// column.
func makeFile(claimed int64, columns ...madeColumn) []byte {
	file := []byte(Magic)
	elements := [][]byte{thriftBytes{}.text(4, "schema").i32(5, int64(len(columns))).bytes()}
	var chunks [][]byte
	for _, c := range columns {
		e := thriftBytes{}.i32(1, int64(c.physical))
		if c.length != 0 {
			e = e.i32(2, c.length)
		}
		e = e.i32(3, 0).text(4, c.name)
		if c.annotate != nil {
			e = c.annotate(e)
		}
		elements = append(elements, e.bytes())
		at, size := int64(len(file)), int64(len(c.page))
		if c.at != 0 {
			at = c.at
		}
		if c.size != 0 {
			size = c.size
		}
		file = append(file, c.page...)
		m := thriftBytes{}.i32(1, int64(c.physical))
		if !c.noList {
			var encodings [][]byte
			for _, e := range c.encodings {
				encodings = append(encodings, binary.AppendVarint(nil, e))
			}
			m = m.list(2, thrift.I32, encodings...)
		}
		m = m.list(3, thrift.Binary).i32(4, int64(c.codec)).i64(5, c.values).i64(6, c.memory).i64(7, size).i64(9, at)
		var chunk thriftBytes
		if c.elsewhere != "" {
			chunk = chunk.text(1, c.elsewhere)
		}
		chunk = chunk.i64(2, 0).record(3, m)
		if c.more != nil {
			chunk = c.more(chunk)
		}
		chunks = append(chunks, chunk.bytes())
	}
	rows := claimed
	if len(columns) > 0 {
		rows = columns[0].values
	}
	group := thriftBytes{}.list(1, thrift.Struct, chunks...).i64(2, 0).i64(3, rows).bytes()
	foot := thriftBytes{}.i32(1, 1).list(2, thrift.Struct, elements...).i64(3, claimed).list(4, thrift.Struct, group).bytes()
	file = append(file, foot...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(foot))), Magic...)
}
