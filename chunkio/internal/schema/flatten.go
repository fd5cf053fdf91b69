package schema

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Entry is a column, an element of a list or a derived feature. It is small: lists may have millions of elements.
type Entry struct {
	*Origin
	Flat    string
	Element int // index of the element of a list, or of the derived feature; else 0
	Subject int // for an indicator: 1 + the index of the entry whose missing values it marks; for other entries 0
}

// Origin contains the properties that are common to all entries made from one leaf or partition column: the elements of
// a list, or derived features.
type Origin struct {
	Leaf, Part     int    // dataset leaf; if it is -1, part is the partition column
	List           string // the name that means all entries together; empty for a column without elements
	Typ            string
	nulls          int64
	Why            string      // the reason that the entries cannot be features, even if the options do not leave them out
	IsRefused      bool        // the entries would be features, but cannot be decoded; why is the reason
	derivation     *derivation // how the entries are derived from the leaf's texts; nil if they are not
	width          int         // number of derived entries
	index          bool        // whether the leaf is the index of a data frame
	Block          string      // stream.Column.Block of derived entries: the name of their column
	columnPosition stream.Position
}

// position returns the position of an entry in the input. A derived feature has the position of its column.
func (e *Entry) position() stream.Position {
	i, known := e.columnPosition.Index()
	if !known || e.List == "" || e.derivation != nil {
		return e.columnPosition
	}
	return stream.PositionAt(i + e.Element)
}

func (e *Entry) name() naming.ColumnName {
	n := naming.ColumnName{Flat: e.Flat, List: e.List}
	if e.Subject > 0 {
		n.Subject = naming.FeatureOfIndicator(e.Flat)
	}
	return n
}

// DescribeFields yields a description of every flattened column, feature or not.
func DescribeFields(c *catalog.Catalog, opt settings.Options, sparse *Sparse) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		entries, err := FlattenColumns(c, opt, sparse)
		if err != nil {
			return // unreachable: ResolveFeatures has succeeded with these arguments
		}
		why, _, err := leftOutReasons(entries, opt, sparse)
		if err != nil {
			return
		}
		for i := range entries {
			e := &entries[i]
			w := why[i] // without cmp.Or, which allocates 48 bytes for each of possibly millions of columns
			w = cmp.Or(w, e.Why)
			if w == "" {
				w = constantReason(c, e)
			}
			if !yield(Field{Name: e.Flat, Type: e.Typ, Nulls: e.nulls, Used: w == "", Why: w}) {
				return
			}
		}
	}
}

// FlattenColumns lists the flattened columns of the catalog, and refuses names that clash.
func FlattenColumns(c *catalog.Catalog, opt settings.Options, sparse *Sparse) ([]Entry, error) {
	entries := make([]Entry, 0, CountEntries(c, opt, sparse))
	origins := make([]Origin, len(c.Leaves)+len(c.Parts))
	places := make([]int, len(c.Parts)) // position of each partition key among the columns
	at := 0
	for i, l := range c.Leaves {
		for k, p := range c.Parts {
			if p.LeafAfter == i+1 {
				places[k] = at
				at++
			}
		}
		origins[i] = Origin{Leaf: i, Part: -1, Typ: l.Type, nulls: l.Nulls, Why: l.Why, IsRefused: l.Refused, index: l.Index, columnPosition: positionOfLeaf(i, at+l.Before, sparse)}
		at += countPositionsOfLeaf(c, i, sparse)
		if opt.Indicators && len(intake.NumbersAmong(opt.Texts.Nulls)) > 0 {
			origins[i].nulls = -1 // the metadata does not count numbers that mean a missing value
		}
		e := Entry{Origin: &origins[i], Flat: l.Name}
		if sparse != nil && i == sparse.Values {
			e.Why, e.IsRefused = "", l.Refused
			if sparse.Features == 0 {
				e.Why = "no row has an entry"
			}
		}
		if naming.HaveSharedName(l) {
			entries = append(entries, e)
			continue
		}
		if k, ok := slices.BinarySearchFunc(opt.Categories, l.Name, func(c settings.Category, name string) int { return strings.Compare(c.Column, name) }); ok {
			origins[i].index = false // a column in Options.Categories is wanted even if it is the index
			entries = addCategoryEntries(entries, e, &opt.Categories[k])
			continue
		}
		if parts := timeParts(l, opt); parts != nil {
			entries = addTimeEntries(entries, e, parts)
			continue
		}
		width := countElementsOfLeaf(c, i, sparse)
		if width == 0 {
			entries = append(entries, e)
			continue
		}
		e.List = l.Name
		if e.nulls > 0 {
			e.nulls = -1 // the metadata counts only the nulls of the whole list
		}
		names := elementNames(l.Name, width)
		if sparse != nil && i == sparse.Values && sparse.MapKeys != nil {
			names = sparse.MapKeys.FeatureNames(l.Name)
		}
		for k, name := range names {
			e.Flat, e.Element = name, k
			entries = append(entries, e)
		}
	}
	for i, p := range c.Parts {
		if p.LeafAfter == 0 {
			places[i] = at
			at++
		}
		o := &origins[len(c.Leaves)+i]
		*o = Origin{Leaf: -1, Part: i, Typ: "partition key", nulls: -1, Why: p.Why, columnPosition: positionOfLeaf(-1, places[i], sparse)}
		entries = append(entries, Entry{Origin: o, Flat: p.Key})
	}
	if opt.Indicators {
		entries = addIndicators(entries, opt)
	}
	// Two elements cannot have the same name, because the names of their lists differ.
	seen := make(map[string]int, len(c.Leaves)+len(c.Parts))
	for i, e := range entries {
		if e.List != "" {
			continue
		}
		if other, ok := seen[e.Flat]; ok && (e.Why != naming.SharedName || entries[other].Why != naming.SharedName) {
			return nil, ErrNameClash(c, e)
		}
		seen[e.Flat] = i
	}
	for i, e := range entries {
		if e.List == "" {
			continue
		}
		if other, ok := seen[e.Flat]; ok {
			return nil, ErrNameClash(c, entries[max(i, other)])
		}
	}
	return entries, nil
}

