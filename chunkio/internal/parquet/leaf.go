package parquet

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// column is a physical column of a Parquet file: the layout of its pages and the meaning of its values.
type column struct {
	index        int // index among the physical columns
	desc         *schema.Column
	physical     parquet.Type
	size         int   // bytes of one plain value; 0 for byte arrays and booleans
	def, rep     uint8 // largest definition and repetition level
	elementLevel uint8 // for lists: the smallest definition level of an existing element
	kind         numberKind
	scale        int  // scale of decimals
	showsTimes   bool // the values are dates, and are shown as times

	texts            *text.List // receives values as text; nil if the values are decoded to numbers
	independentPages bool       // each page can be decoded without the previous page: see hasChainedPages
}

func newColumn(s *schema.Schema, physicalIndex int) column {
	d := s.Column(physicalIndex)
	c := column{index: physicalIndex, desc: d, physical: d.PhysicalType(), def: uint8(d.MaxDefinitionLevel()), rep: uint8(d.MaxRepetitionLevel())}
	switch c.physical {
	case parquet.Types.Int32, parquet.Types.Float:
		c.size = 4
	case parquet.Types.Int64, parquet.Types.Double:
		c.size = 8
	case parquet.Types.Int96:
		c.size = 12
	case parquet.Types.FixedLenByteArray:
		c.size = d.TypeLength()
	}
	return c
}

func (c *column) canDecodeEncoding(e parquet.Encoding) bool {
	switch e {
	case parquet.Encodings.Plain:
		return true
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		return c.physical != parquet.Types.Boolean
	case parquet.Encodings.RLE:
		return c.physical == parquet.Types.Boolean
	case parquet.Encodings.DeltaBinaryPacked:
		return c.physical == parquet.Types.Int32 || c.physical == parquet.Types.Int64
	case parquet.Encodings.DeltaLengthByteArray:
		return c.physical == parquet.Types.ByteArray
	case parquet.Encodings.DeltaByteArray:
		return c.physical == parquet.Types.ByteArray || c.physical == parquet.Types.FixedLenByteArray && c.size > 0
	case byteStreamSplit:
		return supportsByteStreamSplit(c)
	}
	return false
}

// undecodableEncoding returns the name of an encoding of the set that cannot be decoded, or "". It ignores RLE and
// BitPacked, because the set in a footer also contains the encodings of levels.
func (c *column) undecodableEncoding(s footer.EncodingSet) string {
	for left := s; left != 0; left &= left - 1 {
		e := parquet.Encoding(bits.TrailingZeros64(uint64(left)))
		if !c.canDecodeEncoding(e) && e != parquet.Encodings.RLE && e != parquet.Encodings.BitPacked {
			return encodingName(e)
		}
	}
	return ""
}

// hasChainedPages reports whether pages can only be decoded in order: arrow v15 writes DELTA_BYTE_ARRAY pages whose
// first value shares a prefix with the last value of the previous page, and its decoder expects this.
func (c *column) hasChainedPages() bool {
	return c.physical == parquet.Types.ByteArray && !c.independentPages
}

func encodingName(e parquet.Encoding) string {
	if s := e.String(); s != "<UNSET>" {
		return s
	}
	return fmt.Sprintf("number %d", int(e))
}

// flattener turns a schema into leaves, in schema order. leaves and columns have the same indices. For a leaf that is
// left out as a whole (a map, a list of lists), the element of columns is the first physical column of the leaf.
type flattener struct {
	schema     *schema.Schema
	strange    map[schema.Node]*footer.StrangeType
	nextColumn int      // index of the next physical column
	path       []string // path of the field being visited
	leaves     []format.Leaf
	columns    []column
	entries    map[int]*flattener // by leaf of a map from integers to numbers: its keys and values as lists
}

