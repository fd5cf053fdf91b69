package deltatwin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// parquetFile is a Parquet file, read whole.
type parquetFile struct {
	rows    int64
	columns []*column
}

// column is a node in the schema of a Parquet file, and the leaves below it. The repeated groups that lists and maps
// need are no columns.
type column struct {
	node     schema.Node
	isList   bool
	isMap    bool // its only child is a list of entries, each a struct of a key and a value
	presence int16
	// repeated is the definition level of an element, and repetition the level at which the next one of a list begins.
	repeated, repetition int16
	children             []*column
	leaves               []*leaf
}

// leaf has all entries of a leaf: a definition and a repetition level for each, and the values that are not null.
type leaf struct {
	definitions, repetitions []int16
	values                   []any
	at, valueAt              int // of the next entry
}

func openParquet(path string) (f *parquetFile, err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics at a type that it does not know
			err = fmt.Errorf("%s: %v", path, p)
		}
	}()
	whole, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if whole, err = removeVariants(whole); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	in, err := file.NewParquetReader(bytes.NewReader(whole))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer in.Close()
	leaves := make([]*leaf, in.MetaData().Schema.NumColumns())
	for i := range leaves {
		leaves[i] = new(leaf)
		for g := range in.NumRowGroups() {
			chunk, err := in.RowGroup(g).Column(i)
			if err != nil {
				return nil, err
			}
			if err := leaves[i].readChunk(chunk); err != nil {
				return nil, fmt.Errorf("column %s: %w", in.MetaData().Schema.Column(i).Path(), err)
			}
		}
	}
	root := in.MetaData().Schema.Root()
	f = &parquetFile{rows: in.NumRows()}
	for i := range root.NumFields() {
		f.columns = append(f.columns, newColumn(root.Field(i), 0, 0, &leaves))
	}
	return f, nil
}

// removeVariants removes the logical type of variants from the footer: the library knows no files with this type. It is
// the last field of its struct, so that no other field depends on it. A variant is then a group of two binary columns.
func removeVariants(whole []byte) ([]byte, error) {
	const tail = 8 // the length of the footer, and PAR1
	end := len(whole) - tail
	if end < 0 || int64(binary.LittleEndian.Uint32(whole[end:])) > int64(end) {
		return nil, errors.New("the file has no footer")
	}
	start := end - int(binary.LittleEndian.Uint32(whole[end:]))
	footer := bytes.Clone(whole[start:end])
	for _, field := range []string{"\x0c\x20\x00\x00", "\x0c\x20\x13\x01\x00\x00"} { // without and with a version
		for at := bytes.Index(footer, []byte(field)); at > 0; at = bytes.Index(footer, []byte(field)) {
			head := at - 1
			if bytes.HasSuffix(footer[:at], []byte("\x0c\x14")) { // a field whose number is not encoded with its type
				head = at - 2
			}
			footer = slices.Delete(footer, head, at+len(field))
		}
	}
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(footer))) //nolint:gosec // not longer than it was
	return slices.Concat(whole[:start], footer, size, whole[end+4:]), nil
}

// newColumn returns the column of a node whose parent has these levels. It takes the leaves below it from the front of
// the list.
func newColumn(node schema.Node, presence, repetition int16, leaves *[]*leaf) *column {
	if node.RepetitionType() == parquet.Repetitions.Repeated { // a list without the group around it
		c := &column{node: node, isList: true, presence: presence, repeated: presence + 1, repetition: repetition + 1}
		return c.addChild(newElement(node, presence+1, repetition+1, leaves))
	}
	if node.RepetitionType() == parquet.Repetitions.Optional {
		presence++
	}
	group, isGroup := node.(*schema.GroupNode)
	isMap := node.ConvertedType() == schema.ConvertedTypes.Map || node.ConvertedType() == schema.ConvertedTypes.MapKeyValue
	if isGroup && (isMap || node.ConvertedType() == schema.ConvertedTypes.List) {
		inner := group.Field(0)
		c := &column{node: node, isList: true, isMap: isMap, presence: presence, repeated: presence + 1, repetition: repetition + 1}
		entries, wrapped := inner.(*schema.GroupNode)
		if wrapped = wrapped && !isMap && entries.NumFields() == 1 && inner.Name() != "array" && inner.Name() != node.Name()+"_tuple"; wrapped {
			return c.addChild(newColumn(entries.Field(0), presence+1, repetition+1, leaves))
		}
		return c.addChild(newElement(inner, presence+1, repetition+1, leaves))
	}
	c := newElement(node, presence, repetition, leaves)
	c.presence = presence
	return c
}

