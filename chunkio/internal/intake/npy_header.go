package intake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

type npyHeader struct {
	fields        []npyField
	leftOut       []stream.LeftOut // fields that cannot be read
	columnsBefore []int            // by left-out field: number of columns before the field
	fortran       bool
	rows          int64
	size          int64 // bytes of a row
}

// npyField is a field of the array's element type: a fixed number of values of one type in every row.
type npyField struct {
	name       string
	isList     bool // the field has the columns name[0], name[1], …
	count      int
	typ        byte  // b, i, u, f, S or U
	unreadable error // if not nil, the values cannot be read and are skipped
	bigEndian  bool  // the most significant byte comes first
	size       int64
	offset     int64 // offset of the field in the row
}

// unreadArray describes an intact array that cannot be read, and a Python expression whose value can be saved and read
// instead.
type unreadArray struct{ what, saveExpression string }

func (u *unreadArray) Error() string { return u.what }

func newUnreadArray(name string, elementType byte) *unreadArray {
	u := &unreadArray{fmt.Sprintf("values of type %q cannot be read: want numbers, booleans or texts", name), "the numbers in it, as a.astype('float64')"}
	switch elementType {
	case 'M':
		u.saveExpression = "its seconds since 1970, (a - numpy.datetime64(0, 's')) / numpy.timedelta64(1, 's')"
	case 'm':
		u.saveExpression = "its seconds, a / numpy.timedelta64(1, 's')"
	case 'c':
		u.saveExpression = "both parts side by side, numpy.column_stack([a.real, a.imag])"
	case 'f':
		u.saveExpression = "a.astype('float64')"
	case 'V':
		u.saveExpression = "its bytes as numbers, a.view('uint8').reshape(len(a), -1), or, if these are bfloat16, what astype('float32') makes of them"
	case 'O':
		u.what = "objects of Python cannot be read"
		u.saveExpression = "a.astype('float64') if all are numbers, or the table as text, pandas.DataFrame(a).to_csv('a.csv', index=False)"
	}
	return u
}

func (f *npyField) columnKind() Kind {
	switch f.typ {
	case 'b':
		return Bool
	case 'i':
		return Int
	case 'u':
		if f.size == 8 {
			return Uint
		}
		return Int
	case 'S', 'U':
		return Text
	}
	return Float
}

// parseNumber returns a value as a float64 and, if it is an integer, also as an exact int64.
func (f *npyField) parseNumber(raw []byte) (x float64, whole int64) {
	var order binary.ByteOrder = binary.LittleEndian
	if f.bigEndian {
		order = binary.BigEndian
	}
	var bits uint64
	switch f.size {
	case 1:
		bits = uint64(raw[0])
	case 2:
		bits = uint64(order.Uint16(raw))
	case 4:
		bits = uint64(order.Uint32(raw))
	case 8:
		bits = order.Uint64(raw)
	}
	switch f.typ {
	case 'f':
		switch f.size {
		case 2:
			return format.HalfFloat(uint16(bits)), 0
		case 4:
			return float64(math.Float32frombits(uint32(bits))), 0
		}
		return math.Float64frombits(bits), 0
	case 'i':
		shift := 64 - 8*f.size
		whole = int64(bits<<shift) >> shift
		return float64(whole), whole
	case 'b':
		whole = int64(min(bits, 1))
		return float64(whole), whole
	}
	return float64(bits), int64(bits)
}

// parseText decodes a text that is padded with zeros. ok is false if its bytes are not UTF-8, or its characters are not
// Unicode. Decoding would replace such bytes, and could make different texts equal.
func (f *npyField) parseText(raw []byte) (s string, ok bool) {
	if f.typ == 'S' {
		s = strings.TrimRight(string(raw), "\x00")
		return s, utf8.ValidString(s)
	}
	var b strings.Builder
	for ; len(raw) >= 4; raw = raw[4:] {
		c := binary.LittleEndian.Uint32(raw)
		if f.bigEndian {
			c = binary.BigEndian.Uint32(raw)
		}
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return "", false
		}
		b.WriteRune(rune(c))
	}
	return strings.TrimRight(b.String(), "\x00"), true
}

// parseNPY parses the header of an array, a Python literal: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4),
// }.
func parseNPY(text string) (h npyHeader, err error) {
	p := literalParser{rest: text}
	v, err := p.parseValue(0)
	if err != nil {
		return h, fmt.Errorf("the header %.80q: %w", text, err)
	}
	dict, ok := v.(map[string]any)
	if !ok {
		return h, errors.New("the header is no dictionary")
	}
	if h.fortran, ok = dict["fortran_order"].(bool); !ok {
		return h, errors.New("the header lacks fortran_order")
	}
	shape, ok := dict["shape"].([]any)
	if !ok {
		return h, errors.New("the header lacks a shape")
	}
	dims := make([]int64, len(shape))
	for i, x := range shape {
		if dims[i], ok = x.(int64); !ok || dims[i] < 0 {
			return h, fmt.Errorf("a shape of %v", shape)
		}
	}
	if len(dims) < 1 || len(dims) > 2 {
		save := "a.reshape(len(a), -1)"
		if len(dims) == 0 {
			save = "a.reshape(1)"
		}
		return h, &unreadArray{fmt.Sprintf("an array of %d dimensions: want rows and columns, or one column", len(dims)), save}
	}
	h.rows = dims[0]
	if err := h.readElementType(dict["descr"]); err != nil {
		return h, err
	}
	if len(dims) == 1 {
		h.fortran = false // with one column both orders are the same
	} else if err := h.setTwoDimensionalRow(dims[1]); err != nil {
		return h, err
	}
	if h.size > 1<<30 || h.size > 0 && h.rows > math.MaxInt64/h.size-1<<20 {
		return h, fmt.Errorf("%d rows of %d bytes", h.rows, h.size)
	}
	if len(h.fields) == 0 && len(h.leftOut) == 0 || h.size == 0 {
		return h, errors.New("the array has no column")
	}
	return h, nil
}

