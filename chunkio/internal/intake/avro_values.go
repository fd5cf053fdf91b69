package intake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// avroValues reads the values of rows into a batch.
type avroValues struct {
	rest    []byte
	batch   *batch
	columns []Column
	row     int
	column  int // of the value read last, for errors
	depth   int // of records within each other
}

// mostDepth bounds records within each other, of types that contain themselves: each takes some of the stack.
const mostDepth = 10_000

var errAvroEnd = errors.New("the block ends within a value: the file is damaged")

func (v *avroValues) long() (int64, error) {
	x, n := binary.Uvarint(v.rest)
	if n <= 0 {
		return 0, errAvroEnd
	}
	v.rest = v.rest[n:]
	return unzigzag(x), nil
}

func (v *avroValues) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(v.rest)) {
		return nil, errAvroEnd
	}
	b := v.rest[:n:n]
	v.rest = v.rest[n:]
	return b, nil
}

func (v *avroValues) bytes() ([]byte, error) {
	n, err := v.long()
	if err != nil {
		return nil, err
	}
	return v.take(n)
}

// read reads a value of a type, and sets its cell where it has a column.
func (v *avroValues) read(n *avroNode) error {
	v.column = n.column
	switch n.typ {
	case "null":
		return nil
	case "record":
		if v.depth++; v.depth > mostDepth {
			return fmt.Errorf("records more than %d deep within each other", mostDepth)
		}
		for _, f := range n.fields {
			if err := v.read(f); err != nil {
				return err
			}
		}
		v.depth--
		return nil
	case "union":
		i, err := v.long()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(n.fields)) {
			return fmt.Errorf("branch %d of a union of %d", i, len(n.fields))
		}
		return v.read(n.fields[i])
	case "array", "map":
		return v.skipItems(n)
	case "boolean":
		b, err := v.take(1)
		if err != nil {
			return err
		}
		return v.number(n, int64(min(b[0], 1)))
	case "int", "long":
		x, err := v.long()
		if err != nil {
			return err
		}
		return v.number(n, x)
	case "float":
		b, err := v.take(4)
		if err != nil {
			return err
		}
		return v.float(n, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case "double":
		b, err := v.take(8)
		if err != nil {
			return err
		}
		return v.float(n, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case "enum":
		i, err := v.long()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(n.names)) {
			return fmt.Errorf("symbol %d of an enum of %d", i, len(n.names))
		}
		return v.text(n, n.names[i])
	case "string":
		b, err := v.bytes()
		if err != nil {
			return err
		}
		if !utf8.Valid(b) {
			return errors.New("a text that is not UTF-8")
		}
		return v.text(n, string(b))
	case "bytes", "fixed":
		b, err := v.take(int64(n.size))
		if n.typ == "bytes" {
			b, err = v.bytes()
		}
		if err != nil || n.column < 0 {
			return err
		}
		if len(b) == 0 {
			return errors.New("a decimal without digits")
		}
		return v.float(n, format.Decimal(b, n.scale))
	}
	return fmt.Errorf("a value of type %s", n.typ)
}

// at is the place of the column's cell.
func (v *avroValues) at(n *avroNode) int { return n.column*v.batch.stride + v.row }

func (v *avroValues) number(n *avroNode, x int64) error {
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
	v.batch.cells[v.at(n)], v.batch.there[v.at(n)] = c, true
	return nil
}

func (v *avroValues) float(n *avroNode, x float64) error {
	if n.column >= 0 {
		v.batch.cells[v.at(n)], v.batch.there[v.at(n)] = math.Float64bits(x), true
	}
	return nil
}

func (v *avroValues) text(n *avroNode, s string) error {
	if n.column >= 0 {
		v.batch.setText(v.at(n), s)
	}
	return nil
}

// skipItems passes over an array or a map, whose items have no column.
func (v *avroValues) skipItems(n *avroNode) error {
	for {
		count, err := v.long()
		if err != nil || count == 0 {
			return err
		}
		if count < 0 { // and how many bytes they take
			size, err := v.long()
			if err != nil {
				return err
			}
			if _, err = v.take(size); err != nil {
				return err
			}
			continue
		}
		if n.typ == "array" && count > int64(len(v.rest)) {
			return errAvroEnd // of values without bytes, too: nobody writes such
		}
		for ; count > 0; count-- {
			if n.typ == "map" {
				if _, err := v.bytes(); err != nil {
					return err
				}
			}
			if err := v.read(n.items); err != nil {
				return err
			}
		}
	}
}
