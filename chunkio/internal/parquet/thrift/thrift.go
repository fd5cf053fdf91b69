// Package thrift reads values that are encoded in Thrift's compact protocol.
package thrift

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Types of Thrift's compact protocol, as used in field and list headers.
const (
	Stop   = 0
	True   = 1 // in a struct, the type of a boolean field is its value; in a list, a boolean is a byte
	False  = 2
	Byte   = 3
	I16    = 4
	I32    = 5
	I64    = 6
	Double = 7
	Binary = 8
	List   = 9
	Set    = 10
	Map    = 11
	Struct = 12
	UUID   = 13
)

// MaxDepth bounds the nesting of Thrift values and of Parquet schemas. Real files stay below 20. Without a limit, a
// file of a few MiB would overflow the stack, and recover does not catch this.
const MaxDepth = 64

// ErrShort reports that the bytes end inside a value. More bytes may complete the value.
var ErrShort = errors.New("thrift data ends early")

// Reader reads values encoded in Thrift's compact protocol. It checks every length against the available bytes
// and does not allocate memory. It keeps the first error. After this error, all reads return zero.
type Reader struct {
	Bytes []byte
	Pos   int
	Err   error
}

// KeepFirstError sets Err unless there is an earlier error.
func (c *Reader) KeepFirstError(err error) {
	if c.Err == nil {
		c.Err = err
	}
}

// NextByte reads one byte.
func (c *Reader) NextByte() byte {
	if c.Err != nil || c.Pos >= len(c.Bytes) {
		c.KeepFirstError(ErrShort)
		return 0
	}
	c.Pos++
	return c.Bytes[c.Pos-1]
}

// ReadUvarint reads a number without a sign.
func (c *Reader) ReadUvarint() uint64 {
	if c.Err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.Bytes[c.Pos:])
	switch {
	case n == 0:
		c.KeepFirstError(ErrShort)
	case n < 0:
		c.KeepFirstError(errors.New("thrift number overflows 64 bits"))
	default:
		c.Pos += n
	}
	return v
}

// ReadInteger reads a number of any type, in zigzag encoding.
func (c *Reader) ReadInteger() int64 {
	u := c.ReadUvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// ReadBinary returns the bytes of a binary value, as a part of b. The result is not nil even if it is empty.
func (c *Reader) ReadBinary() []byte {
	return c.TakeBytes(c.ReadUvarint())
}

// TakeBytes returns the next n bytes, as a part of Bytes, or nil after an error.
func (c *Reader) TakeBytes(n uint64) []byte {
	from := c.Pos
	if c.SkipBytes(n); c.Err != nil {
		return nil
	}
	return c.Bytes[from:c.Pos:c.Pos]
}

// SkipBytes moves past n bytes.
func (c *Reader) SkipBytes(n uint64) {
	if c.Err != nil {
		return
	}
	if n > uint64(len(c.Bytes)-c.Pos) {
		c.KeepFirstError(ErrShort)
		return
	}
	c.Pos += int(n)
}

// nextField reads the next field header of a struct and updates *id; typ is Stop at the struct's end and after
// an error.
func (c *Reader) nextField(id *int64) (typ byte) {
	h := c.NextByte()
	if c.Err != nil || h == Stop {
		return Stop
	}
	if delta := int64(h >> 4); delta != 0 {
		*id += delta
	} else {
		*id = c.ReadInteger()
	}
	if *id < math.MinInt16 || *id > math.MaxInt16 {
		c.KeepFirstError(fmt.Errorf("thrift field number %d is out of range", *id))
	}
	if c.Err != nil {
		return Stop
	}
	return h & 15
}

// ReadListHeader reads the header of a list or set: the type and the number of its elements. Each element has at least
// one byte.
func (c *Reader) ReadListHeader() (elem byte, n int) {
	h := c.NextByte()
	count := uint64(h >> 4)
	if count == 15 {
		count = c.ReadUvarint()
	}
	return h & 15, c.checkElementCount(count)
}

func (c *Reader) checkElementCount(n uint64) int {
	if c.Err == nil && n > uint64(len(c.Bytes)-c.Pos) {
		c.KeepFirstError(fmt.Errorf("thrift container claims %d elements in %d bytes: %w", n, len(c.Bytes)-c.Pos, ErrShort))
	}
	if c.Err != nil {
		return 0
	}
	return int(n)
}

// SkipValue moves past one value of the given type and checks all of it.
func (c *Reader) SkipValue(typ byte, depth int) {
	if depth > MaxDepth {
		c.KeepFirstError(fmt.Errorf("thrift data is nested deeper than %d", MaxDepth))
		return
	}
	switch typ {
	case True, False: // the value is in the field header
	case Byte:
		c.NextByte()
	case I16, I32, I64:
		c.ReadUvarint()
	case Double:
		c.SkipBytes(8)
	case UUID:
		c.SkipBytes(16)
	case Binary:
		c.SkipBytes(c.ReadUvarint())
	case List, Set:
		elem, n := c.ReadListHeader()
		c.SkipElements(elem, n, depth)
	case Map:
		c.skipMap(depth)
	case Struct:
		for id := int64(0); ; {
			t := c.nextField(&id)
			if t == Stop {
				return
			}
			c.SkipValue(t, depth+1)
		}
	default:
		c.KeepFirstError(fmt.Errorf("thrift type %d does not exist", typ))
	}
}

// SkipElements moves past n elements of a list or set at the given depth.
func (c *Reader) SkipElements(elem byte, n, depth int) {
	for range n {
		if c.Err != nil {
			return
		}
		if elem == True || elem == False {
			c.NextByte()
		} else {
			c.SkipValue(elem, depth+1)
		}
	}
}

func (c *Reader) skipMap(depth int) {
	n := c.checkElementCount(c.ReadUvarint())
	if n == 0 {
		return
	}
	types := c.NextByte()
	for range n {
		if c.Err != nil {
			return
		}
		c.SkipElements(types>>4, 1, depth)
		c.SkipElements(types&15, 1, depth)
	}
}

// ReadStruct reads a struct. It writes integer and boolean fields whose number is below len(vals) to vals and sets
// their bits in the result. It calls the function other for each remaining field. This function reads the value and
// returns true, or returns false to have the value skipped. If it is nil, all remaining fields are skipped.
func (c *Reader) ReadStruct(vals []int64, other func(id int64, typ byte) bool) (set uint64) {
	for id := int64(0); ; {
		typ := c.nextField(&id)
		if typ == Stop {
			return set
		}
		inRange := id >= 0 && id < int64(len(vals))
		switch {
		case inRange && (typ == True || typ == False):
			vals[id] = int64(False - typ)
			set |= 1 << id
		case inRange && (typ == I16 || typ == I32 || typ == I64):
			vals[id] = c.ReadInteger()
			set |= 1 << id
		case other != nil && other(id, typ):
		default:
			c.SkipValue(typ, 1)
		}
	}
}
