package intake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

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

func (v *avroDecoder) decodeLong() (int64, error) {
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

func (v *avroDecoder) decodeBytes() ([]byte, error) {
	n, err := v.decodeLong()
	if err != nil {
		return nil, err
	}
	return v.takeBytes(n)
}

func (v *avroDecoder) decodeValue(typ *avroNode) error {
	v.column = typ.column
	switch typ.typ {
	case "null":
		return nil
	case "record":
		if v.depth++; v.depth > maxDepth {
			return fmt.Errorf("records more than %d deep within each other", maxDepth)
		}
		for _, f := range typ.fields {
			if err := v.decodeValue(f); err != nil {
				return err
			}
		}
		v.depth--
		return nil
	case "union":
		i, err := v.decodeLong()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(typ.fields)) {
			return fmt.Errorf("branch %d of a union of %d", i, len(typ.fields))
		}
		return v.decodeValue(typ.fields[i])
	case "array", "map":
		return v.skipItemsOfCollection(typ)
	case "boolean":
		b, err := v.takeBytes(1)
		if err != nil {
			return err
		}
		return v.setNumber(typ, int64(min(b[0], 1)))
	case "int", "long":
		x, err := v.decodeLong()
		if err != nil {
			return err
		}
		return v.setNumber(typ, x)
	case "float":
		b, err := v.takeBytes(4)
		if err != nil {
			return err
		}
		return v.setFloat(typ, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case "double":
		b, err := v.takeBytes(8)
		if err != nil {
			return err
		}
		return v.setFloat(typ, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case "enum":
		i, err := v.decodeLong()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(typ.names)) {
			return fmt.Errorf("symbol %d of an enum of %d", i, len(typ.names))
		}
		return v.setText(typ, typ.names[i])
	case "string":
		b, err := v.decodeBytes()
		if err != nil {
			return err
		}
		if !utf8.Valid(b) {
			return errors.New("a text that is not UTF-8")
		}
		return v.setText(typ, string(b))
	case "bytes", "fixed":
		b, err := v.takeBytes(int64(typ.size))
		if typ.typ == "bytes" {
			b, err = v.decodeBytes()
		}
		if err != nil || typ.column < 0 {
			return err
		}
		if len(b) == 0 {
			return errors.New("a decimal without digits")
		}
		return v.setFloat(typ, format.DecimalFloat(b, typ.scale))
	}
	return fmt.Errorf("a value of type %s", typ.typ)
}

func (v *avroDecoder) cellIndexInBatch(typ *avroNode) int { return typ.column*v.batch.stride + v.row }

func (v *avroDecoder) setNumber(typ *avroNode, number int64) error {
	if typ.column < 0 {
		return nil
	}
	switch typ.logical {
	case "timestamp-millis", "local-timestamp-millis":
		if number > math.MaxInt64/1000 || number < math.MinInt64/1000 {
			return fmt.Errorf("%d milliseconds are beyond microseconds of 64 bits", number)
		}
		number *= 1000
	}
	c := cell(number)
	if v.columns[typ.column].Kind == Float {
		c = math.Float64bits(float64(number))
	}
	v.batch.cells[v.cellIndexInBatch(typ)], v.batch.present[v.cellIndexInBatch(typ)] = c, true
	return nil
}

func (v *avroDecoder) setFloat(typ *avroNode, x float64) error {
	if typ.column >= 0 {
		v.batch.cells[v.cellIndexInBatch(typ)], v.batch.present[v.cellIndexInBatch(typ)] = math.Float64bits(x), true
	}
	return nil
}

func (v *avroDecoder) setText(typ *avroNode, s string) error {
	if typ.column >= 0 {
		v.batch.setText(v.cellIndexInBatch(typ), s)
	}
	return nil
}

func (v *avroDecoder) skipItemsOfCollection(collection *avroNode) error {
	for {
		count, err := v.decodeLong()
		if err != nil || count == 0 {
			return err
		}
		if count < 0 { // the length of the items in bytes follows
			size, err := v.decodeLong()
			if err != nil {
				return err
			}
			if _, err = v.takeBytes(size); err != nil {
				return err
			}
			continue
		}
		if collection.typ == "array" && count > int64(len(v.rest)) {
			return errAvroEnd // this also refuses items of zero bytes, which writers do not produce
		}
		for ; count > 0; count-- {
			if collection.typ == "map" {
				if _, err := v.decodeBytes(); err != nil {
					return err
				}
			}
			if err := v.decodeValue(collection.items); err != nil {
				return err
			}
		}
	}
}