func positionOfLeaf(leaf, elementsBefore int, sparse *Sparse) stream.Position {
	switch {
	case sparse == nil:
		return stream.PositionAt(elementsBefore)
	case leaf == sparse.Values:
		return stream.PositionAt(0)
	}
	return stream.Position{}
}

// CountPositions returns the number of positions in the input.
func CountPositions(c *catalog.Catalog, sparse *Sparse) int {
	if sparse != nil {
		return sparse.Features
	}
	n := len(c.Parts)
	for i := range c.Leaves {
		n += countPositionsOfLeaf(c, i, nil)
	}
	return n
}

func countPositionsOfLeaf(c *catalog.Catalog, leaf int, sparse *Sparse) int {
	l := &c.Leaves[leaf]
	return l.Before + max(countElementsOfLeaf(c, leaf, sparse), 1) + l.After
}

func countElementsOfLeaf(c *catalog.Catalog, leaf int, sparse *Sparse) int {
	switch l := c.Leaves[leaf]; {
	case sparse != nil && leaf == sparse.Values:
		return sparse.Features
	case l.List && l.Why == "":
		return l.Width
	}
	return 0
}

// CountEntries returns an upper bound on the number of flattened columns.
func CountEntries(c *catalog.Catalog, opt settings.Options, sparse *Sparse) int {
	n := len(c.Leaves) + len(c.Parts)
	for i := range c.Leaves {
		n += max(countElementsOfLeaf(c, i, sparse)-1, 0)
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

// ErrNameClash returns the error for two flattened columns of the same name.
func ErrNameClash(c *catalog.Catalog, e Entry) error {
	err := stream.Dataf(c.InputName(), "two columns have this name once struct fields and lists are flattened")
	if e.Leaf < 0 {
		err = stream.Dataf(c.InputName(), "the partition key in the path is also a column of the file")
	}
	err.Column, err.Remedy = e.Flat, stream.PlainText("rename one of them")
	return err
}

// constantReason returns the reason, in the words of the command scan, that a column outside lists has no value or a
// single value according to the footers, or "" if they do not show this.
func constantReason(c *catalog.Catalog, e *Entry) string {
	if e.Leaf < 0 || e.List != "" || e.derivation != nil || e.Subject > 0 || e.Leaf >= len(c.Spreads) || c.Rows == 0 {
		return ""
	}
	l, s := &c.Leaves[e.Leaf], c.Spreads[e.Leaf]
	missing, within := "", "in every row"
	if l.Nulls > 0 {
		missing = fmt.Sprintf(" (%d null)", l.Nulls)
	}
	if l.Nulls != 0 || l.MaybeNaN {
		within = "wherever observed"
	}
	switch {
	case l.Nulls == c.Rows:
		return "no value observed" + missing
	case s.HasBounds && !s.HasUnknown && s.Low == s.High:
		return fmt.Sprintf("constant (%s %s)%s", strconv.FormatFloat(s.Low+0, 'g', -1, 64), within, missing)
	}
	return ""
}

// FlatNames returns the names of the entries.
func FlatNames(entries []Entry) []string {
	return convert.Each(entries, func(e Entry) string { return e.Flat })
}
