package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// Page types of parquet.thrift.
const (
	DataPage       = 0
	indexPage      = 1
	DictionaryPage = 2
	dataPageV2     = 3
)

// PageHeader contains the fields of parquet.thrift's PageHeader and of the structs in it. Sizes are in bytes and not
// negative.
type PageHeader struct {
	Kind                     int
	Compressed, Uncompressed int // bytes of the page in the file and in memory, without its header
	CRC                      uint32
	HasCRC                   bool

	Values             int // number of entries, including nulls; for a dictionary: distinct values
	Encoding           parquet.Encoding
	DefLevels          parquet.Encoding // encodings of the levels, version 1 only
	RepLevels          parquet.Encoding
	nulls, rows        int  // version 2 only: numbers of nulls and rows
	defBytes, repBytes int  // version 2 only: bytes of the levels, which are never compressed
	plain              bool // version 2 only: the values are not compressed either
}

// ParsePageHeader parses the header at the start of b and returns its length. The error ErrShort means that b may
// contain only a part of the header.
func ParsePageHeader(b []byte) (PageHeader, int, error) {
	c := thrift.Reader{Bytes: b}
	var top [5]int64
	v1, dict := [5]int64{}, [3]int64{}
	v2 := [8]int64{7: 1} // is_compressed defaults to true
	var v1Set, dictSet, v2Set uint64
	set := c.ReadStruct(top[:], func(id int64, typ byte) bool {
		if typ != thrift.Struct {
			return false
		}
		switch id {
		case 5:
			v1Set = c.ReadStruct(v1[:], nil)
		case 7:
			dictSet = c.ReadStruct(dict[:], nil)
		case 8:
			v2Set = c.ReadStruct(v2[:], nil)
		default:
			return false
		}
		return true
	})
	if c.Err != nil {
		return PageHeader{}, 0, fmt.Errorf("page header: %w", c.Err)
	}
	h := PageHeader{Kind: int(top[1]), CRC: uint32(top[4]), HasCRC: set&(1<<4) != 0}
	var values, defBytes, repBytes, nulls, rows int64
	want, got := uint64(0), uint64(0)
	switch h.Kind {
	case DataPage:
		want, got = 1<<1|1<<2|1<<3|1<<4, v1Set
		values = v1[1]
		h.Encoding, h.DefLevels, h.RepLevels = parquet.Encoding(v1[2]), parquet.Encoding(v1[3]), parquet.Encoding(v1[4])
	case DictionaryPage:
		want, got = 1<<1|1<<2, dictSet
		values, h.Encoding = dict[1], parquet.Encoding(dict[2])
	case dataPageV2:
		want, got = 1<<1|1<<2|1<<3|1<<4|1<<5|1<<6, v2Set
		values, nulls, rows, h.Encoding = v2[1], v2[2], v2[3], parquet.Encoding(v2[4])
		defBytes, repBytes, h.plain = v2[5], v2[6], v2[7] == 0
	}
	if set&(1<<1|1<<2|1<<3) != 1<<1|1<<2|1<<3 || got&want != want {
		return PageHeader{}, 0, errors.New("page header: a required field is absent")
	}
	for _, f := range []struct {
		name string
		v    int64
		to   *int
	}{
		{"uncompressed size", top[2], &h.Uncompressed}, {"compressed size", top[3], &h.Compressed},
		{"number of values", values, &h.Values}, {"number of nulls", nulls, &h.nulls}, {"number of rows", rows, &h.rows},
		{"definition levels' length", defBytes, &h.defBytes}, {"repetition levels' length", repBytes, &h.repBytes},
	} {
		if f.v < 0 || f.v > math.MaxInt32 {
			return PageHeader{}, 0, fmt.Errorf("page header: %s is %d", f.name, f.v)
		}
		*f.to = int(f.v)
	}
	return h, c.Pos, nil
}

// AppendPageHeader appends a header of a data page v1 or of a dictionary page in Thrift's compact protocol;
// ParsePageHeader parses such headers. The upper half byte of a field header is the difference from the previous field
// number, and the lower half byte is the type of the field.
func AppendPageHeader(b []byte, h PageHeader) []byte {
	i32 := func(step byte, v int) {
		u := uint32(v)<<1 ^ uint32(int32(v)>>31) // zigzag
		b = binary.AppendUvarint(append(b, step<<4|thrift.I32), uint64(u))
	}
	i32(1, h.Kind)
	i32(1, h.Uncompressed)
	i32(1, h.Compressed)
	i32(1, int(int32(h.CRC)))
	if h.Kind == DictionaryPage {
		b = append(b, 3<<4|thrift.Struct) // field 7: DictionaryPageHeader
		i32(1, h.Values)
		i32(1, int(h.Encoding))
		b = append(b, 1<<4|thrift.False) // not sorted
	} else {
		b = append(b, 1<<4|thrift.Struct) // field 5: DataPageHeader
		i32(1, h.Values)
		i32(1, int(h.Encoding))
		i32(1, int(h.DefLevels))
		i32(1, int(h.RepLevels))
	}
	return append(b, thrift.Stop, thrift.Stop)
}
