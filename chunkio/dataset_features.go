package chunkio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Field is one column of the input as inspect shows it, feature or not. A list of
// constant length is one Field for each element.
type Field struct {
	Name  string
	Type  string
	Nulls int64 // as the metadata tells; -1 where unknown
	Used  bool  // a feature under the Dataset's options
	Why   string
}

// read is one leaf or partition column to decode, and where its values go.
type read struct {
	leaf int   // dataset leaf; -1 for a partition column
	part int   // partition column where leaf is -1
	cols []int // by element: the feature it becomes, or -1

	missing []int // by element: the feature that says whether it is missing, or -1; nil for none
	made    *made // how the elements are made of texts; nil for others
}

// features is what a Dataset's options make of a catalog's columns.
type features struct {
	columns  []stream.Column
	reads    []read // in column order; for sparse input the one read of the values
	weight   *read  // to column 0 of its own buffer; nil without weights
	target   *read  // the column of the label as numbers, as weight; nil where they are not asked for, or it is no class
	codes    bool   // targets are codes of the label's texts
	label    *read  // the column of the classes; nil where they are not asked for
	leftOut  []stream.LeftOut
	warnings []stream.Text
	byLeaf   map[int]int // the reads, while indicators are added

	withNulls int   // features of which the metadata tells nulls
	refusal   error // why these features cannot be read; Check returns it
}

// featureBytes is what naming and choosing a column takes while it lasts, or two Datasets' names and what
// a run may choose of them after that: of 3,000,000 list elements 124 to 208 bytes each were allocated until
// the run was planned, those that become garbage too.
const featureBytes = 200

// partitionKey is why a key of the folders is no feature: it says where rows are kept, and is one
// only where Options.Columns name it, exactly or by a glob.
const partitionKey = "a partition key: to use it, name it among the columns"

// frameIndex is why the index of a data frame is no feature: it numbers or names the rows. As a partition key it is
// one only where Options.Columns name it.
const frameIndex = "the index of a data frame: to use it, name it among the columns"

// resolve chooses the features: leaves in the first file's order, list elements in
// theirs, partition columns last. sparse is nil for dense input. It fails on wrong usage
// and on a clash of names; what only matters for reading goes to refusal.
func resolve(c *catalog, opt Options, sparse *sparseSpec) (*features, error) {
	if n := countEntries(c, opt, sparse); featureBytes*int64(n) > opt.Memory {
		return nil, &stream.MemoryError{What: fmt.Sprintf("naming %d columns", n), Need: featureBytes * int64(n), Limit: opt.Memory}
	}
	entries, err := flatten(c, opt, sparse)
	if err != nil {
		return nil, err
	}
	why, err := reasons(entries, opt, sparse)
	if err != nil {
		return nil, err
	}
	left := 0
	for i, e := range entries {
		if why[i] != "" || e.refused {
			left++
		}
	}
	f := &features{columns: make([]stream.Column, 0, len(entries)-left), leftOut: slices.Grow([]stream.LeftOut(nil), left)}
	for i, e := range entries {
		switch {
		case why[i] != "":
			f.leftOut = append(f.leftOut, stream.LeftOut{Name: e.flat, Why: why[i], Column: e.position()})
		case e.refused:
			f.leftOut = append(f.leftOut, stream.LeftOut{Name: e.flat, Why: e.why, Column: e.position()})
			if f.refusal == nil {
				f.refusal = undecodable(c, e)
			}
		default:
			f.add(e, widthOf(c, e, sparse))
			if e.nulls > 0 {
				f.withNulls++
			}
		}
	}
	f.warnings = WarnNames(f.columns, f.leftOut)
	if sparse == nil {
		f.order(opt.Order)
	}
	if opt.Weight != "" {
		if f.weight, err = weightRead(c, entries, opt.Weight); err != nil {
			return nil, err
		}
	}
	if opt.Target {
		f.target, f.codes = targetRead(c, entries, opt.Label)
	}
	if opt.Classes {
		if f.label, err = labelRead(c, entries, opt.Label); err != nil {
			return nil, err
		}
	}
	if f.refusal == nil && len(f.columns) == 0 {
		f.refusal = NoFeatures(c.name(), f.leftOut)
	}
	return f, nil
}

// name is what messages about the whole input call it: its first file.
func (c *catalog) name() string {
	if c.frozen != nil {
		return c.frozen.first
	}
	if len(c.files) == 0 {
		return ipc.StreamName
	}
	return c.path(0)
}

