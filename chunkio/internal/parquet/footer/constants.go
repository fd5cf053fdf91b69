package footer

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
)

// Constant is the value of all rows of a column that a file lacks and its table has a value for. The column is shown as if
// the file had it: with pages that exist only while they are read, so that all readers of the file agree.
type Constant struct {
	element schemaElement
	value   []byte // as in the bounds of a column chunk
	isNaN   bool
	front   []byte // page with the dictionary; empty for booleans
}

// constantPageRows is the number of rows in all but the last of the pages of a row group.
const constantPageRows = 1 << 16

func (f *Metadata) addConstants(elements []schemaElement, lacking []*columns.Column, constants columns.Constants) ([]schemaElement, error) {
	for _, c := range lacking {
		text := constants.ValueOf(c)
		if text == nil {
			continue
		}
		constant, err := newConstant(c, *text)
		if err != nil {
			return nil, fmt.Errorf("the table's value %q for its column %q, of type %s: %w", *text, c.Name, c.Type, err)
		}
		elements = append(elements, constant.element)
		elements[0].fields[fieldChildren]++
		f.HasTypeOrder = append(f.HasTypeOrder, true)
		for g := range f.Groups {
			f.Groups[g].Chunks = append(f.Groups[g].Chunks, constant.chunkOf(f.Groups[g].Rows))
		}
	}
	return elements, nil
}

func newConstant(c *columns.Column, text string) (*Constant, error) {
	k := &Constant{element: schemaElement{name: c.Name}}
	k.setField(fieldRepetition, int64(parquet.Repetitions.Required))
	if c.ID != 0 {
		k.setField(fieldID, int64(c.ID))
	}
	plain, err := k.parseValue(c.Type, text, int(c.Fixed))
	if err != nil || k.physicalType() == parquet.Types.Boolean {
		return k, err
	}
	if k.physicalType() == parquet.Types.ByteArray {
		plain = append(binary.LittleEndian.AppendUint32(nil, uint32(len(plain))), plain...)
	}
	k.front = encodePage(dictionaryPage, 1, parquet.Encodings.Plain, plain)
	return k, nil
}

func (k *Constant) setField(field int, value int64) {
	k.element.set |= 1 << field
	k.element.fields[field] = value
}

func (k *Constant) physicalType() parquet.Type { return parquet.Type(k.element.fields[fieldType]) }

// parseValue sets the type of the column and its value, and returns the value. fixed is columns.Column.Fixed.
func (k *Constant) parseValue(typ, text string, fixed int) (value []byte, err error) {
	physical, whole := parquet.Types.Int64, int64(0)
	switch typ {
	case "bool":
		var truth bool
		truth, err = strconv.ParseBool(text)
		physical, value = parquet.Types.Boolean, []byte{0}
		if truth {
			value[0] = 1
		}
	case "int32":
		physical = parquet.Types.Int32
		whole, err = strconv.ParseInt(text, 10, 32)
	case "int64":
		whole, err = strconv.ParseInt(text, 10, 64)
	case "float":
		var x float64
		x, err = strconv.ParseFloat(text, 32)
		k.isNaN = math.IsNaN(x)
		physical, value = parquet.Types.Float, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
	case "double":
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		k.isNaN = math.IsNaN(x)
		physical, value = parquet.Types.Double, binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
	case "date":
		var at time.Time
		at, err = time.Parse(time.DateOnly, text)
		physical, whole = parquet.Types.Int32, at.Unix()/86400
		k.setField(fieldConverted, int64(schema.ConvertedTypes.Date))
	case "time", "timestamp", "timestamp_ntz":
		whole, err = k.parseTime(typ, text)
	case "string":
		physical, value = parquet.Types.ByteArray, []byte(text)
		k.setField(fieldConverted, int64(schema.ConvertedTypes.UTF8))
	case "binary":
		physical = parquet.Types.ByteArray
		if fixed > 0 {
			physical = parquet.Types.FixedLenByteArray
		}
		value, err = k.parseBytes(text, fixed)
	case "uuid":
		physical = parquet.Types.FixedLenByteArray
		value, err = k.parseBytes(strings.ReplaceAll(text, "-", ""), 16)
		k.element.logical = []byte{14<<4 | thrift.Struct, thrift.Stop, thrift.Stop}
		k.element.set |= 1 << fieldLogical
	default:
		if !strings.HasPrefix(typ, "decimal(") {
			return nil, errors.New("values of this type cannot be constants")
		}
		physical, whole, value, err = k.parseDecimal(typ, text, fixed)
	}
	k.setField(fieldType, int64(physical))
	switch {
	case err != nil:
		return nil, err
	case value != nil || physical == parquet.Types.ByteArray:
	case physical == parquet.Types.Int32:
		value = binary.LittleEndian.AppendUint32(nil, uint32(whole))
	default:
		value = binary.LittleEndian.AppendUint64(nil, uint64(whole))
	}
	k.value = value
	return value, nil
}

