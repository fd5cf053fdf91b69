package ipc

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Arrow types, the members of the flatbuffers union Type.
const (
	arrowNull          = 1
	arrowInt           = 2
	arrowFloat         = 3
	arrowBinary        = 4
	arrowUtf8          = 5
	arrowBool          = 6
	arrowDecimal       = 7
	arrowDate          = 8
	arrowTime          = 9
	arrowTimestamp     = 10
	arrowInterval      = 11
	arrowList          = 12
	arrowStruct        = 13
	arrowUnion         = 14
	arrowFixedBinary   = 15
	arrowFixedList     = 16
	arrowMap           = 17
	arrowDuration      = 18
	arrowLargeBinary   = 19
	arrowLargeUtf8     = 20
	arrowLargeList     = 21
	arrowRunEnd        = 22
	arrowBinaryView    = 23
	arrowUtf8View      = 24
	arrowListView      = 25
	arrowLargeListView = 26
)

// maxNesting is the limit of Arrow itself on nested fields. A deeper schema is considered damaged.
const maxNesting = 64

// field is one field of a schema, and the position of its array in a batch. The arrays of a batch and their buffers are
// in the order of a depth-first traversal of the schema, parents before children.
type field struct {
	name      string
	kind      byte
	bits      int  // size of an integer, a float or a decimal
	signed    bool // whether an integer has a sign
	precision int  // precision of a decimal
	scale     int
	width     int  // length of a fixed-size list, or bytes of a fixed-size binary
	dense     bool // whether a union is dense
	children  []*field
	index     *field // type of the indices, if the values are in a dictionary; else nil
	dict      int64  // number of the dictionary
	perSecond int64  // units per second of a time or a timestamp, or of a date in milliseconds
	utc       bool   // whether a timestamp has a time zone

	arrayPlace
}

// arrayPlace is the position of a field's array in a batch.
type arrayPlace struct {
	node         int // index among the nodes of the batch
	buffer       int // index of its first buffer, not counting additional buffers of the views and unions before it
	viewsBefore  int // number of view arrays before it; each has a number of data buffers that the batch states
	unionsBefore int // number of unions before it: each has one additional buffer in version V4
}

// withoutIndex returns the field of a dictionary's values. The only array of a dictionary batch belongs to this field.
func (f *field) withoutIndex() *field {
	plain := *f
	plain.index, plain.arrayPlace = nil, arrayPlace{}
	return &plain
}

type schema struct {
	fields    []*field // fields at the top level
	columns   []column
	leafCount int            // number of columns that are leaves; the keys and values of maps follow them
	maps      map[int]*field // for each such column: the map from which it is read
	nodes     int            // number of arrays in a batch
}

// schemaShape contains the counts that determine the memory of a parsed schema.
type schemaShape struct {
	topFields, fields int   // number of fields at the top level, and in total
	textBytes         int64 // total length of the names of columns and fields, and of the paths to them
}

// heapBytes returns an upper bound on the memory of the parsed schema, including the list of its leaves.
func (s schemaShape) heapBytes() int64 {
	const each = unsafe.Sizeof(field{}) + unsafe.Sizeof(&field{}) + unsafe.Sizeof(column{}) + unsafe.Sizeof(format.Leaf{})
	return int64(each)*int64(s.fields) + s.textBytes
}

// measureSchema checks the depth of a schema and counts its parts, so that memory can be reserved before it is parsed.
func measureSchema(t flatTable) (s schemaShape, err error) {
	budget := len(t.Bytes) / 8 // a field has more than 8 bytes; this limits fields that share one table
	for f := range t.eachTable(1) {
		if err := s.addField(f, 0, 0, &budget); err != nil {
			return s, err
		}
		s.topFields++
	}
	return s, nil
}

// addField counts a field and its children. The full name of the field begins with the names of the enclosing structs,
// whose length is prefix. budget is the number of further fields that the schema may have.
func (s *schemaShape) addField(t flatTable, depth int, prefix int64, budget *int) error {
	if *budget--; *budget < 0 || depth > maxNesting {
		return errors.New("damaged metadata (a schema too deep)")
	}
	const (
		allocation = 16 // bytes of a short string in addition to its text
		step       = 32 // for each name in a path: a string header in a slice that may be half empty
	)
	name := int64(t.stringLength(0))
	s.fields++
	if _, ok := t.tableField(4); ok { // a field with a dictionary has indices, which are a field too
		s.textBytes += int64(unsafe.Sizeof(field{}))
	}
	s.textBytes += name + allocation
	if depth > 0 {
		s.textBytes += prefix + 1 + name + allocation + step*int64(depth+1)
	}
	for c := range t.eachTable(5) {
		if err := s.addField(c, depth+1, prefix+1+name, budget); err != nil {
			return err
		}
	}
	return nil
}