// The reasons of the columns that {exclude} leaves out, and of those that {columns} does not name.
const (
	Excluded    = "excluded"
	NotAskedFor = "not among the columns asked for"
)

// reasons says for every entry why the options or its type make it no feature, ""
// for the features and for what would be one but is refused.
func reasons(entries []entry, opt Options, sparse *sparseSpec) ([]string, error) {
	shared := sharedOf(entries)
	for _, role := range []struct{ option, name string }{{"label", opt.Label}, {"weight", opt.Weight}} {
		if role.name != "" && !slices.ContainsFunc(entries, func(e entry) bool { return e.missing == 0 && e.name().matches(role.name) }) {
			return nil, stream.Usagef("%v %s: no column has this name%s", stream.Option(role.option), role.name, suggest.DidYouMean(role.name, flatNames(entries)))
		}
		if err := RefuseShared(role.option, []string{role.name}, shared); err != nil {
			return nil, err
		}
	}
	why, err := askedFor(len(entries), func(i int) columnName { return entries[i].name() }, shared, opt.Columns, opt.Exclude)
	if err != nil {
		return nil, err
	}
	decided := make(map[string]string, len(opt.LeaveOut))
	for _, l := range opt.LeaveOut {
		decided[l.Name] = l.Why
	}
	for i, e := range entries {
		switch {
		case e.name().matches(opt.Label):
			why[i] = "label"
		case e.name().matches(opt.Weight):
			why[i] = "weight"
		case sparse != nil && e.leaf == sparse.indices && !sparse.isMap():
			why[i] = "indices of the sparse rows"
		case e.why != "" && e.why != SharedName && !e.refused:
			why[i] = e.why
		case sparse != nil && e.leaf != sparse.values:
			why[i] = "beside the sparse lists"
		case why[i] != "": // as asked for
		case e.why == SharedName: // renamed, it would be a feature: an option that decides against it wins
			why[i] = e.why
		case e.leaf < 0 && len(opt.Columns) == 0:
			why[i] = partitionKey
		case e.index && len(opt.Columns) == 0:
			why[i] = frameIndex
		default:
			why[i] = decided[e.flat]
		}
	}
	return why, nil
}

// askedFor says why {columns} and {exclude} leave out the n columns of these names, "" where they do not. Those of left
// that share a name are not to be included.
func askedFor(n int, name func(int) columnName, left []stream.LeftOut, include, exclude []string) ([]string, error) {
	why := make([]string, n)
	if len(include)+len(exclude) == 0 {
		return why, nil
	}
	if err := RefuseShared("columns", include, left); err != nil {
		return nil, err
	}
	included, err := matchPatterns("columns", include, n, name)
	if err != nil {
		return nil, err
	}
	excluded, err := matchPatterns("exclude", exclude, n, name)
	if err != nil {
		return nil, err
	}
	for i := range why {
		switch {
		case excluded[i]:
			why[i] = Excluded
		case len(include) > 0 && !included[i]:
			why[i] = NotAskedFor
		}
	}
	return why, nil
}

// matches tells whether a name given by the user means this column or its list.
func (n columnName) matches(name string) bool {
	return name != "" && (n.flat == name || n.list == name)
}

// add makes an entry the next feature. Indicators come behind what they are of.
func (f *features) add(e entry, width int) {
	at := len(f.reads) - 1
	if at < 0 || f.reads[at].leaf != e.leaf || f.reads[at].part != e.part {
		at = -1
		if e.missing > 0 {
			at = f.readOf(e.leaf)
		}
	}
	if at < 0 {
		at = len(f.reads)
		f.reads = append(f.reads, newRead(e, width))
		f.reads[at].made = e.made
	}
	r := &f.reads[at]
	to := &r.cols
	if e.missing > 0 {
		if to = &r.missing; *to == nil {
			*to = slices.Repeat([]int{-1}, width)
		}
	}
	(*to)[e.element] = len(f.columns)
	f.columns = append(f.columns, stream.Column{Name: e.flat, Type: e.typ, Block: e.block, Position: e.position()})
}

