package intake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// avroDecoder decodes the values of rows into a batch.
type avroDecoder struct {
	rest    []byte // bytes of the block that are still to be decoded
	batch   *batch
	columns []Column
	row     int
	column  int // column of the last value read, for errors
	depth   int // nesting depth of records
}

// maxDepth bounds the nesting of records whose types contain themselves: each level uses stack memory.
const maxDepth = 10_000

var errAvroEnd = errors.New("the block ends within a value: the file is damaged")

func (v *avroDecoder) readLong() (int64, error) {
	x, n := binary.Uvarint(v.rest)
	if n <= 0 {
		return 0, errAvroEnd
	}
	v.rest = v.rest[n:]
	return decodeZigzag(x), nil
}

func (v *avroDecoder) takeBytes(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(v.rest)) {
		return nil, errAvroEnd
	}
	b := v.rest[:n:n]
	v.rest = v.rest[n:]
	return b, nil
}

func (v *avroDecoder) readBytes() ([]byte, error) {
	n, err := v.readLong()
	if err != nil {
		return nil, err
	}
	return v.takeBytes(n)
}

func (v *avroDecoder) readValue(n *avroNode) error {
	v.column = n.column
	switch n.typ {
	case "null":
		return nil
	case "record":
		if v.depth++; v.depth > maxDepth {
			return fmt.Errorf("records more than %d deep within each other", maxDepth)
		}
		for _, f := range n.fields {
			if err := v.readValue(f); err != nil {
				return err
			}
		}
		v.depth--
		return nil
	case "union":
		i, err := v.readLong()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(n.fields)) {
			return fmt.Errorf("branch %d of a union of %d", i, len(n.fields))
		}
		return v.readValue(n.fields[i])
	case "array", "map":
		return v.skipItems(n)
	case "boolean":
		b, err := v.takeBytes(1)
		if err != nil {
			return err
		}
		return v.setNumber(n, int64(min(b[0], 1)))
	case "int", "long":
		x, err := v.readLong()
		if err != nil {
			return err
		}
		return v.setNumber(n, x)
	case "float":
		b, err := v.takeBytes(4)
		if err != nil {
			return err
		}
		return v.setFloat(n, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case "double":
		b, err := v.takeBytes(8)
		if err != nil {
			return err
		}
		return v.setFloat(n, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case "enum":
		i, err := v.readLong()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(n.names)) {
			return fmt.Errorf("symbol %d of an enum of %d", i, len(n.names))
		}
		return v.setText(n, n.names[i])
	case "string":
		b, err := v.readBytes()
		if err != nil {
			return err
		}
		if !utf8.Valid(b) {
			return errors.New("a text that is not UTF-8")
		}
		return v.setText(n, string(b))
	case "bytes", "fixed":
		b, err := v.takeBytes(int64(n.size))
		if n.typ == "bytes" {
			b, err = v.readBytes()
		}
		if err != nil || n.column < 0 {
			return err
		}
		if len(b) == 0 {
			return errors.New("a decimal without digits")
		}
		return v.setFloat(n, format.DecimalFloat(b, n.scale))
	}
	return fmt.Errorf("a value of type %s", n.typ)
}

func (v *avroDecoder) cellIndex(n *avroNode) int { return n.column*v.batch.stride + v.row }

func (v *avroDecoder) setNumber(n *avroNode, x int64) error {
	if n.column < 0 {
		return nil
	}
	switch n.logical {
	case "timestamp-millis", "local-timestamp-millis":
		if x > math.MaxInt64/1000 || x < math.MinInt64/1000 {
			return fmt.Errorf("%d milliseconds are beyond microseconds of 64 bits", x)
		}
		x *= 1000
	}
	c := cell(x)
	if v.columns[n.column].Kind == Float {
		c = math.Float64bits(float64(x))
	}
	v.batch.cells[v.cellIndex(n)], v.batch.present[v.cellIndex(n)] = c, true
	return nil
}

func (v *avroDecoder) setFloat(n *avroNode, x float64) error {
	if n.column >= 0 {
		v.batch.cells[v.cellIndex(n)], v.batch.present[v.cellIndex(n)] = math.Float64bits(x), true
	}
	return nil
}

func (v *avroDecoder) setText(n *avroNode, s string) error {
	if n.column >= 0 {
		v.batch.setText(v.cellIndex(n), s)
	}
	return nil
}

func (v *avroDecoder) skipItems(n *avroNode) error {
	for {
		count, err := v.readLong()
		if err != nil || count == 0 {
			return err
		}
		if count < 0 { // the length of the items in bytes follows
			size, err := v.readLong()
			if err != nil {
				return err
			}
			if _, err = v.takeBytes(size); err != nil {
				return err
			}
			continue
		}
		if n.typ == "array" && count > int64(len(v.rest)) {
			return errAvroEnd // this also refuses items of zero bytes, which writers do not produce
		}
		for ; count > 0; count-- {
			if n.typ == "map" {
				if _, err := v.readBytes(); err != nil {
					return err
				}
			}
			if err := v.readValue(n.items); err != nil {
				return err
			}
		}
	}
}