func newElement(node schema.Node, presence, repetition int16, leaves *[]*leaf) *column {
	c := &column{node: node, presence: presence}
	if group, ok := node.(*schema.GroupNode); ok {
		for i := range group.NumFields() {
			c.addChild(newColumn(group.Field(i), presence, repetition, leaves))
		}
		return c
	}
	c.leaves, *leaves = (*leaves)[:1:1], (*leaves)[1:]
	return c
}

func (c *column) addChild(child *column) *column {
	c.children, c.leaves = append(c.children, child), append(c.leaves, child.leaves...)
	return c
}

func (c *column) nextValue() any {
	first := c.leaves[0]
	if first.definition() < c.presence {
		c.skipEntry()
		return nil
	}
	switch {
	case c.isList:
		list := List{}
		if first.definition() < c.repeated {
			c.skipEntry()
			return list
		}
		for again := true; again; again = first.at < len(first.definitions) && first.repetitions[first.at] == c.repetition {
			list = append(list, c.children[0].nextValue())
		}
		return list
	case c.children != nil:
		group := make(Struct, len(c.children))
		for i, child := range c.children {
			group[i] = child.nextValue()
		}
		return group
	}
	first.at++
	first.valueAt++
	return first.values[first.valueAt-1]
}

func (c *column) skipEntry() {
	for _, l := range c.leaves {
		l.at++
	}
}

func (l *leaf) definition() int16 { return l.definitions[l.at] }

func (l *leaf) readChunk(chunk file.ColumnChunkReader) error {
	top, most := chunk.Descriptor().MaxDefinitionLevel(), chunk.Descriptor().MaxRepetitionLevel()
	for chunk.HasNext() {
		const size = 1 << 12
		definitions, repetitions := slices.Repeat([]int16{top}, size), make([]int16, size)
		levels := definitions
		if top == 0 {
			levels = nil
		}
		repeats := repetitions
		if most == 0 {
			repeats = nil
		}
		values, n, err := readBatch(chunk, size, levels, repeats)
		if err != nil {
			return err
		}
		if n == 0 {
			return errors.New("ends too early")
		}
		l.values = append(l.values, values...)
		l.definitions = append(l.definitions, definitions[:n]...)
		l.repetitions = append(l.repetitions, repetitions[:n]...)
	}
	return nil
}

func readBatch(chunk file.ColumnChunkReader, size int64, definitions, repetitions []int16) ([]any, int64, error) {
	switch r := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	case *file.Int32ColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	case *file.Int64ColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	case *file.Int96ColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	case *file.Float32ColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	case *file.Float64ColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	case *file.ByteArrayColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	case *file.FixedLenByteArrayColumnChunkReader:
		return readTyped(r.ReadBatch, size, definitions, repetitions)
	}
	return nil, 0, fmt.Errorf("unknown values %v", chunk.Type())
}

func readTyped[T any](read func(int64, []T, []int16, []int16) (int64, int, error), size int64, definitions, repetitions []int16) (values []any, n int64, err error) {
	typed := make([]T, size)
	n, count, err := read(size, typed, definitions, repetitions)
	for _, v := range typed[:count] {
		switch x := any(v).(type) { // bytes are lent until the next batch
		case parquet.ByteArray:
			values = append(values, slices.Clone([]byte(x)))
		case parquet.FixedLenByteArray:
			values = append(values, slices.Clone([]byte(x)))
		default:
			values = append(values, v)
		}
	}
	return values, n, err
}

func (f *parquetFile) plainRows(names []string) ([]map[string]any, error) {
	rows := make([]map[string]any, f.rows)
	for i := range rows {
		rows[i] = map[string]any{}
		for _, c := range f.columns {
			if !slices.Contains(names, c.node.Name()) {
				continue
			}
			var err error
			if rows[i][c.node.Name()], err = c.plainValue(c.nextValue()); err != nil {
				return nil, fmt.Errorf("column %s: %w", c.node.Name(), err)
			}
		}
	}
	return rows, nil
}

func (c *column) plainValue(value any) (plain any, err error) {
	switch x := value.(type) {
	case Struct:
		object := map[string]any{}
		for i, child := range c.children {
			if object[child.node.Name()], err = child.plainValue(x[i]); err != nil {
				return nil, err
			}
		}
		return object, nil
	case List:
		elements, entries := []any{}, map[string]any{}
		for _, v := range x {
			if v, err = c.children[0].plainValue(v); err != nil {
				return nil, err
			}
			elements = append(elements, v)
			if object, ok := v.(map[string]any); ok && c.isMap {
				entries[fmt.Sprint(object["key"])] = object["value"]
			}
		}
		if c.isMap {
			return entries, nil
		}
		return elements, nil
	case []byte:
		return string(x), nil
	case parquet.Int96:
		return x.ToTime().UnixMicro(), nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) { // in statistics, which nobody needs
			return nil, nil
		}
	case float32:
		if v := float64(x); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil
		}
	}
	return value, nil
}