// order moves the features of these names to the front, in this order.
func (f *features) order(names []string) {
	if len(names) == 0 {
		return
	}
	rank := make(map[string]int, len(names))
	for i, name := range names {
		rank[name] = i - len(names)
	}
	from := make([]int, len(f.columns)) // of each feature, where it was
	for j := range from {
		from[j] = j
	}
	slices.SortStableFunc(from, func(a, b int) int { return rank[f.columns[a].Name] - rank[f.columns[b].Name] })
	to, columns := make([]int, len(from)), make([]stream.Column, len(from))
	for j, was := range from {
		to[was], columns[j] = j, f.columns[was]
	}
	f.columns = columns
	for _, r := range f.reads {
		for e, col := range r.cols {
			if col >= 0 {
				r.cols[e] = to[col]
			}
		}
		for e, col := range r.missing {
			if col >= 0 {
				r.missing[e] = to[col]
			}
		}
	}
}

func newRead(e entry, width int) read {
	return read{leaf: e.leaf, part: e.part, cols: slices.Repeat([]int{-1}, width)}
}

// readOf is the read of a leaf, or -1.
func (f *features) readOf(leaf int) int {
	if f.byLeaf == nil {
		f.byLeaf = make(map[int]int, len(f.reads))
		for i, r := range f.reads {
			f.byLeaf[r.leaf] = i
		}
	}
	if at, ok := f.byLeaf[leaf]; ok {
		return at
	}
	f.byLeaf[leaf] = len(f.reads) // which add makes
	return -1
}

func widthOf(c *catalog, e entry, sparse *sparseSpec) int {
	switch {
	case e.leaf < 0:
		return 1
	case e.made != nil:
		return e.width
	case sparse != nil && e.leaf == sparse.values:
		return sparse.features
	}
	return c.leaves[e.leaf].Width
}

func weightRead(c *catalog, entries []entry, name string) (*read, error) {
	for _, e := range entries {
		switch {
		case e.flat != name:
		case e.refused:
			return nil, undecodable(c, e)
		case e.why != "":
			return nil, stream.Usagef("{weight} %s: cannot serve as weights: %s", name, e.why)
		case e.block != "":
			return nil, stream.Usagef("{weight} %s: cannot serve as weights: features are made of it", name)
		default:
			r := newRead(e, widthOf(c, e, nil))
			r.cols[e.element] = 0
			return &r, nil
		}
	}
	return nil, stream.Usagef("{weight} %s: a list is no weight; name one element, %[1]s[0]", name)
}

// targetRead finds the column of the label, and says whether its values have codes because they are no
// numbers. It returns nil where they are no classes either.
func targetRead(c *catalog, entries []entry, name string) (r *read, codes bool) {
	for _, e := range entries {
		var one read
		switch {
		case !e.name().matches(name) || e.refused:
			continue
		case e.flat == name && e.why == "" && e.made == nil:
			one = newRead(e, widthOf(c, e, nil))
			one.cols[e.element] = 0
		case e.leaf >= 0 && !codable(&c.leaves[e.leaf]):
			continue
		default:
			one, codes = newRead(e, 1), true
			one.cols[0] = 0
		}
		return &one, codes
	}
	return nil, false
}

// mostCodeScratch is the most memory that codes may need to be decoded: what they tell is a warning, which is to
// keep no run from its memory. Labels of texts take less; only compressed batches of a stream, which may be of
// any size, and texts too long for classes take more. It is no share of the limit, which changes no result.
const mostCodeScratch = 32 << 20

// codable says that the values of a leaf can have codes.
func codable(l *format.Leaf) bool {
	return !l.List && l.NoClass == "" && l.TextScratch <= mostCodeScratch
}

// undecodable is the error of selecting a column that cannot be decoded.
func undecodable(c *catalog, e entry) error {
	err := stream.Dataf(c.refusing[e.leaf], "%s", e.why)
	err.Column = e.flat
	err.Remedy = stream.Textf("or leave the column out: {exclude} %q", e.flat)
	return err
}

// NoFeatures is the error that all columns of a file are left out, with why the first are.
func NoFeatures(path string, leftOut []stream.LeftOut) error {
	const shown = 5
	var list []string
	for i, l := range stream.BySeverity(leftOut) {
		if i == shown {
			list = append(list, fmt.Sprintf("and %d more", len(leftOut)-shown))
			break
		}
		list = append(list, fmt.Sprintf("%s: %s", l.Name, l.Why))
	}
	return stream.Dataf(path, "no numeric column is left to select from (%s)", strings.Join(list, "; "))
}
