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

// entry is one flattened column of the catalog. It is small, as lists have millions of them.
type entry struct {
	*origin
	flat    string
	element int
	missing int // 1 + the entry of which it says whether it is missing; 0 for others
}

// origin is the leaf or partition column that entries are elements of, or are made of, with what becomes of them.
type origin struct {
	leaf, part int
	list       string // the name that means all of them; empty for a column by itself
	typ        string
	nulls      int64
	why        string // why they can be no features, unless the options leave them out
	refused    bool   // they would be features, but why says that they cannot be decoded
	made       *made  // how they are made of the leaf's texts; nil for others
	width      int    // then: how many are
	index      bool   // the leaf is the index of a data frame
	block      string // the leaf that they are made of, together with others: stream.Column.Block
	at         stream.Position
}

// position is the place of an entry in the input. A feature made of a column has the column's position.
func (e *entry) position() stream.Position {
	i, known := e.at.Index()
	if !known || e.list == "" || e.made != nil {
		return e.at
	}
	return stream.PositionAt(i + e.element)
}

// name is what patterns are matched against.
func (e *entry) name() columnName {
	n := columnName{flat: e.flat, list: e.list}
	if e.missing > 0 {
		n.of = indicated(e.flat)
	}
	return n
}

// describe yields every column for inspect.
func describe(c *catalog, opt Options, sparse *sparseSpec) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		entries, err := flatten(c, opt, sparse)
		if err != nil {
			return // resolve has succeeded with these arguments
		}
		why, err := reasons(entries, opt, sparse)
		if err != nil {
			return
		}
		for i, e := range entries {
			w := cmp.Or(why[i], e.why, c.noSpread(&e))
			if !yield(Field{Name: e.flat, Type: e.typ, Nulls: e.nulls, Used: w == "", Why: w}) {
				return
			}
		}
	}
}

// flatten lists the columns by the names users know them by, and refuses names that clash.
func flatten(c *catalog, opt Options, sparse *sparseSpec) ([]entry, error) {
	entries := make([]entry, 0, countEntries(c, opt, sparse))
	origins := make([]origin, len(c.leaves)+len(c.parts))
	places := make([]int, len(c.parts)) // positions of keys
	at := 0
	for i, l := range c.leaves {
		for k, p := range c.parts {
			if p.before == i+1 {
				places[k] = at
				at++
			}
		}
		origins[i] = origin{leaf: i, part: -1, typ: l.Type, nulls: l.Nulls, why: l.Why, refused: l.Refused, index: l.Index, at: positionOf(i, at+l.Before, sparse)}
		at += columnsWith(c, i, sparse)
		if opt.Indicators && len(intake.NumbersAmong(opt.Texts.Nulls)) > 0 {
			origins[i].nulls = -1 // the metadata does not count those
		}
		e := entry{origin: &origins[i], flat: l.Name}
		if sparse != nil && i == sparse.values {
			e.why, e.refused = "", l.Refused
			if sparse.features == 0 {
				e.why = "no row has an entry"
			}
		}
		if sharesName(l) {
			entries = append(entries, e)
			continue
		}
		if k, ok := slices.BinarySearchFunc(opt.Categories, l.Name, func(c Category, name string) int { return strings.Compare(c.Column, name) }); ok {
			origins[i].index = false // it was named
			entries = addCategories(entries, e, &opt.Categories[k])
			continue
		}
		if parts := timeParts(l, opt); parts != nil {
			entries = addParts(entries, e, parts)
			continue
		}
		width := elements(c, i, sparse)
		if width == 0 {
			entries = append(entries, e)
			continue
		}
		e.list = l.Name
		if e.nulls > 0 {
			e.nulls = -1 // the metadata counts the whole list's
		}
		names := elementNames(l.Name, width)
		if sparse != nil && i == sparse.values && sparse.keys != nil {
			names = sparse.keys.columns(l.Name)
		}
		for k, name := range names {
			e.flat, e.element = name, k
			entries = append(entries, e)
		}
	}
	for i, p := range c.parts {
		if p.before == 0 {
			places[i] = at
			at++
		}
		of := &origins[len(c.leaves)+i]
		*of = origin{leaf: -1, part: i, typ: "partition key", nulls: -1, why: p.why, at: positionOf(-1, places[i], sparse)}
		entries = append(entries, entry{origin: of, flat: p.key})
	}
	if opt.Indicators {
		entries = addIndicators(entries, opt)
	}
	// Names of elements differ where those of their lists do.
	seen := make(map[string]int, len(c.leaves)+len(c.parts))
	for i, e := range entries {
		if e.list != "" {
			continue
		}
		if other, ok := seen[e.flat]; ok && (e.why != SharedName || entries[other].why != SharedName) {
			return nil, clash(c, e)
		}
		seen[e.flat] = i
	}
	for i, e := range entries {
		if e.list == "" {
			continue
		}
		if other, ok := seen[e.flat]; ok {
			return nil, clash(c, entries[max(i, other)])
		}
	}
	return entries, nil
}