// flattenSchema lists the leaves of a file. It does not yet set the fields that depend on the column chunks (width of
// lists, nulls, scratch).
func flattenSchema(foot *footer.Metadata) *flattener {
	f := &flattener{schema: foot.Schema, strange: foot.Strange, entries: map[int]*flattener{}}
	root := foot.Schema.Root()
	for i := range root.NumFields() {
		f.path = []string{root.Field(i).Name()}
		f.visitNode(root.Field(i), root.Field(i).Name())
	}
	return f
}

func (f *flattener) visitNode(node schema.Node, name string) {
	repeated := node.RepetitionType() == parquet.Repetitions.Repeated
	p, primitive := node.(*schema.PrimitiveNode)
	switch {
	case primitive && repeated: // a repeated field without an enclosing LIST group
		f.addListLeaf(p, name)
	case primitive:
		f.addScalarLeaf(p, name)
	case f.strange[node] != nil:
		f.leaveOutNode(node, name, f.strange[node].Typ, f.strange[node].Why)
	case repeated:
		f.leaveOutNode(node, name, "list<struct>", "lists of structs")
	case hasMapAnnotation(node):
		f.visitMap(node, name)
	case hasListAnnotation(node):
		f.visitList(node.(*schema.GroupNode), name)
	default:
		g := node.(*schema.GroupNode)
		path := f.path
		for i := range g.NumFields() {
			f.path = slices.Concat(path, []string{g.Field(i).Name()})
			f.visitNode(g.Field(i), name+"."+g.Field(i).Name())
		}
		f.path = path
	}
}

// visitList visits a group with the annotation LIST: three levels as the format defines, or two levels from old
// writers. The rules of the format distinguish them.
func (f *flattener) visitList(g *schema.GroupNode, name string) {
	if g.NumFields() != 1 || g.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
		f.leaveOutNode(g, name, "list", "malformed lists")
		return
	}
	switch r := g.Field(0).(type) {
	case *schema.PrimitiveNode:
		f.addListLeaf(r, name)
	case *schema.GroupNode:
		if r.NumFields() != 1 || r.Name() == "array" || r.Name() == g.Name()+"_tuple" {
			f.leaveOutNode(g, name, "list<struct>", "lists of structs")
			return
		}
		switch e := r.Field(0).(type) {
		case *schema.PrimitiveNode:
			if e.RepetitionType() == parquet.Repetitions.Repeated {
				f.leaveOutNode(g, name, "list<list>", "lists of lists")
				return
			}
			f.addListLeaf(e, name)
		default:
			switch {
			case f.strange[e] != nil:
				f.leaveOutNode(g, name, "list<"+f.strange[e].Typ+">", "lists of "+f.strange[e].Typ)
			case hasMapAnnotation(e):
				f.leaveOutNode(g, name, "list<map>", "lists of maps")
			case hasListAnnotation(e), e.RepetitionType() == parquet.Repetitions.Repeated:
				f.leaveOutNode(g, name, "list<list>", "lists of lists")
			default:
				f.leaveOutNode(g, name, "list<struct>", "lists of structs")
			}
		}
	}
}

// visitMap leaves out a map as a feature, but records its keys and values if the map can be read as sparse rows.
func (f *flattener) visitMap(n schema.Node, name string) {
	inner := &flattener{schema: f.schema, strange: f.strange, nextColumn: f.nextColumn}
	f.leaveOutNode(n, name, "map", "maps")
	if inner.nextColumn == f.nextColumn {
		return
	}
	l := &f.leaves[len(f.leaves)-1]
	l.NoEntries = "a malformed map, or one of nested keys or values"
	g, ok := n.(*schema.GroupNode)
	if !ok || g.NumFields() != 1 {
		return
	}
	pair, ok := g.Field(0).(*schema.GroupNode)
	if !ok || pair.RepetitionType() != parquet.Repetitions.Repeated || pair.NumFields() != 2 {
		return
	}
	var types, reasons [2]string
	for i := range types {
		p, ok := pair.Field(i).(*schema.PrimitiveNode)
		if !ok || p.RepetitionType() == parquet.Repetitions.Repeated {
			return
		}
		inner.addListLeaf(p, name)
		types[i], reasons[i] = elementTypeOfList(inner.leaves[i]), inner.leaves[i].Why
	}
	keys := types[0]
	if l.TextKeys = keys == "string"; l.TextKeys {
		keys, reasons[0] = "int64", ""
	}
	if l.NoEntries = format.WhyNoEntries(keys, types[1], reasons[0]+reasons[1]); l.NoEntries != "" {
		l.NoEntries, l.TextKeys = format.WhyNoEntries(types[0], types[1], reasons[0]+reasons[1]), false
	} else {
		l.Entries = types[1]
		f.entries[len(f.leaves)-1] = inner
	}
}

