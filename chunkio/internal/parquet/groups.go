package parquet

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet"
)

// groupMeta is the footer's description of a row group.
type groupMeta struct {
	rows        int64
	chunks      []chunkMeta
	chunkFaults map[int]string // by chunk: the reason why it cannot be read
}

// chunkMeta is the footer's description of a column chunk, checked by checkChunk.
type chunkMeta struct {
	ChunkInfo
	dictionary int64       // bytes from the dictionary page to the first data page; 0 without a dictionary page
	nulls      int64       // null count of the statistics; -1 if absent
	statistics int         // offset of the statistics in the raw footer; 0: none
	encodings  encodingSet // encodings of the values and of the levels
	physical   parquet.Type
	plainPages bool // the footer counts the pages by encoding, and some data page is plain
}

// encodingSet is a set of encodings with one bit for each number. The highest bit represents all other numbers.
type encodingSet uint64

const lastEncoding = 63

func (s *encodingSet) add(e int64) {
	if e < 0 || e > lastEncoding {
		e = lastEncoding
	}
	*s |= 1 << e
}

func (s encodingSet) has(e parquet.Encoding) bool {
	return e >= 0 && e <= lastEncoding && s>>e&1 != 0
}

func (c *compactReader) parseRowGroups(shape footerShape) []groupMeta {
	groups, chunks := make([]groupMeta, 0, shape.groups), make([]chunkMeta, 0, shape.chunks)
	_, n := c.readListHeader()
	for range n {
		var g groupMeta
		var fields [4]int64
		first := len(chunks)
		set := c.readStruct(fields[:], func(id int64, typ byte) bool {
			if id != 1 || typ != thriftList {
				return false
			}
			elem, n := c.readListHeader()
			if elem != thriftStruct && n > 0 {
				c.keepFirstError(fmt.Errorf("column chunks are of type %d", elem))
				return true
			}
			for i := range n {
				if c.err != nil {
					return true
				}
				m, fault := c.parseColumnChunk()
				if fault != "" {
					g.recordChunkFault(i, fault)
				}
				chunks = append(chunks, m)
			}
			return true
		})
		if set&(1<<3) == 0 {
			c.keepFirstError(errors.New("a row group lacks its number of rows"))
		}
		g.rows, g.chunks = fields[3], chunks[first:len(chunks):len(chunks)]
		groups = append(groups, g)
	}
	return groups
}

func (g *groupMeta) recordChunkFault(i int, why string) {
	if g.chunkFaults == nil {
		g.chunkFaults = map[int]string{}
	}
	g.chunkFaults[i] = why
	if i < len(g.chunks) {
		g.chunks[i] = chunkMeta{nulls: -1}
	}
}

// parseColumnChunk parses a ColumnChunk. If the chunk cannot be read, fault contains the reason.
func (c *compactReader) parseColumnChunk() (m chunkMeta, fault string) {
	fault = "damaged footer: the column chunk is not described; " + remedyCopyAgain
	foreign, encrypted := "", false
	c.readStruct(nil, func(id int64, typ byte) bool {
		switch {
		case id == 1 && typ == thriftBinary:
			foreign = string(c.readBinary())
		case id == 3 && typ == thriftStruct:
			m, fault = c.parseColumnMeta()
		case id == 8 && typ == thriftStruct, id == 9 && typ == thriftBinary:
			encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	switch {
	case encrypted:
		fault = "encrypted, which cannot be read; rewrite the file without encryption"
	case foreign != "":
		fault = fmt.Sprintf("the column chunk is in another file (%s)", foreign)
	}
	if fault != "" {
		m = chunkMeta{nulls: -1}
	}
	return m, fault
}

func (c *compactReader) parseColumnMeta() (m chunkMeta, fault string) {
	m.nulls = -1
	var fields [12]int64
	set := c.readStruct(fields[:], func(id int64, typ byte) bool {
		switch {
		case id == 2 && typ == thriftList:
			elem, n := c.readListHeader()
			if elem != thriftI32 { // the page headers also contain the encodings
				c.skipElements(elem, n, 1)
				return true
			}
			for range n {
				m.encodings.add(c.readInteger())
			}
		case id == 12 && typ == thriftStruct:
			m.statistics = c.pos
			var s [4]int64
			if c.readStruct(s[:], nil)&(1<<3) != 0 {
				m.nulls = s[3]
			}
		case id == 13 && typ == thriftList:
			elem, n := c.readListHeader()
			if elem != thriftStruct {
				c.skipElements(elem, n, 1)
				return true
			}
			for range n {
				if c.err != nil {
					return true
				}
				var s [3]int64 // page type and encoding
				c.readStruct(s[:], nil)
				m.plainPages = m.plainPages || s[1] != DictionaryPage && parquet.Encoding(s[2]) == parquet.Encodings.Plain
			}
		default:
			return false
		}
		return true
	})
	if want := uint64(1<<1 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9); set&want != want {
		return m, "damaged footer: a required field of the column chunk is absent; " + remedyCopyAgain
	}
	m.physical, m.codec = parquet.Type(fields[1]), codecByNumber(fields[4])
	m.Values, m.Uncompressed, m.Size, m.at = fields[5], fields[6], fields[7], fields[9]
	// Some writers use 0 for a missing dictionary page.
	if d := fields[11]; set&(1<<11) != 0 && d > 0 && d < m.at {
		m.at, m.dictionary = d, m.at-d
	}
	return m, ""
}

// statistics holds the bounds of the values of a column chunk, as stored in the footer.
type statistics struct {
	low, high       []byte // in the order of the column's type
	oldLow, oldHigh []byte // in the order of signed numbers
}

func parseStatistics(raw []byte, at int) (s statistics) {
	c := compactReader{b: raw, pos: at}
	c.readStruct(nil, func(id int64, typ byte) bool {
		to := map[int64]*[]byte{1: &s.oldHigh, 2: &s.oldLow, 5: &s.high, 6: &s.low}[id]
		if to == nil || typ != thriftBinary {
			return false
		}
		*to = c.readBinary()
		return true
	})
	return s
}
