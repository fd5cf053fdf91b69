package footer

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

func codecByNumber(n int64) compress.Compression {
	if n != int64(int32(n)) {
		n = -1
	}
	return compress.Compression(n)
}

// groupMeta is the footer's description of a row group.
type groupMeta struct {
	Rows        int64
	Chunks      []ChunkMeta
	ChunkFaults map[int]string // by chunk: the reason why it cannot be read
}

// ChunkMeta is the footer's description of a column chunk, checked by checkChunk.
type ChunkMeta struct {
	ChunkInfo
	Dictionary int64       // bytes from the dictionary page to the first data page; 0 without a dictionary page
	Nulls      int64       // null count of the statistics; -1 if absent
	Statistics int         // offset of the statistics in the raw footer; 0: none
	Encodings  EncodingSet // encodings of the values and of the levels
	Physical   parquet.Type
	PlainPages bool // the footer counts the pages by encoding, and some data page is plain
}

// EncodingSet is a set of encodings with one bit for each number. The highest bit represents all other numbers.
type EncodingSet uint64

const lastEncoding = 63

// Add adds the encoding with number e.
func (s *EncodingSet) Add(e int64) {
	if e < 0 || e > lastEncoding {
		e = lastEncoding
	}
	*s |= 1 << e
}

// Has reports whether the set contains an encoding.
func (s EncodingSet) Has(e parquet.Encoding) bool {
	return e >= 0 && e <= lastEncoding && s>>e&1 != 0
}

func parseRowGroups(c *thrift.Reader, shape footerShape) []groupMeta {
	groups, chunks := make([]groupMeta, 0, shape.groups), make([]ChunkMeta, 0, shape.chunks)
	_, n := c.ReadListHeader()
	for range n {
		var g groupMeta
		var fields [4]int64
		first := len(chunks)
		set := c.ReadStruct(fields[:], func(id int64, typ byte) bool {
			if id != 1 || typ != thrift.List {
				return false
			}
			elem, n := c.ReadListHeader()
			if elem != thrift.Struct && n > 0 {
				c.KeepFirstError(fmt.Errorf("column chunks are of type %d", elem))
				return true
			}
			for i := range n {
				if c.Err != nil {
					return true
				}
				m, fault := parseColumnChunk(c)
				if fault != "" {
					g.RecordChunkFault(i, fault)
				}
				chunks = append(chunks, m)
			}
			return true
		})
		if set&(1<<3) == 0 {
			c.KeepFirstError(errors.New("a row group lacks its number of rows"))
		}
		g.Rows, g.Chunks = fields[3], chunks[first:len(chunks):len(chunks)]
		groups = append(groups, g)
	}
	return groups
}

// RecordChunkFault marks chunk i as one that cannot be read, for the given reason.
func (g *groupMeta) RecordChunkFault(i int, why string) {
	if g.ChunkFaults == nil {
		g.ChunkFaults = map[int]string{}
	}
	g.ChunkFaults[i] = why
	if i < len(g.Chunks) {
		g.Chunks[i] = ChunkMeta{Nulls: -1}
	}
}

func parseColumnChunk(c *thrift.Reader) (m ChunkMeta, whyUnreadable string) {
	whyUnreadable = "damaged footer: the column chunk is not described; " + RemedyCopyAgain
	foreign, encrypted := "", false
	c.ReadStruct(nil, func(id int64, typ byte) bool {
		switch {
		case id == 1 && typ == thrift.Binary:
			foreign = string(c.ReadBinary())
		case id == 3 && typ == thrift.Struct:
			m, whyUnreadable = parseColumnMeta(c)
		case id == 8 && typ == thrift.Struct, id == 9 && typ == thrift.Binary:
			encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	switch {
	case encrypted:
		whyUnreadable = "encrypted, which cannot be read; rewrite the file without encryption"
	case foreign != "":
		whyUnreadable = fmt.Sprintf("the column chunk is in another file (%s)", foreign)
	}
	if whyUnreadable != "" {
		m = ChunkMeta{Nulls: -1}
	}
	return m, whyUnreadable
}

// dictionaryPage is the number of the type of dictionary pages in statistics of encodings.
const dictionaryPage = 2

func parseColumnMeta(c *thrift.Reader) (m ChunkMeta, fault string) {
	m.Nulls = -1
	var fields [12]int64
	set := c.ReadStruct(fields[:], func(id int64, typ byte) bool {
		switch {
		case id == 2 && typ == thrift.List:
			elem, n := c.ReadListHeader()
			if elem != thrift.I32 { // the page headers also contain the encodings
				c.SkipElements(elem, n, 1)
				return true
			}
			for range n {
				m.Encodings.Add(c.ReadInteger())
			}
		case id == 12 && typ == thrift.Struct:
			m.Statistics = c.Pos
			var s [4]int64
			if c.ReadStruct(s[:], nil)&(1<<3) != 0 {
				m.Nulls = s[3]
			}
		case id == 13 && typ == thrift.List:
			elem, n := c.ReadListHeader()
			if elem != thrift.Struct {
				c.SkipElements(elem, n, 1)
				return true
			}
			for range n {
				if c.Err != nil {
					return true
				}
				var s [3]int64 // page type and encoding
				c.ReadStruct(s[:], nil)
				m.PlainPages = m.PlainPages || s[1] != dictionaryPage && parquet.Encoding(s[2]) == parquet.Encodings.Plain
			}
		default:
			return false
		}
		return true
	})
	if want := uint64(1<<1 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9); set&want != want {
		return m, "damaged footer: a required field of the column chunk is absent; " + RemedyCopyAgain
	}
	m.Physical, m.Codec = parquet.Type(fields[1]), codecByNumber(fields[4])
	m.Values, m.Uncompressed, m.Size, m.At = fields[5], fields[6], fields[7], fields[9]
	// Some writers use 0 for a missing dictionary page.
	if d := fields[11]; set&(1<<11) != 0 && d > 0 && d < m.At {
		m.At, m.Dictionary = d, m.At-d
	}
	return m, ""
}

// Statistics holds the bounds of the values of a column chunk, as stored in the footer.
type Statistics struct {
	Low, High       []byte // in the order of the column's type
	OldLow, OldHigh []byte // in the order of signed numbers
}

// ParseStatistics parses the statistics of a column chunk.
func (f *Metadata) ParseStatistics(m *ChunkMeta) (s Statistics) {
	switch {
	case m.Constant != nil && m.Constant.isNaN:
		return Statistics{}
	case m.Constant != nil:
		return Statistics{Low: m.Constant.value, High: m.Constant.value}
	}
	c := thrift.Reader{Bytes: f.RawFooter, Pos: m.Statistics}
	c.ReadStruct(nil, func(id int64, typ byte) bool {
		to := map[int64]*[]byte{1: &s.OldHigh, 2: &s.OldLow, 5: &s.High, 6: &s.Low}[id]
		if to == nil || typ != thrift.Binary {
			return false
		}
		*to = c.ReadBinary()
		return true
	})
	return s
}

// ChunkInfo describes the position and the contents of a column chunk according to the footer.
type ChunkInfo struct {
	At, Size     int64 // offset and number of bytes of the chunk in the file, including the dictionary page
	Uncompressed int64 // total size of its pages in memory
	Values       int64 // number of entries, including nulls and empty lists
	Codec        compress.Compression
	Constant     *Constant // the value of all rows, if the file lacks the column; At is 0 then
}
