package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Types of Thrift's compact protocol, as used in field and list headers.
const (
	thriftStop   = 0
	thriftTrue   = 1 // in a struct, the type of a boolean field is its value; in a list, a boolean is a byte
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// maxDepth bounds the nesting of Thrift values and of Parquet schemas. Real files stay below 20. Without a limit, a
// file of a few MiB would overflow the stack, and recover does not catch this.
const maxDepth = 64

// errShort reports that the bytes end inside a value. More bytes may complete the value.
var errShort = errors.New("thrift data ends early")

// compactReader reads values encoded in Thrift's compact protocol. It checks every length against the available bytes
// and does not allocate memory. It keeps the first error. After this error, all reads return zero.
type compactReader struct {
	b   []byte
	pos int
	err error
}

func (c *compactReader) keepFirstError(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compactReader) readByte() byte {
	if c.err != nil || c.pos >= len(c.b) {
		c.keepFirstError(errShort)
		return 0
	}
	c.pos++
	return c.b[c.pos-1]
}

func (c *compactReader) readUvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.b[c.pos:])
	switch {
	case n == 0:
		c.keepFirstError(errShort)
	case n < 0:
		c.keepFirstError(errors.New("thrift number overflows 64 bits"))
	default:
		c.pos += n
	}
	return v
}

func (c *compactReader) readInteger() int64 {
	u := c.readUvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// readBinary returns the bytes of a binary value, as a part of b. The result is not nil even if it is empty.
func (c *compactReader) readBinary() []byte {
	return c.takeBytes(c.readUvarint())
}

func (c *compactReader) takeBytes(n uint64) []byte {
	from := c.pos
	if c.skipBytes(n); c.err != nil {
		return nil
	}
	return c.b[from:c.pos:c.pos]
}

func (c *compactReader) skipBytes(n uint64) {
	if c.err != nil {
		return
	}
	if n > uint64(len(c.b)-c.pos) {
		c.keepFirstError(errShort)
		return
	}
	c.pos += int(n)
}

// nextField reads the next field header of a struct and updates *id; typ is thriftStop at the struct's end and after
// an error.
func (c *compactReader) nextField(id *int64) (typ byte) {
	h := c.readByte()
	if c.err != nil || h == thriftStop {
		return thriftStop
	}
	if delta := int64(h >> 4); delta != 0 {
		*id += delta
	} else {
		*id = c.readInteger()
	}
	if *id < math.MinInt16 || *id > math.MaxInt16 {
		c.keepFirstError(fmt.Errorf("thrift field number %d is out of range", *id))
	}
	if c.err != nil {
		return thriftStop
	}
	return h & 15
}

// readListHeader reads the header of a list or set: the type and the number of its elements. Each element has at least
// one byte.
func (c *compactReader) readListHeader() (elem byte, n int) {
	h := c.readByte()
	count := uint64(h >> 4)
	if count == 15 {
		count = c.readUvarint()
	}
	return h & 15, c.checkElementCount(count)
}

func (c *compactReader) checkElementCount(n uint64) int {
	if c.err == nil && n > uint64(len(c.b)-c.pos) {
		c.keepFirstError(fmt.Errorf("thrift container claims %d elements in %d bytes: %w", n, len(c.b)-c.pos, errShort))
	}
	if c.err != nil {
		return 0
	}
	return int(n)
}

// skipValue moves past one value of the given type and checks all of it.
func (c *compactReader) skipValue(typ byte, depth int) {
	if depth > maxDepth {
		c.keepFirstError(fmt.Errorf("thrift data is nested deeper than %d", maxDepth))
		return
	}
	switch typ {
	case thriftTrue, thriftFalse: // the value is in the field header
	case thriftByte:
		c.readByte()
	case thriftI16, thriftI32, thriftI64:
		c.readUvarint()
	case thriftDouble:
		c.skipBytes(8)
	case thriftUUID:
		c.skipBytes(16)
	case thriftBinary:
		c.skipBytes(c.readUvarint())
	case thriftList, thriftSet:
		elem, n := c.readListHeader()
		c.skipElements(elem, n, depth)
	case thriftMap:
		c.skipMap(depth)
	case thriftStruct:
		for id := int64(0); ; {
			t := c.nextField(&id)
			if t == thriftStop {
				return
			}
			c.skipValue(t, depth+1)
		}
	default:
		c.keepFirstError(fmt.Errorf("thrift type %d does not exist", typ))
	}
}

func (c *compactReader) skipElements(elem byte, n, depth int) {
	for range n {
		if c.err != nil {
			return
		}
		if elem == thriftTrue || elem == thriftFalse {
			c.readByte()
		} else {
			c.skipValue(elem, depth+1)
		}
	}
}

func (c *compactReader) skipMap(depth int) {
	n := c.checkElementCount(c.readUvarint())
	if n == 0 {
		return
	}
	types := c.readByte()
	for range n {
		if c.err != nil {
			return
		}
		c.skipElements(types>>4, 1, depth)
		c.skipElements(types&15, 1, depth)
	}
}

// readStruct reads a struct. It writes integer and boolean fields whose number is below len(vals) to vals and sets
// their bits in the result. It calls the function other for each remaining field. This function reads the value and
// returns true, or returns false to have the value skipped. If it is nil, all remaining fields are skipped.
func (c *compactReader) readStruct(vals []int64, other func(id int64, typ byte) bool) (set uint64) {
	for id := int64(0); ; {
		typ := c.nextField(&id)
		if typ == thriftStop {
			return set
		}
		inRange := id >= 0 && id < int64(len(vals))
		switch {
		case inRange && (typ == thriftTrue || typ == thriftFalse):
			vals[id] = int64(thriftFalse - typ)
			set |= 1 << id
		case inRange && (typ == thriftI16 || typ == thriftI32 || typ == thriftI64):
			vals[id] = c.readInteger()
			set |= 1 << id
		case other != nil && other(id, typ):
		default:
			c.skipValue(typ, 1)
		}
	}
}