// positionOf is the position of a leaf that so many columns stand before. Features of sparse rows are counted by themselves.
func positionOf(leaf, before int, sparse *sparseSpec) stream.Position {
	switch {
	case sparse == nil:
		return stream.PositionAt(before)
	case leaf == sparse.values:
		return stream.PositionAt(0)
	}
	return stream.Position{}
}

// countPositions is the number of positions that an input has.
func countPositions(c *catalog, sparse *sparseSpec) int {
	if sparse != nil {
		return sparse.features
	}
	n := len(c.parts)
	for i := range c.leaves {
		n += columnsWith(c, i, nil)
	}
	return n
}

// columnsWith is the number of positions that a leaf takes, with the columns before and after it that are no leaves.
func columnsWith(c *catalog, leaf int, sparse *sparseSpec) int {
	l := &c.leaves[leaf]
	return l.Before + max(elements(c, leaf, sparse), 1) + l.After
}

// elements is the number of features in the lists of a leaf; 0 where the leaf is one column.
func elements(c *catalog, leaf int, sparse *sparseSpec) int {
	switch l := c.leaves[leaf]; {
	case sparse != nil && leaf == sparse.values:
		return sparse.features
	case l.List && l.Why == "":
		return l.Width
	}
	return 0
}

// countEntries is the number of columns once lists are flattened.
func countEntries(c *catalog, opt Options, sparse *sparseSpec) int {
	n := len(c.leaves) + len(c.parts)
	for i := range c.leaves {
		n += max(elements(c, i, sparse)-1, 0)
	}
	return n + countMade(c, opt, n)
}

// elementNames yields list[0], list[1], …, all cut from one string.
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

func clash(c *catalog, e entry) error {
	err := stream.Dataf(c.name(), "two columns have this name once struct fields and lists are flattened")
	if e.leaf < 0 {
		err = stream.Dataf(c.name(), "the partition key in the path is also a column of the file")
	}
	err.Column, err.Remedy = e.flat, stream.PlainText("rename one of them")
	return err
}

// extremes are bounds of the numbers of a leaf, from the statistics of row groups: all that are neither null nor NaN lie
// between its ends.
type extremes struct {
	low, high      float64
	known, unknown bool // some ends are known; the ends of a group are not
}

// addSpreads adds the statistics of a further file.
func (b *catalogBuilder) addSpreads(opened format.File, f *file) {
	if f.rows() == 0 {
		return
	}
	if b.rows == 0 { // the columns of files without rows do not count
		b.catalog.spreads = nil
	}
	known, ok := opened.(format.Bounded)
	for at := range b.leaves {
		if at == len(b.catalog.spreads) {
			b.catalog.spreads = append(b.catalog.spreads, extremes{})
		}
		s, here := &b.catalog.spreads[at], f.at(at)
		for g, rows := range f.groups {
			if here < 0 || rows == 0 || s.unknown {
				continue
			}
			if !ok || !kindOf(b.leaves[at]).Numeric() && b.leaves[at].Type != "bool" {
				s.unknown = true
				continue
			}
			s.addBounds(known.Bounds(g, here))
		}
	}
}

// addBounds adds the bounds that a row group promises. Infinities count as missing.
func (s *extremes) addBounds(b format.Bounds) {
	switch {
	case b.Nulls == b.Rows:
	case !b.Min.Known || !b.Max.Known || math.IsInf(b.Min.Number, 0) || math.IsInf(b.Max.Number, 0):
		s.unknown = true
	case !s.known:
		s.low, s.high, s.known = b.Min.Number, b.Max.Number, true
	default:
		s.low, s.high = min(s.low, b.Min.Number), max(s.high, b.Max.Number)
	}
}

// noSpread says of a column by itself that it has no value, or one, as the footers tell, in the words of a scan; ""
// where they do not.
func (c *catalog) noSpread(e *entry) string {
	if e.leaf < 0 || e.list != "" || e.made != nil || e.missing > 0 || e.leaf >= len(c.spreads) || c.rows == 0 {
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
	case s.known && !s.unknown && s.low == s.high:
		return fmt.Sprintf("constant (%s %s)%s", strconv.FormatFloat(s.low+0, 'g', -1, 64), within, missing)
	}
	return ""
}
