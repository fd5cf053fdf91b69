package ipc

import (
	"context"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// column is one leaf of a schema, with the arrays from which it is read.
type column struct {
	format.Leaf
	outerStructs []*field // the enclosing structs, outermost first; if one of them is null, so is the leaf
	ownField     *field   // the array with one value per row; nil for the entries of maps
	listField    *field   // the list that contains its elements; nil for scalars
	valueField   *field   // the field that contains its numbers; nil if these cannot be decoded
	textField    *field   // the field that DecodeTexts reads; nil if NoClass gives a reason why it cannot
	entries      *[2]int  // for a map from integers to numbers: indices of the two columns that hold its keys and its values as lists
}

func (s *schema) addColumns(f *field, name string, enclosingStructs []*field) {
	if f.kind == arrowStruct && f.index == nil && len(f.children) > 0 {
		enclosingStructs = append(enclosingStructs[:len(enclosingStructs):len(enclosingStructs)], f)
		for _, c := range f.children {
			s.addColumns(c, name+"."+c.name, enclosingStructs)
		}
		return
	}
	c := column{Leaf: format.Leaf{Name: name, Nulls: -1}, outerStructs: enclosingStructs, ownField: f}
	if len(enclosingStructs) > 0 {
		for _, outer := range enclosingStructs {
			c.Path = append(c.Path, outer.name)
		}
		c.Path = append(c.Path, f.name)
	}
	value := f
	switch f.kind {
	case arrowList, arrowLargeList, arrowFixedList:
		if f.index == nil {
			c.listField, value = f, f.children[0]
		}
	case arrowListView, arrowLargeListView:
		c.Why = "list view; rewrite it as an ordinary list"
		c.Refused = f.index == nil && value.children[0].isPlainNumber()
		c.Type = "list view"
	}
	if c.Why == "" {
		c.Type, c.Why, c.Refused = value.describeType(c.listField != nil)
	}
	if c.Why == "" {
		c.valueField, c.Width = value, 1
		n := value.numberField() // a decimal outside the range of float64 becomes ±Inf
		c.MaybeNaN = n.kind == arrowFloat || n.kind == arrowDecimal && n.precision-n.scale > 308
	} else {
		c.listField = nil
	}
	if f.index == nil && (f.kind == arrowList || f.kind == arrowLargeList || f.kind == arrowFixedList) {
		c.Type = "list<" + c.Type + ">"
		if c.Why == "" {
			c.List, c.Width = true, widthUnknown
		}
		if c.Why == "" && f.kind == arrowFixedList {
			if c.Width = f.width; c.Width == 0 {
				c.Why = "lists without elements"
			}
		}
	}
	if c.NoClass = f.whyNoClass(); c.NoClass == "" {
		c.textField = f
	}
	if f.kind == arrowMap {
		s.maps[len(s.columns)] = f
	}
	if f.kind == arrowTimestamp || f.kind == arrowTime {
		c.PerSecond, c.UTC = f.perSecond, f.utc
	}
	s.columns = append(s.columns, c)
}

// addEntries adds two list columns for each map, its keys and its values. They follow the leaves.
func (s *schema) addEntries() {
	s.leafCount = len(s.columns)
	for i := range s.leafCount {
		c, f := &s.columns[i], s.maps[i]
		if f == nil {
			continue
		}
		if c.NoEntries = f.whyNoEntries(); c.NoEntries != "" {
			continue
		}
		pair := f.children[0].children
		c.Entries, _, _ = pair[1].describeType(true)
		c.entries = &[2]int{len(s.columns), len(s.columns) + 1}
		name, structs := c.Name, c.outerStructs
		for _, side := range pair {
			s.columns = append(s.columns, column{
				Leaf:         format.Leaf{Name: name, List: true, Why: format.WhyVarying, NoClass: "a map", Nulls: -1},
				outerStructs: structs, listField: f, valueField: side,
			})
		}
	}
}

func (f *field) whyNoEntries() string {
	pair := f.children[0]
	if f.index != nil || pair.kind != arrowStruct || pair.index != nil || len(pair.children) != 2 {
		return "a malformed map, or one in a dictionary"
	}
	var types [2]string
	var reasons string
	for i, side := range pair.children {
		typ, why, refused := side.describeType(true)
		if refused {
			return why
		}
		types[i] = typ
		reasons += why
	}
	return format.WhyNoEntries(types[0], types[1], reasons)
}

// numberField returns the field whose array contains the numbers of f. This is f itself, or its values if it is run-end
// encoded.
func (f *field) numberField() *field {
	if f.kind == arrowRunEnd && f.index == nil {
		return f.children[1]
	}
	return f
}

func (f *field) isPlainNumber() bool {
	switch f.kind {
	case arrowBool, arrowInt, arrowFloat, arrowDecimal:
		return true
	}
	return false
}

// describeType returns the name of a type, and the reason why its values cannot be a feature. refused means that they
// could be a feature if the file were encoded in another way. Extension types need no special case, because the schema
// contains their storage types.
func (f *field) describeType(inList bool) (typ, why string, refused bool) {
	switch f.kind {
	case arrowBool:
		return "bool", "", false
	case arrowInt:
		if f.signed {
			return fmt.Sprintf("int%d", f.bits), "", false
		}
		return fmt.Sprintf("uint%d", f.bits), "", false
	case arrowFloat:
		return map[int]string{16: "float16", 32: "float", 64: "double"}[f.bits], "", false
	case arrowDecimal:
		return fmt.Sprintf("decimal(%d,%d)", f.precision, f.scale), "", false
	case arrowRunEnd:
		typ, why, refused = f.children[1].describeType(inList)
		runs := f.children[0]
		if why == "" && (inList || f.index != nil || !f.children[1].isPlainNumber() || runs.kind != arrowInt || runs.index != nil) {
			why, refused = "runs inside a list or dictionary; rewrite it without run-end encoding", true
		}
		return typ, why, refused
	case arrowBinary, arrowLargeBinary, arrowBinaryView, arrowFixedBinary:
		return "binary", "binary", false
	case arrowUtf8, arrowLargeUtf8, arrowUtf8View:
		return "string", "text", false
	case arrowNull:
		return "null", "no type: every value is null", false
	case arrowList, arrowLargeList, arrowFixedList, arrowListView, arrowLargeListView:
		return "list", "nested lists", false
	case arrowStruct:
		if inList {
			return "struct", "lists of structs", false
		}
		return "struct", "a struct without fields, or in a dictionary", false
	}
	for _, t := range []struct {
		kind byte
		name string
	}{
		{arrowDate, "date"}, {arrowTime, "time"}, {arrowTimestamp, "timestamp"}, {arrowInterval, "interval"},
		{arrowDuration, "duration"}, {arrowMap, "map"}, {arrowUnion, "union"},
	} {
		if f.kind == t.kind {
			return t.name, t.name, false
		}
	}
	return fmt.Sprintf("type %d", f.kind), "unknown type", false
}

// arrayFields lists the arrays from which a row of the column is read, outermost first.
func (c *column) arrayFields() []*field {
	list := append([]*field(nil), c.outerStructs...)
	if c.listField != nil {
		list = append(list, c.listField)
	}
	if c.valueField != nil {
		list = append(list, c.valueField)
		if c.valueField.kind == arrowRunEnd {
			list = append(list, c.valueField.children...)
		}
	}
	return list
}

// largestBatch returns the description of a batch that is at least as large as every batch of a stream with the given
// codec. The sizes hardly affect the memory for decoding, because arrays are read a tile or a window at a time.
func (s *schema) largestBatch(codec int) *batch {
	b := &batch{codec: codec, nodes: make([]arrayNode, s.nodes)}
	for i := range b.nodes {
		b.nodes[i].length = maxLength
	}
	return b
}

// addNulls adds the null count of a batch to the count of the column. If the column is not a list, the count is exact.
// For lists it is 0 if there are no nulls, and otherwise unknown. It is also unknown if an enclosing struct or a
// dictionary may have nulls.
func (c *column) addNulls(b *batch, dicts map[int64]*numberDictionary, texts map[int64]*textDictionary) {
	if c.Nulls < 0 {
		return
	}
	arrays, scalar := c.arrayFields(), c.valueField
	if c.valueField == nil {
		arrays, scalar = c.nullityFields(), c.ownField
		if c.ownField.kind == arrowUnion || c.ownField.index != nil && texts[c.ownField.dict].mayHaveNulls() {
			c.Nulls = -1 // a value of a union is null if its child value is null
			return
		}
	}
	outer, inner := int64(0), int64(0)
	for _, f := range arrays {
		if b.nodes[f.node].nulls == unknownNulls {
			c.Nulls = -1
			return
		}
		switch {
		case f == scalar && f.kind == arrowNull && f.index == nil:
			inner = b.nodes[f.node].length
		case f == scalar:
			inner = b.nodes[f.node].nulls
		default:
			outer += b.nodes[f.node].nulls
		}
		if d := dicts[f.dict]; f.index != nil && d != nil && d.nulls > 0 {
			outer++
		}
	}
	switch {
	case outer == 0 && inner == 0:
	case outer == 0 && !c.List:
		c.Nulls += inner
	default:
		c.Nulls = -1
	}
}

// nullityFields lists the arrays that determine whether a value that is not numeric is null, outermost first.
func (c *column) nullityFields() []*field {
	list := append(append([]*field(nil), c.outerStructs...), c.ownField)
	if c.ownField.kind == arrowRunEnd && c.ownField.index == nil {
		list = append(list, c.ownField.children...)
	}
	return list
}

func (s *schema) copyOfLeaves() []format.Leaf {
	list := make([]format.Leaf, s.leafCount)
	for i, c := range s.columns[:s.leafCount] {
		list[i] = c.Leaf
		if c.entries != nil {
			key, value := s.columns[c.entries[0]], s.columns[c.entries[1]]
			list[i].Scratch, list[i].Packed = max(key.Scratch, value.Scratch), key.Packed+value.Packed
		}
	}
	return list
}

// widthUnknown is the Width of a list column whose lists have not been read yet.
const widthUnknown = -1

// findWidths determines the length of the lists of each list column from a batch. Later batches must have lists of the
// same length, which decoding checks. If a length is already known, findWidths checks the lists of this batch too, but
// only if recheck is set, or if the number of elements proves that lengths differ.
func (s *schema) findWidths(ctx context.Context, g *group, recheck bool) error {
	for l := range s.columns {
		c := &s.columns[l]
		known := c.Width != widthUnknown
		if !c.List || known && (c.Width == 0 || c.listField.kind == arrowFixedList || !recheck && !c.hasWrongElementCount(&g.batch)) {
			continue
		}
		width, err := g.readListWidth(ctx, c)
		switch {
		case err != nil:
			return err
		case !known:
			c.Width = width
		case width != widthUnknown && width != c.Width:
			c.Width = 0
		}
	}
	return nil
}

// hasWrongElementCount reports whether the number of elements in a batch is impossible for lists of the known length,
// given the numbers of rows and nulls.
func (c *column) hasWrongElementCount(b *batch) bool {
	nulls := int64(0)
	for _, f := range append(slices.Clone(c.outerStructs), c.listField) {
		if b.nodes[f.node].nulls == unknownNulls {
			return false
		}
		nulls += b.nodes[f.node].nulls
	}
	n, width := b.nodes[c.listField.children[0].node].length, int64(c.Width)
	return (n+width-1)/width > b.rows || n/width < b.rows-nulls
}

func (s *schema) hasUnknownWidths() bool {
	return slices.ContainsFunc(s.columns, func(c column) bool { return c.List && c.Width == widthUnknown })
}

// settleWidths sets the reason Why for each list column whose lists have no common length.
func (s *schema) settleWidths() {
	for l := range s.columns {
		c := &s.columns[l]
		if !c.List || c.Width > 0 {
			continue
		}
		switch {
		case c.Why != "":
		case c.Width == widthUnknown:
			c.Why = "every list is null or empty"
		default:
			c.Why = format.WhyVarying
		}
		c.Width = 0
	}
}