func (k *Constant) parseBytes(text string, fixed int) ([]byte, error) {
	value, err := hex.DecodeString(text)
	if err == nil && fixed > 0 && len(value) != fixed {
		err = fmt.Errorf("it has %d bytes, and values of the column have %d", len(value), fixed)
	}
	k.setField(fieldLength, int64(fixed))
	return value, err
}

// parseTime returns a time in microseconds, or in nanoseconds if its text has nine digits of them.
func (k *Constant) parseTime(typ, text string) (int64, error) {
	layout := map[string]string{"time": "15:04:05", "timestamp": "2006-01-02T15:04:05Z07:00", "timestamp_ntz": "2006-01-02T15:04:05"}[typ]
	at, err := time.Parse(layout, text)
	if err != nil {
		return 0, err
	}
	const micros, nanos = 2, 3 // numbers of the units, and of digits in groups of three
	unit, logical, isUTC := byte(micros), byte(8), byte(thrift.False)
	_, fraction, _ := strings.Cut(text, ".")
	if len(fraction)-len(strings.TrimLeft(fraction, "0123456789")) == 9 {
		unit = nanos
	}
	switch typ {
	case "time":
		logical, at = 7, at.AddDate(1970, 0, 0)
	case "timestamp":
		isUTC = thrift.True
	}
	k.element.logical = []byte{logical<<4 | thrift.Struct, 1<<4 | isUTC, 1<<4 | thrift.Struct, unit<<4 | thrift.Struct, thrift.Stop, thrift.Stop, thrift.Stop, thrift.Stop}
	k.element.set |= 1 << fieldLogical
	if unit == micros {
		return at.UnixMicro(), nil
	}
	if whole := at.UnixNano(); time.Unix(0, whole).Equal(at) {
		return whole, nil
	}
	return 0, errors.New("the time is outside of the range of 64 bits")
}

// parseDecimal stores a decimal in this number of bytes or, if it is 0, as Iceberg's specification does: in 32 or 64 bits,
// or else in as few bytes as possible.
func (k *Constant) parseDecimal(typ, text string, size int) (physical parquet.Type, whole int64, value []byte, err error) {
	var precision, scale int
	if _, err = fmt.Sscanf(typ, "decimal(%d,%d)", &precision, &scale); err != nil || precision < 1 || precision > maxDecimalDigits || scale < 0 || scale > precision {
		return 0, 0, nil, errors.New("no such decimals exist")
	}
	k.setField(fieldConverted, int64(schema.ConvertedTypes.Decimal))
	k.setField(fieldPrecision, int64(precision))
	k.setField(fieldScale, int64(scale))
	_, exponent, _ := strings.Cut(strings.ToUpper(text), "E")
	x, ok := new(big.Rat), strings.Trim(text, "0123456789+-.eE") == "" && len(exponent) <= maxExponentText
	if ok {
		_, ok = x.SetString(text)
	}
	power := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	x.Mul(x, new(big.Rat).SetInt(power(scale)))
	if !ok || !x.IsInt() || x.Num().CmpAbs(power(precision)) >= 0 {
		return 0, 0, nil, errors.New("it is no such decimal")
	}
	least := power(precision).BitLen()/8 + 1
	switch {
	case size == 0 && precision <= 9:
		return parquet.Types.Int32, x.Num().Int64(), nil, nil
	case size == 0 && precision <= 18:
		return parquet.Types.Int64, x.Num().Int64(), nil, nil
	case size == 0:
		size = least
	case size < least || size > maxDecimalDigits:
		return 0, 0, nil, fmt.Errorf("%d bytes do not hold it", size)
	}
	k.setField(fieldLength, int64(size))
	n := x.Num()
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 8*uint(size)))
	}
	return parquet.Types.FixedLenByteArray, 0, n.FillBytes(make([]byte, size)), nil
}

