package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Span is where the row groups of a footer stand in its bytes: the list's header, and the elements behind it.
type Span struct{ Header, From, To int }

// FindRowGroups finds the row groups of a footer.
func FindRowGroups(footer []byte) (at Span, err error) {
	c := compact{b: footer}
	c.record(nil, func(id int64, typ byte) bool {
		if id != 4 || typ != thriftList {
			return false
		}
		at.Header = c.pos
		elem, n := c.list()
		at.From = c.pos
		c.skipElements(elem, n, 1)
		at.To = c.pos
		return true
	})
	if c.err == nil && at.Header == 0 {
		c.fail(errors.New("the footer has no row groups"))
	}
	return at, c.err
}

// CountRowGroups counts row groups of so many columns that stand one behind the other, as in a footer, and their rows.
func CountRowGroups(text []byte, columns int) (groups int, rows int64, err error) {
	c := compact{b: text}
	for c.pos < len(text) && c.err == nil {
		chunks, more, told := c.rowGroupSize()
		switch {
		case !told:
			c.fail(errors.New("a row group does not tell its rows"))
		case chunks != columns:
			c.fail(fmt.Errorf("a row group has %d columns, of %d", chunks, columns))
		}
		if rows += more; more < 0 || rows < 0 {
			c.fail(errors.New("a row group has less than no rows"))
		}
		groups++
	}
	return groups, rows, c.err
}

// rowGroupSize walks over a row group: how many column chunks it has, and its rows, if it tells them.
func (c *compact) rowGroupSize() (chunks int, rows int64, told bool) {
	var fields [4]int64
	set := c.record(fields[:], func(id int64, typ byte) bool {
		if id != 1 || typ != thriftList {
			return false
		}
		elem, n := c.list()
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
