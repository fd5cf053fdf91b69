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

// Arrow's own limit; deeper schemas are damaged.
const maxNesting = 64

// field is one field of a schema, and the place of its array in a batch: arrays and their buffers are ordered by a
// walk over the schema, parents first.
type field struct {
	name      string
	kind      byte
	bits      int  // of an integer, a float or a decimal
	signed    bool // of an integer
	precision int  // of a decimal
	scale     int
	width     int  // of a fixed-size list, or of binary of one size in bytes
	dense     bool // of a union
	children  []*field
	index     *field // the indices into its dictionary; nil for others
	dict      int64  // its dictionary
	perSecond int64  // units of a time, a timestamp or a date in milliseconds
	utc       bool   // of a timestamp: it has a time zone

	arrayPlace
}

// arrayPlace is the place of a field's array in a batch.
type arrayPlace struct {
	node         int // among the batch's nodes
	buffer       int // its first buffer, without the buffers of the two counts below
	viewsBefore  int // view arrays before it: the batch has the number of buffers of each
	unionsBefore int // unions before it: each has one buffer more in version V4
}

// withoutIndex returns the field of a dictionary's values: the one array of a dictionary batch.
func (f *field) withoutIndex() *field {
	plain := *f
	plain.index, plain.arrayPlace = nil, arrayPlace{}
	return &plain
}

// schema is the schema of a file or stream.
type schema struct {
	fields    []*field // top level
	columns   []column
	leafCount int            // columns that are leaves; the keys and values of maps follow
	maps      map[int]*field // by column
	nodes     int            // arrays in a batch
}

// schemaShape has the counts that make a parsed schema large.
type schemaShape struct {
	topFields, fields int   // at the top level, and in all
	textBytes         int64 // bytes of the names of the columns and fields, and of the paths to them
}

// heapBytes bounds the memory of the parsed schema, with the list of its leaves.
func (s schemaShape) heapBytes() int64 {
	const each = unsafe.Sizeof(field{}) + unsafe.Sizeof(&field{}) + unsafe.Sizeof(column{}) + unsafe.Sizeof(format.Leaf{})
	return int64(each)*int64(s.fields) + s.textBytes
}

// measureSchema validates the depth of a schema and counts its parts, to reserve memory before it is parsed.
func measureSchema(t flat) (s schemaShape, err error) {
	budget := len(t.Bytes) / 8 // a field takes more bytes: shared tables cannot multiply
	for f := range t.eachTable(1) {
		if err := s.addField(f, 0, 0, &budget); err != nil {
			return s, err
		}
		s.topFields++
	}
	return s, nil
}

// addField counts a field whose name follows prefix bytes of the enclosing structs' names.
func (s *schemaShape) addField(t flat, depth int, prefix int64, budget *int) error {
	if *budget--; *budget < 0 || depth > maxNesting {
		return errors.New("damaged metadata (a schema too deep)")
	}
	const (
		allocation = 16 // of a short text, beyond its bytes
		step       = 32 // of a path: the text of a name, in a list that grows by doubling
	)
	name := int64(t.stringLength(0))
	s.fields++
	if _, ok := t.tableField(4); ok { // a dictionary, whose integers are a field too
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

func parseSchema(t flat, shape schemaShape) (*schema, error) {
	if t.int16Field(0) != 0 {
		return nil, errRefused("big-endian data; write it again on a little-endian machine")
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
		end.layOut(f)
	}
	s.nodes = end.node
	for _, f := range s.fields {
		s.addColumns(f, f.name, nil)
	}
	s.addEntries()
	pandas, found := flat{}, false // only one value is allocated: a hostile file may repeat the key
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

func parseField(t flat) (*field, error) {
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
	if err := f.checkSize(); err != nil {
		return nil, err
	}
	for c := range t.eachTable(5) {
		child, err := parseField(c)
		if err != nil {
			return nil, err
		}
		f.children = append(f.children, child)
	}
	if n := f.requiredChildren(); n >= 0 && n != len(f.children) {
		return nil, fmt.Errorf("damaged metadata (column %q with %d children)", f.name, len(f.children))
	}
	if enc, ok := t.tableField(4); ok {
		f.index = &field{name: f.name, kind: arrowInt, bits: 32, signed: true}
		f.dict = enc.int64Field(0)
		if in, ok := enc.tableField(1); ok {
			f.index.bits, f.index.signed = int(in.int32Field(0, 0)), in.boolField(1)
		}
		if err := f.index.checkSize(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *field) checkSize() error {
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

func (f *field) requiredChildren() int {
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

// layOut places f here and its children after it, and moves past them.
func (w *arrayPlace) layOut(f *field) {
	f.arrayPlace = *w
	w.node++
	if f.index != nil { // the batch holds the indices; the values lie in the dictionary
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
		w.layOut(c)
	}
}

func (b *batch) bufferAt(f *field, i int) int {
	at := f.buffer + i
	if n := min(f.viewsBefore, len(b.viewEnds)); n > 0 {
		at += int(b.viewEnds[n-1])
	}
	if b.version < metadataV5 {
		at += f.unionsBefore
	}
	return at
}