// readElementType reads the type of an element: one type, or a list of fields.
func (h *npyHeader) readElementType(descr any) error {
	switch d := descr.(type) {
	case string:
		f, err := parseNPYType(d)
		if err != nil {
			return err
		}
		f.name, f.count = "x", 1
		if f.unreadable != nil {
			return f.unreadable
		}
		h.fields, h.size = []npyField{f}, f.size
		return nil
	case []any:
		return h.readFields(d)
	}
	return errors.New("the header lacks a descr")
}

func (h *npyHeader) readFields(fieldList []any) error {
	seen, columns := map[string]bool{}, 0
	for _, x := range fieldList {
		t, ok := x.([]any)
		if !ok || len(t) < 2 || len(t) > 3 {
			return fmt.Errorf("a field %v", x)
		}
		name, ok := t[0].(string)
		if !ok {
			return fmt.Errorf("a field named %v", t[0])
		}
		typ, ok := t[1].(string)
		if !ok {
			return &unreadArray{fmt.Sprintf("field %s is a structure itself", name), "numpy.lib.recfunctions.structured_to_unstructured(a), if all are numbers"}
		}
		f, err := parseNPYType(typ)
		if err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		f.name, f.count, f.offset = name, 1, h.size
		if len(t) == 3 {
			dims, ok := t[2].([]any)
			if !ok {
				dims = []any{t[2]}
			}
			f.isList = true
			for _, d := range dims {
				n, ok := d.(int64)
				if !ok || n < 0 || n > maxColumns || int64(f.count)*n > maxColumns {
					return fmt.Errorf("field %s of shape %v", name, t[2])
				}
				f.count *= int(n)
			}
		}
		if f.size > 0 && int64(f.count) > (1<<30)/f.size {
			return fmt.Errorf("field %s of %d values of %d bytes", name, f.count, f.size)
		}
		if h.size += f.size * int64(f.count); h.size > 1<<30 {
			return errors.New("a row of more than a gigabyte")
		}
		if name == "" && f.typ == 'V' { // padding
			continue
		}
		if name == "" || seen[name] {
			return fmt.Errorf("two fields are named %q, or one has no name", name)
		}
		seen[name] = true
		if f.unreadable != nil {
			h.leftOut, h.columnsBefore = append(h.leftOut, stream.LeftOut{Name: name, Why: f.unreadable.Error()}), append(h.columnsBefore, columns)
			continue
		}
		h.fields = append(h.fields, f)
		columns += f.count
	}
	if columns > maxColumns {
		return fmt.Errorf("%d columns, more than %d", columns, maxColumns)
	}
	return nil
}

func (h *npyHeader) setTwoDimensionalRow(columns int64) error {
	if len(h.fields) != 1 || h.fields[0].name != "x" || h.fields[0].isList {
		return &unreadArray{"a structured type in two dimensions: want one row of fields for each element", "a.reshape(-1)"}
	}
	f := &h.fields[0]
	if columns < 1 || columns > 1<<24 || f.size*columns > 1<<30 {
		return fmt.Errorf("%d columns", columns)
	}
	f.isList, f.count = true, int(columns)
	h.size = f.size * columns
	return nil
}

func parseNPYType(descr string) (f npyField, err error) {
	if len(descr) < 2 {
		return f, newUnreadArray(descr, 0)
	}
	order, typ := descr[0], descr[1]
	digits := descr[2:]
	if !strings.ContainsRune("<>|=", rune(order)) {
		order, typ, digits = '<', descr[0], descr[1:]
	}
	if typ == 'M' || typ == 'm' { // the unit follows in brackets
		digits, _, _ = strings.Cut(digits, "[")
	}
	refused := newUnreadArray(descr, typ)
	size, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return f, refused
	}
	f.typ, f.bigEndian, f.size = typ, order == '>', int64(size)
	sizes := map[byte][]int64{'b': {1}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'f': {2, 4, 8}}
	opaque := map[byte][]int64{'M': {8}, 'm': {8}, 'c': {8, 16, 24, 32}, 'f': {12, 16}}
	switch allowed, number := sizes[typ]; {
	case number && slices.Contains(allowed, f.size):
	case typ == 'S' && f.size > 0:
	case typ == 'U' && f.size > 0 && f.size < 1<<28:
		f.size *= 4
	case slices.Contains(opaque[typ], f.size), typ == 'V':
		f.unreadable = refused
	default:
		return f, refused
	}
	return f, nil
}
