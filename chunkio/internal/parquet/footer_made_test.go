package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
)

// Files that the library cannot write are made here, Thrift field by Thrift field.

// thrift is the fields of a struct, in the order of their numbers.
type thrift struct {
	b    []byte
	last byte
}

func (t thrift) field(id, typ byte, value ...byte) thrift {
	head := []byte{(id-t.last)<<4 | typ}
	if id-t.last > 15 || id == 0 {
		head = binary.AppendVarint([]byte{typ}, int64(id))
	}
	return thrift{slices.Concat(t.b, head, value), id}
}

func (t thrift) i32(id byte, v int64) thrift {
	return t.field(id, thriftI32, binary.AppendVarint(nil, v)...)
}

func (t thrift) i64(id byte, v int64) thrift {
	return t.field(id, thriftI64, binary.AppendVarint(nil, v)...)
}

func (t thrift) text(id byte, s string) thrift {
	return t.field(id, thriftBinary, append(binary.AppendUvarint(nil, uint64(len(s))), s...)...)
}

func (t thrift) record(id byte, r thrift) thrift { return t.field(id, thriftStruct, r.bytes()...) }

func (t thrift) list(id, elem byte, items ...[]byte) thrift {
	head := binary.AppendUvarint([]byte{15<<4 | elem}, uint64(len(items)))
	return t.field(id, thriftList, append(head, slices.Concat(items...)...)...)
}

func (t thrift) bytes() []byte { return append(slices.Clone(t.b), thriftStop) }

// madeColumn is a column of a file of one row group, which begins as one of three INT32 in a PLAIN page.
type madeColumn struct {
	name      string
	physical  parquet.Type
	length    int64 // of fixed values
	annotate  func(thrift) thrift
	codec     compress.Compression
	values    int64
	at, size  int64 // of the chunk; 0 for what is true
	memory    int64 // total_uncompressed_size
	encodings []int64
	noList    bool                // of encodings
	elsewhere string              // the file that the chunk is in
	more      func(thrift) thrift // of the ColumnChunk
	page      []byte              // with its header
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
	elements := [][]byte{thrift{}.text(4, "schema").i32(5, int64(len(columns))).bytes()}
	var chunks [][]byte
	for _, c := range columns {
		e := thrift{}.i32(1, int64(c.physical))
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
		m := thrift{}.i32(1, int64(c.physical))
		if !c.noList {
			var encodings [][]byte
			for _, e := range c.encodings {
				encodings = append(encodings, binary.AppendVarint(nil, e))
			}
			m = m.list(2, thriftI32, encodings...)
		}
		m = m.list(3, thriftBinary).i32(4, int64(c.codec)).i64(5, c.values).i64(6, c.memory).i64(7, size).i64(9, at)
		var chunk thrift
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
	group := thrift{}.list(1, thriftStruct, chunks...).i64(2, 0).i64(3, rows).bytes()
	foot := thrift{}.i32(1, 1).list(2, thriftStruct, elements...).i64(3, claimed).list(4, thriftStruct, group).bytes()
	file = append(file, foot...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(foot))), Magic...)
}