// maxDecimalDigits is the greatest precision of a decimal. An exponent of more than maxExponentText characters, with its
// sign, is not parsed: the number would need much memory.
const (
	maxDecimalDigits = 38
	maxExponentText  = 4
)

func (k *Constant) chunkOf(rows int64) ChunkMeta {
	m := ChunkMeta{Physical: k.physicalType()}
	m.Constant, m.Values, m.Codec = k, rows, compress.Codecs.Uncompressed
	m.Size = k.PagesOf(nil, rows).countBytes()
	m.Dictionary = int64(len(k.front))
	for _, e := range []parquet.Encoding{k.pageEncoding(), parquet.Encodings.RLE} {
		m.Encodings.Add(int64(e))
	}
	return m
}

func (k *Constant) pageEncoding() parquet.Encoding {
	if k.physicalType() == parquet.Types.Boolean {
		return parquet.Encodings.RLE
	}
	return parquet.Encodings.RLEDict
}

func (k *Constant) rowsPage(rows int64) []byte {
	run := binary.AppendUvarint(nil, uint64(rows)<<1)
	if k.physicalType() == parquet.Types.Boolean {
		run = append(run, k.value[0])
		run = append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
	} else {
		run = append(append([]byte{1}, run...), 0) // indices of one bit: of the only value in the dictionary
	}
	return encodePage(dataPage, rows, k.pageEncoding(), run)
}

const dataPage = 0

func encodePage(kind byte, values int64, encoding parquet.Encoding, content []byte) (page []byte) {
	number := func(delta byte, v int64) {
		page = binary.AppendVarint(append(page, delta<<4|thrift.I32), v)
	}
	number(1, int64(kind))
	number(1, int64(len(content))) // uncompressed, and compressed
	number(1, int64(len(content)))
	if kind == dictionaryPage {
		page = append(page, 4<<4|thrift.Struct)
	} else {
		page = append(page, 2<<4|thrift.Struct)
	}
	number(1, values)
	number(1, int64(encoding))
	if kind == dataPage { // the encodings of the levels, which there are none of
		number(1, int64(parquet.Encodings.RLE))
		number(1, int64(parquet.Encodings.RLE))
	}
	return append(append(page, thrift.Stop, thrift.Stop), content...)
}

// ConstantPages are the pages of a constant in a row group.
type ConstantPages struct {
	format.Input // of the file
	front        []byte
	full, last   []byte // a page of constantPageRows rows, and the last page
	fullPages    int64
}

// PagesOf returns the pages of the constant in a row group with this number of rows, in an input with the name of the file.
func (k *Constant) PagesOf(file format.Input, rows int64) *ConstantPages {
	p := &ConstantPages{Input: file, front: k.front, full: k.rowsPage(constantPageRows), fullPages: max(rows, 0) / constantPageRows}
	if rest := rows % constantPageRows; rest > 0 {
		p.last = k.rowsPage(rest)
	}
	return p
}

func (p *ConstantPages) countBytes() int64 {
	return int64(len(p.front)) + p.fullPages*int64(len(p.full)) + int64(len(p.last))
}

// ReadAt implements io.ReaderAt.
func (p *ConstantPages) ReadAt(b []byte, at int64) (n int, err error) {
	end := p.fullPages * int64(len(p.full))
	for n < len(b) {
		var from []byte
		switch page := at + int64(n) - int64(len(p.front)); {
		case page < 0:
			from = p.front[at+int64(n):]
		case page < end:
			from = p.full[page%int64(len(p.full)):]
		case page-end < int64(len(p.last)):
			from = p.last[page-end:]
		default:
			return n, io.EOF
		}
		n += copy(b[n:], from)
	}
	return n, nil
}
