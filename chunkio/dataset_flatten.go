package chunkio

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/stream"
)

// entry is one flattened column of the catalog. It is small because lists can have millions of elements.
type entry struct {
	*origin
	flat    string
	element int // index of the element of a list, or of the derived feature; else 0
	subject int // for an indicator: 1 + the index of the entry whose missing values it marks; for other entries 0
}

// origin contains the properties that are common to all entries made from one leaf or partition column: the elements of
// a list, or derived features.
type origin struct {
	leaf, part     int    // dataset leaf; if it is -1, part is the partition column
	list           string // the name that means all entries together; empty for a column without elements
	typ            string
	nulls          int64
	why            string      // the reason that the entries cannot be features, even if the options do not leave them out
	isRefused      bool        // the entries would be features, but cannot be decoded; why is the reason
	derivation     *derivation // how the entries are derived from the leaf's texts; nil if they are not
	width          int         // number of derived entries
	index          bool        // whether the leaf is the index of a data frame
	block          string      // stream.Column.Block of derived entries: the name of their column
	columnPosition stream.Position
}

// position returns the position of an entry in the input. A derived feature has the position of its column.
func (e *entry) position() stream.Position {
	i, known := e.columnPosition.Index()
	if !known || e.list == "" || e.derivation != nil {
		return e.columnPosition
	}
	return stream.PositionAt(i + e.element)
}

func (e *entry) name() columnName {
	n := columnName{flat: e.flat, list: e.list}
	if e.subject > 0 {
		n.subject = featureOfIndicator(e.flat)
	}
	return n
}

func describeFields(c *catalog, opt Options, sparse *sparseSpec) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		entries, err := flattenColumns(c, opt, sparse)
		if err != nil {
			return // unreachable: resolveFeatures has succeeded with these arguments
		}
		why, err := leftOutReasons(entries, opt, sparse)
		if err != nil {
			return
		}
		for i, e := range entries {
			w := cmp.Or(why[i], e.why, c.constantReason(&e))
			if !yield(Field{Name: e.flat, Type: e.typ, Nulls: e.nulls, Used: w == "", Why: w}) {
				return
			}
		}
	}
}

// flattenColumns lists the flattened columns of the catalog, and refuses names that clash.
func flattenColumns(c *catalog, opt Options, sparse *sparseSpec) ([]entry, error) {
	entries := make([]entry, 0, countEntries(c, opt, sparse))
	origins := make([]origin, len(c.leaves)+len(c.parts))
	places := make([]int, len(c.parts)) // position of each partition key among the columns
	at := 0
	for i, l := range c.leaves {
		for k, p := range c.parts {
			if p.leafAfter == i+1 {
				places[k] = at
				at++
			}
		}
		origins[i] = origin{leaf: i, part: -1, typ: l.Type, nulls: l.Nulls, why: l.Why, isRefused: l.Refused, index: l.Index, columnPosition: leafPosition(i, at+l.Before, sparse)}
		at += countLeafPositions(c, i, sparse)
		if opt.Indicators && len(intake.NumbersAmong(opt.Texts.Nulls)) > 0 {
			origins[i].nulls = -1 // the metadata does not count numbers that mean a missing value
		}
		e := entry{origin: &origins[i], flat: l.Name}
		if sparse != nil && i == sparse.values {
			e.why, e.isRefused = "", l.Refused
			if sparse.features == 0 {
				e.why = "no row has an entry"
			}
		}
		if haveSharedName(l) {
			entries = append(entries, e)
			continue
		}
		if k, ok := slices.BinarySearchFunc(opt.Categories, l.Name, func(c Category, name string) int { return strings.Compare(c.Column, name) }); ok {
			origins[i].index = false // a column in Options.Categories is wanted even if it is the index
			entries = addCategoryEntries(entries, e, &opt.Categories[k])
			continue
		}
		if parts := timeParts(l, opt); parts != nil {
			entries = addTimeEntries(entries, e, parts)
			continue
		}
		width := countElements(c, i, sparse)
		if width == 0 {
			entries = append(entries, e)
			continue
		}
		e.list = l.Name
		if e.nulls > 0 {
			e.nulls = -1 // the metadata counts only the nulls of the whole list
		}
		names := elementNames(l.Name, width)
		if sparse != nil && i == sparse.values && sparse.mapKeys != nil {
			names = sparse.mapKeys.featureNames(l.Name)
		}
		for k, name := range names {
			e.flat, e.element = name, k
			entries = append(entries, e)
		}
	}
	for i, p := range c.parts {
		if p.leafAfter == 0 {
			places[i] = at
			at++
		}
		o := &origins[len(c.leaves)+i]
		*o = origin{leaf: -1, part: i, typ: "partition key", nulls: -1, why: p.why, columnPosition: leafPosition(-1, places[i], sparse)}
		entries = append(entries, entry{origin: o, flat: p.key})
	}
	if opt.Indicators {
		entries = addIndicators(entries, opt)
	}
	// Two elements cannot have the same name, because the names of their lists differ.
	seen := make(map[string]int, len(c.leaves)+len(c.parts))
	for i, e := range entries {
		if e.list != "" {
			continue
		}
		if other, ok := seen[e.flat]; ok && (e.why != SharedName || entries[other].why != SharedName) {
			return nil, errNameClash(c, e)
		}
		seen[e.flat] = i
	}
	for i, e := range entries {
		if e.list == "" {
			continue
		}
		if other, ok := seen[e.flat]; ok {
			return nil, errNameClash(c, entries[max(i, other)])
		}
	}
	return entries, nil
}

