package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Span is the position of the list of row groups in the bytes of a footer: the list's header begins at Header, and its
// elements are the bytes [From, To).
type Span struct{ Header, From, To int }

// FindRowGroups returns the position of the row groups in a footer.
func FindRowGroups(footer []byte) (at Span, err error) {
	c := compactReader{b: footer}
	c.readStruct(nil, func(id int64, typ byte) bool {
		if id != 4 || typ != thriftList {
			return false
		}
		at.Header = c.pos
		elem, n := c.readListHeader()
		at.From = c.pos
		c.skipElements(elem, n, 1)
		at.To = c.pos
		return true
	})
	if c.err == nil && at.Header == 0 {
		c.keepFirstError(errors.New("the footer has no row groups"))
	}
	return at, c.err
}

// CountRowGroups counts consecutive row groups, encoded as in a footer, and their rows. Each row group must have the
// given number of columns.
func CountRowGroups(text []byte, columns int) (groups int, rows int64, err error) {
	c := compactReader{b: text}
	for c.pos < len(text) && c.err == nil {
		chunks, more, hasRows := c.skipRowGroup()
		switch {
		case !hasRows:
			c.keepFirstError(errors.New("a row group lacks its number of rows"))
		case chunks != columns:
			c.keepFirstError(fmt.Errorf("a row group has %d columns, of %d", chunks, columns))
		}
		if rows += more; more < 0 || rows < 0 {
			c.keepFirstError(errors.New("a row group has less than no rows"))
		}
		groups++
	}
	return groups, rows, c.err
}

// skipRowGroup skips a row group and returns its number of column chunks and its rows; hasRows is false if the number
// of rows is missing.
func (c *compactReader) skipRowGroup() (chunks int, rows int64, hasRows bool) {
	var fields [4]int64
	set := c.readStruct(fields[:], func(id int64, typ byte) bool {
		if id != 1 || typ != thriftList {
			return false
		}
		elem, n := c.readListHeader()
		if elem == thriftStruct {
			chunks += n
		}
		c.skipElements(elem, n, 1)
		return true
	})
	return chunks, fields[3], set&(1<<3) != 0
}

// AppendStructList appends the header of a list of n structs.
func AppendStructList(b []byte, n int) []byte {
	if n < 15 {
		return append(b, byte(n)<<4|thriftStruct)
	}
	return binary.AppendUvarint(append(b, 15<<4|thriftStruct), uint64(n))
}
