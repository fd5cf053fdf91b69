package ipc

import (
	"context"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// column is one leaf of a schema and the arrays it is read from.
type column struct {
	format.Leaf
	structs []*field // the structs around it, outermost first: a null one makes it null
	own     *field   // the array of a value a row; nil for the entries of maps
	list    *field   // the list whose elements it holds; nil for scalars
	value   *field   // its numbers; nil where they cannot be decoded
	text    *field   // its values for DecodeTexts; nil where NoClass says why
	entries *[2]int  // of a map of integers to numbers: its keys and values as lists, behind the leaves
}

// addColumns flattens one field into columns.
func (s *schema) addColumns(f *field, name string, structs []*field) {
	if f.kind == arrowStruct && f.index == nil && len(f.children) > 0 {
		structs = append(structs[:len(structs):len(structs)], f)
		for _, c := range f.children {
			s.addColumns(c, name+"."+c.name, structs)
		}
		return
	}
	c := column{Leaf: format.Leaf{Name: name, Nulls: -1}, structs: structs, own: f}
	if len(structs) > 0 {
		for _, outer := range structs {
			c.Path = append(c.Path, outer.name)
		}
		c.Path = append(c.Path, f.name)
	}
	value := f
	switch f.kind {
	case arrowList, arrowLargeList, arrowFixedList:
		if f.index == nil {
			c.list, value = f, f.children[0]
		}
	case arrowListView, arrowLargeListView:
		c.Why = "list view; rewrite it as an ordinary list"
		c.Refused = f.index == nil && value.children[0].plainNumber()
		c.Type = "list view"
	}
	if c.Why == "" {
		c.Type, c.Why, c.Refused = value.describe(c.list != nil)
	}
	if c.Why == "" {
		c.value, c.Width = value, 1
		n := value.number() // a decimal beyond float64 becomes ±Inf
		c.MaybeNaN = n.kind == arrowFloat || n.kind == arrowDecimal && n.precision-n.scale > 308
	} else {
		c.list = nil
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
	if c.NoClass = f.asClass(); c.NoClass == "" {
		c.text = f
	}
	if f.kind == arrowMap {
		s.maps[len(s.columns)] = f
	}
	if f.kind == arrowTimestamp || f.kind == arrowTime {
		c.PerSecond, c.UTC = f.perSecond, f.utc
	}
	s.columns = append(s.columns, c)
}

// addEntries adds the keys and values of maps as lists, behind the leaves.
func (s *schema) addEntries() {
	s.visible = len(s.columns)
	for i := range s.visible {
		c, f := &s.columns[i], s.maps[i]
		if f == nil {
			continue
		}
		if c.NoEntries = f.noEntries(); c.NoEntries != "" {
			continue
		}
		pair := f.children[0].children
		c.Entries, _, _ = pair[1].describe(true)
		c.entries = &[2]int{len(s.columns), len(s.columns) + 1}
		name, structs := c.Name, c.structs
		for _, side := range pair {
			s.columns = append(s.columns, column{
				Leaf:    format.Leaf{Name: name, List: true, Why: format.WhyVarying, NoClass: "a map", Nulls: -1},
				structs: structs, list: f, value: side,
			})
		}
	}
}

// noEntries says why a map cannot be sparse rows; empty where it can.
func (f *field) noEntries() string {
	pair := f.children[0]
	if f.index != nil || pair.kind != arrowStruct || pair.index != nil || len(pair.children) != 2 {
		return "a malformed map, or one in a dictionary"
	}
	var types [2]string
	var whys string
	for i, side := range pair.children {
		typ, why, refused := side.describe(true)
		if refused {
			return why
		}
		types[i] = typ
		whys += why
	}
	return format.NotEntries(types[0], types[1], whys)
}

// number is the field whose array holds the numbers of f: f itself, or the values of
// a run-end encoded one.
func (f *field) number() *field {
	if f.kind == arrowRunEnd && f.index == nil {
		return f.children[1]
	}
	return f
}

// plainNumber reports whether f holds numbers, dictionary-encoded or not, but no runs.
func (f *field) plainNumber() bool {
	switch f.kind {
	case arrowBool, arrowInt, arrowFloat, arrowDecimal:
		return true
	}
	return false
}

// describe names the type of a value and says why it cannot be a feature, or refused
// where it could be one if it were written otherwise. Extension types need no care:
// the schema gives their storage.
func (f *field) describe(inList bool) (typ, why string, refused bool) {
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
		typ, why, refused = f.children[1].describe(inList)
		runs := f.children[0]
		if why == "" && (inList || f.index != nil || !f.children[1].plainNumber() || runs.kind != arrowInt || runs.index != nil) {
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

// arrays lists the arrays that a row of the column is read from, outermost first.
func (c *column) arrays() []*field {
	list := append([]*field(nil), c.structs...)
	if c.list != nil {
		list = append(list, c.list)
	}
	if c.value != nil {
		list = append(list, c.value)
		if c.value.kind == arrowRunEnd {
			list = append(list, c.value.children...)
		}
	}
	return list
}

// largestBatch stands for the batches of a stream. Only their codec is known beforehand,
// and that arrays are read in tiles and windows.
func (s *schema) largestBatch(codec int) *batch {
	b := &batch{codec: codec, nodes: make([]node, s.nodes)}
	for i := range b.nodes {
		b.nodes[i].length = maxLength
	}
	return b
}

// addNulls counts what a batch promises about the column's nulls: exact for scalars, and for whole values of
// other types, whose structs are never null, 0 where nothing is null, else unknown.
func (c *column) addNulls(b *batch, dicts map[int64]*numberDictionary, texts map[int64]*textDictionary) {
	if c.Nulls < 0 {
		return
	}
	arrays, scalar := c.arrays(), c.value
	if c.value == nil {
		arrays, scalar = c.wholeArrays(), c.own
		if c.own.kind == arrowUnion || c.own.index != nil && texts[c.own.dict].mayHaveNulls() {
			c.Nulls = -1 // a union's are its children's, value by value
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

// wholeArrays lists the arrays that say whether a value that is no number is null, outermost first.
func (c *column) wholeArrays() []*field {
	list := append(append([]*field(nil), c.structs...), c.own)
	if c.own.kind == arrowRunEnd && c.own.index == nil {
		list = append(list, c.own.children...)
	}
	return list
}

func (s *schema) leaves() []format.Leaf {
	list := make([]format.Leaf, s.visible)
	for i, c := range s.columns[:s.visible] {
		list[i] = c.Leaf
		if c.entries != nil {
			key, value := s.columns[c.entries[0]], s.columns[c.entries[1]]
			list[i].Scratch, list[i].Packed = max(key.Scratch, value.Scratch), key.Packed+value.Packed
		}
	}
	return list
}

// widthUnknown marks a list column before its first row has been seen.
const widthUnknown = -1

// findWidths takes the length of the lists from a batch, for list columns whose length no
// earlier batch told; later batches must have it too, which decoding checks. Of the others it looks at this
// batch's lists as well with again, and where the number of their elements tells that lengths differ.
func (s *schema) findWidths(ctx context.Context, g *group, again bool) error {
	for l := range s.columns {
		c := &s.columns[l]
		known := c.Width != widthUnknown
		if !c.List || known && (c.Width == 0 || c.list.kind == arrowFixedList || !again && !c.miscounts(&g.batch)) {
			continue
		}
		width, err := g.listWidth(ctx, c)
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

// miscounts reports whether a batch has more or fewer elements than lists of the column's length, which
// is known, have in its rows.
func (c *column) miscounts(b *batch) bool {
	nulls := int64(0)
	for _, f := range append(slices.Clone(c.structs), c.list) {
		if b.nodes[f.node].nulls == unknownNulls {
			return false
		}
		nulls += b.nodes[f.node].nulls
	}
	n, width := b.nodes[c.list.children[0].node].length, int64(c.Width)
	return (n+width-1)/width > b.rows || n/width < b.rows-nulls
}

// seeksWidths reports whether a list column's length is still to be found.
func (s *schema) seeksWidths() bool {
	for _, c := range s.columns {
		if c.List && c.Width == widthUnknown {
			return true
		}
	}
	return false
}

// settleWidths says why lists without one length are no features.
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