func parseSchema(t flatTable, shape schemaShape) (*schema, error) {
	if t.int16Field(0) != 0 {
		return nil, newRefusalError("big-endian data; write it again on a little-endian machine")
	}
	s := &schema{maps: map[int]*field{}, fields: make([]*field, 0, shape.topFields), columns: make([]column, 0, shape.fields)}
	for f := range t.eachTable(1) {
		field, err := parseField(f)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, field)
	}
	var end arrayPlace
	for _, f := range s.fields {
		end.placeArrays(f)
	}
	s.nodes = end.node
	for _, f := range s.fields {
		s.addColumns(f, f.name, nil)
	}
	s.addEntries()
	pandas, found := flatTable{}, false // allocate at most one value, because a hostile file may repeat the key
	for pair := range t.eachTable(2) {
		if pair.stringLength(0) == len(format.PandasKey) && pair.stringField(0) == format.PandasKey {
			pandas, found = pair, true
		}
	}
	value := ""
	if found {
		value = pandas.stringField(1)
	}
	format.MarkIndex(func(yield func(*format.Leaf) bool) {
		for i := 0; i < s.leafCount && yield(&s.columns[i].Leaf); i++ {
		}
	}, value)
	return s, nil
}

func parseField(t flatTable) (*field, error) {
	f := &field{name: t.stringField(0), kind: t.byteField(2)}
	typ, _ := t.tableField(3)
	if typ.Bytes == nil {
		return nil, fmt.Errorf("damaged metadata (column %q without a type)", f.name)
	}
	switch f.kind {
	case arrowInt:
		f.bits, f.signed = int(typ.int32Field(0, 0)), typ.boolField(1)
	case arrowFloat:
		f.bits = 16 << typ.int16Field(0)
	case arrowDecimal:
		f.precision, f.scale, f.bits = int(typ.int32Field(0, 0)), int(typ.int32Field(1, 0)), int(typ.int32Field(2, 128))
	case arrowFixedList:
		f.width = int(typ.int32Field(0, 0))
	case arrowUnion:
		f.dense = typ.int16Field(0) == 1
	case arrowBool:
		f.bits = 1
	}
	f.parseUnits(typ)
	if err := f.checkTypeParameters(); err != nil {
		return nil, err
	}
	for c := range t.eachTable(5) {
		child, err := parseField(c)
		if err != nil {
			return nil, err
		}
		f.children = append(f.children, child)
	}
	if n := f.requiredChildCount(); n >= 0 && n != len(f.children) {
		return nil, fmt.Errorf("damaged metadata (column %q with %d children)", f.name, len(f.children))
	}
	if enc, ok := t.tableField(4); ok {
		f.index = &field{name: f.name, kind: arrowInt, bits: 32, signed: true}
		f.dict = enc.int64Field(0)
		if in, ok := enc.tableField(1); ok {
			f.index.bits, f.index.signed = int(in.int32Field(0, 0)), in.boolField(1)
		}
		if err := f.index.checkTypeParameters(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *field) checkTypeParameters() error {
	ok := true
	switch f.kind {
	case arrowInt:
		ok = f.bits == 8 || f.bits == 16 || f.bits == 32 || f.bits == 64
	case arrowFloat:
		ok = f.bits == 16 || f.bits == 32 || f.bits == 64
	case arrowDecimal:
		ok = (f.bits == 32 || f.bits == 64 || f.bits == 128 || f.bits == 256) && -1000 <= f.scale && f.scale <= 1000
	case arrowFixedList:
		ok = f.width >= 0
	}
	if !ok {
		return fmt.Errorf("damaged metadata (column %q: type %d of %d bits)", f.name, f.kind, f.bits)
	}
	return nil
}

func (f *field) requiredChildCount() int {
	switch f.kind {
	case arrowList, arrowLargeList, arrowFixedList, arrowListView, arrowLargeListView, arrowMap:
		return 1
	case arrowRunEnd:
		return 2
	}
	return -1
}

func (f *field) bufferCount() int {
	switch {
	case f.index != nil:
		return 2
	case f.kind == arrowRunEnd:
		return 0
	case f.kind == arrowStruct, f.kind == arrowFixedList:
		return 1
	}
	return 2
}

// placeArrays assigns the position w to the array of f and the following positions to the arrays of its children. It
// advances w past all of them.
func (w *arrayPlace) placeArrays(f *field) {
	f.arrayPlace = *w
	w.node++
	if f.index != nil { // the array has the indices; the values are in the dictionary
		f.index.arrayPlace = f.arrayPlace
		w.buffer += 2
		return
	}
	switch f.kind {
	case arrowNull, arrowRunEnd:
	case arrowStruct, arrowFixedList:
		w.buffer++
	case arrowBinary, arrowUtf8, arrowLargeBinary, arrowLargeUtf8, arrowListView, arrowLargeListView:
		w.buffer += 3
	case arrowBinaryView, arrowUtf8View:
		w.buffer += 2
		w.viewsBefore++
	case arrowUnion:
		w.buffer++
		if f.dense {
			w.buffer++
		}
		w.unionsBefore++
	default:
		w.buffer += 2
	}
	for _, c := range f.children {
		w.placeArrays(c)
	}
}

func (b *batch) bufferIndex(f *field, bufferNumber int) int {
	at := f.buffer + bufferNumber
	if n := min(f.viewsBefore, len(b.viewEnds)); n > 0 {
		at += int(b.viewEnds[n-1])
	}
	if b.version < metadataV5 {
		at += f.unionsBefore
	}
	return at
}
