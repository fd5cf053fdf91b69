package footer

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// Span is the position of the list of row groups in the bytes of a footer: the list's header begins at Header, and its
// elements are the bytes [From, To).
type Span struct{ Header, From, To int }

// FindRowGroups returns the position of the row groups in a footer.
func FindRowGroups(footer []byte) (at Span, err error) {
	c := thrift.Reader{Bytes: footer}
	c.ReadStruct(nil, func(id int64, typ byte) bool {
		if id != 4 || typ != thrift.List {
			return false
		}
		at.Header = c.Pos
		elem, n := c.ReadListHeader()
		at.From = c.Pos
		c.SkipElements(elem, n, 1)
		at.To = c.Pos
		return true
	})
	if c.Err == nil && at.Header == 0 {
		c.KeepFirstError(errors.New("the footer has no row groups"))
	}
	return at, c.Err
}

// CountRowGroups counts consecutive row groups, encoded as in a footer, and their rows. Each row group must have the
// given number of columns.
func CountRowGroups(text []byte, columns int) (groups int, rows int64, err error) {
	c := thrift.Reader{Bytes: text}
	for c.Pos < len(text) && c.Err == nil {
		chunks, more, hasRows := skipRowGroup(&c)
		switch {
		case !hasRows:
			c.KeepFirstError(errors.New("a row group lacks its number of rows"))
		case chunks != columns:
			c.KeepFirstError(fmt.Errorf("a row group has %d columns, of %d", chunks, columns))
		}
		if rows += more; more < 0 || rows < 0 {
			c.KeepFirstError(errors.New("a row group has less than no rows"))
		}
		groups++
	}
	return groups, rows, c.Err
}

// skipRowGroup skips a row group and returns its number of column chunks and its rows; hasRows is false if the number
// of rows is missing.
func skipRowGroup(c *thrift.Reader) (chunks int, rows int64, hasRows bool) {
	var fields [4]int64
	set := c.ReadStruct(fields[:], func(id int64, typ byte) bool {
		if id != 1 || typ != thrift.List {
			return false
		}
		elem, n := c.ReadListHeader()
		if elem == thrift.Struct {
			chunks += n
		}
		c.SkipElements(elem, n, 1)
		return true
	})
	return chunks, fields[3], set&(1<<3) != 0
}

// AppendStructList appends the header of a list of n structs.
func AppendStructList(b []byte, n int) []byte {
	if n < 15 {
		return append(b, byte(n)<<4|thrift.Struct)
	}
	return binary.AppendUvarint(append(b, 15<<4|thrift.Struct), uint64(n))
}