func elementTypeOfList(l format.Leaf) string {
	return strings.TrimSuffix(strings.TrimPrefix(l.Type, "list<"), ">")
}

func (f *flattener) addScalarLeaf(p *schema.PrimitiveNode, name string) {
	c := newColumn(f.schema, f.nextColumn)
	l := format.Leaf{Name: name, Width: 1, Nulls: -1}
	c.kind, c.scale, l.Type, l.Why = numericType(p)
	if strange := f.strange[p]; strange != nil {
		c.kind, l.Type, l.Why = notNumber, strange.Typ, strange.Why
	}
	if l.Why != "" {
		l.Width = 0
	}
	l.NoClass = whyNoClass(p, l.Why)
	if f.strange[p] != nil {
		l.NoClass = l.Why
	}
	switch t := p.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		l.PerSecond, l.UTC = unitsPerSecond(t.TimeUnit()), t.IsAdjustedToUTC()
	case *schema.TimeLogicalType:
		l.PerSecond = unitsPerSecond(t.TimeUnit())
	}
	l.MaybeNaN = c.kind == asHalf || c.kind == asFloat || c.kind == asDouble
	f.addLeafWithColumn(l, c)
}

// addListLeaf adds a list of the primitive node e, which is itself repeated or is the only field of a repeated group.
func (f *flattener) addListLeaf(e *schema.PrimitiveNode, name string) {
	f.addScalarLeaf(e, name)
	l, c := &f.leaves[len(f.leaves)-1], &f.columns[len(f.columns)-1]
	l.List, l.Width, l.Type = true, 0, "list<"+l.Type+">"
	if l.Why != "" {
		l.Why = "lists of " + elementTypeOfList(*l)
	}
	l.NoClass = "a list"
	c.elementLevel = c.def
	if e.RepetitionType() == parquet.Repetitions.Optional {
		c.elementLevel--
	}
}

func (f *flattener) leaveOutNode(n schema.Node, name, typ, reason string) {
	first := f.nextColumn
	f.nextColumn += countPrimitives(n)
	if first < f.nextColumn {
		f.appendLeafWithPath(format.Leaf{Name: name, Type: typ, Why: reason, NoClass: reason, List: strings.HasPrefix(typ, "list"), Nulls: -1}, newColumn(f.schema, first))
	}
}

func (f *flattener) addLeafWithColumn(l format.Leaf, c column) {
	f.nextColumn++
	f.appendLeafWithPath(l, c)
}

func (f *flattener) appendLeafWithPath(l format.Leaf, c column) {
	if len(f.path) > 1 {
		l.Path = f.path
	}
	f.leaves, f.columns = append(f.leaves, l), append(f.columns, c)
}

func countPrimitives(n schema.Node) int {
	g, ok := n.(*schema.GroupNode)
	if !ok {
		return 1
	}
	count := 0
	for i := range g.NumFields() {
		count += countPrimitives(g.Field(i))
	}
	return count
}

func hasListAnnotation(n schema.Node) bool {
	_, ok := n.LogicalType().(schema.ListLogicalType)
	return ok
}

func hasMapAnnotation(n schema.Node) bool {
	_, ok := n.LogicalType().(schema.MapLogicalType)
	return ok
}