func leafPosition(leaf, before int, sparse *sparseSpec) stream.Position {
	switch {
	case sparse == nil:
		return stream.PositionAt(before)
	case leaf == sparse.values:
		return stream.PositionAt(0)
	}
	return stream.Position{}
}

func countPositions(c *catalog, sparse *sparseSpec) int {
	if sparse != nil {
		return sparse.features
	}
	n := len(c.parts)
	for i := range c.leaves {
		n += countLeafPositions(c, i, nil)
	}
	return n
}

func countLeafPositions(c *catalog, leaf int, sparse *sparseSpec) int {
	l := &c.leaves[leaf]
	return l.Before + max(countElements(c, leaf, sparse), 1) + l.After
}

func countElements(c *catalog, leaf int, sparse *sparseSpec) int {
	switch l := c.leaves[leaf]; {
	case sparse != nil && leaf == sparse.values:
		return sparse.features
	case l.List && l.Why == "":
		return l.Width
	}
	return 0
}

func countEntries(c *catalog, opt Options, sparse *sparseSpec) int {
	n := len(c.leaves) + len(c.parts)
	for i := range c.leaves {
		n += max(countElements(c, i, sparse)-1, 0)
	}
	return n + countDerivedFeatures(c, opt, n)
}

// elementNames yields list[0], list[1], … as substrings of one string: separate strings would take more memory.
func elementNames(list string, width int) iter.Seq2[int, string] {
	var all strings.Builder
	all.Grow(width * (len(list) + 2 + len(strconv.Itoa(width))))
	var digits [20]byte
	for k := range width {
		all.WriteString(list)
		all.WriteByte('[')
		all.Write(strconv.AppendInt(digits[:0], int64(k), 10))
		all.WriteByte(']')
	}
	return func(yield func(int, string) bool) {
		names := all.String()
		for k := range width {
			end := len(list) + strings.IndexByte(names[len(list):], ']') + 1
			if !yield(k, names[:end]) {
				return
			}
			names = names[end:]
		}
	}
}

func errNameClash(c *catalog, e entry) error {
	err := stream.Dataf(c.inputName(), "two columns have this name once struct fields and lists are flattened")
	if e.leaf < 0 {
		err = stream.Dataf(c.inputName(), "the partition key in the path is also a column of the file")
	}
	err.Column, err.Remedy = e.flat, stream.PlainText("rename one of them")
	return err
}

// numberRange contains bounds of the numbers of a leaf except NaN, from the statistics of row groups.
type numberRange struct {
	low, high             float64
	hasBounds, hasUnknown bool // at least one row group has known bounds; at least one has unknown bounds
}

func (b *catalogBuilder) addNumberRanges(opened format.File, f *file) {
	if f.countRows() == 0 {
		return
	}
	if b.rows == 0 { // the columns of files without rows do not count
		b.catalog.spreads = nil
	}
	bounded, ok := opened.(format.Bounded)
	for at := range b.leaves {
		if at == len(b.catalog.spreads) {
			b.catalog.spreads = append(b.catalog.spreads, numberRange{})
		}
		s, here := &b.catalog.spreads[at], f.leafIndex(at)
		for g, rows := range f.groups {
			if here < 0 || rows == 0 || s.hasUnknown {
				continue
			}
			if !ok || !leafKind(b.leaves[at]).IsNumeric() && b.leaves[at].Type != "bool" {
				s.hasUnknown = true
				continue
			}
			s.addBounds(bounded.Bounds(g, here))
		}
	}
}

func (s *numberRange) addBounds(b format.Bounds) {
	switch {
	case b.Nulls == b.Rows:
	case !b.Min.Known || !b.Max.Known || math.IsInf(b.Min.Number, 0) || math.IsInf(b.Max.Number, 0):
		s.hasUnknown = true
	case !s.hasBounds:
		s.low, s.high, s.hasBounds = b.Min.Number, b.Max.Number, true
	default:
		s.low, s.high = min(s.low, b.Min.Number), max(s.high, b.Max.Number)
	}
}

// constantReason returns the reason, in the words of the command scan, that a column outside lists has no value or a
// single value according to the footers, or "" if they do not show this.
func (c *catalog) constantReason(e *entry) string {
	if e.leaf < 0 || e.list != "" || e.derivation != nil || e.subject > 0 || e.leaf >= len(c.spreads) || c.rows == 0 {
		return ""
	}
	l, s := &c.leaves[e.leaf], c.spreads[e.leaf]
	missing, within := "", "in every row"
	if l.Nulls > 0 {
		missing = fmt.Sprintf(" (%d null)", l.Nulls)
	}
	if l.Nulls != 0 || l.MaybeNaN {
		within = "wherever observed"
	}
	switch {
	case l.Nulls == c.rows:
		return "no value observed" + missing
	case s.hasBounds && !s.hasUnknown && s.low == s.high:
		return fmt.Sprintf("constant (%s %s)%s", strconv.FormatFloat(s.low+0, 'g', -1, 64), within, missing)
	}
	return ""
}
