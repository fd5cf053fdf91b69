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

// Field describes one column of the input, feature or not, for the command inspect. A list of constant length is one
// Field for each element.
type Field struct {
	Name  string
	Type  string
	Nulls int64  // from the metadata; -1 if unknown
	Used  bool   // a feature under the Dataset's options
	Why   string // the reason that it is not a feature; "" if Used is set
}

// columnRead describes a leaf or partition column to decode, and the features that its values become.
type columnRead struct {
	leaf int   // dataset leaf; -1 for a partition column
	part int   // partition column if leaf is -1
	cols []int // by element: the feature it becomes, or -1

	missing    []int       // by element: the feature that indicates missing values, or -1; nil for none
	derivation *derivation // how features are derived from texts; nil if they are not
}

// features contains the features of a Dataset under its options, and the columns left out.
type features struct {
	columns   []stream.Column
	reads     []columnRead // in column order; for sparse input only one, for the values
	weight    *columnRead  // decodes weights into column 0 of a buffer of its own; nil without weights
	target    *columnRead  // decodes the label as numbers, like weight; nil if not requested or not possible
	usesCodes bool         // targets are codes of the label's texts
	label     *columnRead  // decodes the classes; nil if not requested
	leftOut   []stream.LeftOut
	warnings  []stream.Text
	byLeaf    map[int]int // indices in reads by leaf; used while indicators are added

	withNulls int   // features with nulls according to the metadata
	refusal   error // why these features cannot be read; Check returns it
}

// featureBytes is the memory to name and choose one column while a Dataset is opened. Afterwards, the names that two
// Datasets and a run hold need no more memory than this. With 3,000,000 list elements, 124 to 208 bytes for each
// element were allocated until the run was planned, including garbage.
const featureBytes = 200

// partitionKey is the reason that a partition key is not a feature: it locates rows, and is a feature only if a pattern
// in Options.Columns matches it.
const partitionKey = "a partition key: to use it, name it among the columns"

// frameIndex is the reason that the index of a data frame is not a feature: it numbers or names the rows. Like a
// partition key it is a feature only if Options.Columns name it.
const frameIndex = "the index of a data frame: to use it, name it among the columns"

// resolveFeatures chooses the features: leaves in the first file's order, list elements in the order of their indices,
// partition columns last. sparse is nil for dense input. It fails on wrong usage and on a clash of names. An error that
// prevents only the reading of rows is stored in the field refusal of the result.
func resolveFeatures(c *catalog, opt Options, sparse *sparseSpec) (*features, error) {
	if n := countEntries(c, opt, sparse); featureBytes*int64(n) > opt.Memory {
		return nil, &stream.MemoryError{What: fmt.Sprintf("naming %d columns", n), Need: featureBytes * int64(n), Limit: opt.Memory}
	}
	entries, err := flattenColumns(c, opt, sparse)
	if err != nil {
		return nil, err
	}
	why, err := leftOutReasons(entries, opt, sparse)
	if err != nil {
		return nil, err
	}
	left := 0
	for i, e := range entries {
		if why[i] != "" || e.isRefused {
			left++
		}
	}
	f := &features{columns: make([]stream.Column, 0, len(entries)-left), leftOut: slices.Grow([]stream.LeftOut(nil), left)}
	for i, e := range entries {
		switch {
		case why[i] != "":
			f.leftOut = append(f.leftOut, stream.LeftOut{Name: e.flat, Why: why[i], Column: e.position()})
		case e.isRefused:
			f.leftOut = append(f.leftOut, stream.LeftOut{Name: e.flat, Why: e.why, Column: e.position()})
			if f.refusal == nil {
				f.refusal = errUndecodable(c, e)
			}
		default:
			f.addEntry(e, entryWidth(c, e, sparse))
			if e.nulls > 0 {
				f.withNulls++
			}
		}
	}
	f.warnings = WarnNames(f.columns, f.leftOut)
	if sparse == nil {
		f.moveFeaturesToFront(opt.Order)
	}
	if opt.Weight != "" {
		if f.weight, err = newWeightRead(c, entries, opt.Weight); err != nil {
			return nil, err
		}
	}
	if opt.Target {
		f.target, f.usesCodes = newTargetRead(c, entries, opt.Label)
	}
	if opt.Classes {
		if f.label, err = newLabelRead(c, entries, opt.Label); err != nil {
			return nil, err
		}
	}
	if f.refusal == nil && len(f.columns) == 0 {
		f.refusal = NoFeatures(c.inputName(), f.leftOut)
	}
	return f, nil
}

func (c *catalog) inputName() string {
	if c.plan != nil {
		return c.plan.firstFile
	}
	if len(c.files) == 0 {
		return ipc.StreamName
	}
	return c.fileName(0)
}

// Reasons of columns left out: Excluded by {exclude}, and NotAskedFor if {columns} does not name the column.
const (
	Excluded    = "excluded"
	NotAskedFor = "not among the columns asked for"
)

// leftOutReasons returns the reason why each entry is not a feature because of the options or its type. It is "" for
// features, and for entries that would be features but cannot be decoded.
func leftOutReasons(entries []entry, opt Options, sparse *sparseSpec) ([]string, error) {
	shared := sharedEntries(entries)
	for _, role := range []struct{ option, name string }{{"label", opt.Label}, {"weight", opt.Weight}} {
		if role.name != "" && !slices.ContainsFunc(entries, func(e entry) bool { return e.subject == 0 && e.name().isMeantBy(role.name) }) {
			return nil, stream.Usagef("%v %s: no column has this name%s", stream.Option(role.option), role.name, suggest.DidYouMean(role.name, flatNames(entries)))
		}
		if err := RefuseShared(role.option, []string{role.name}, shared); err != nil {
			return nil, err
		}
	}
	why, err := unselectedReasons(len(entries), func(i int) columnName { return entries[i].name() }, shared, opt.Columns, opt.Exclude)
	if err != nil {
		return nil, err
	}
	decided := make(map[string]string, len(opt.LeaveOut))
	for _, l := range opt.LeaveOut {
		decided[l.Name] = l.Why
	}
	for i, e := range entries {
		switch {
		case e.name().isMeantBy(opt.Label):
			why[i] = "label"
		case e.name().isMeantBy(opt.Weight):
			why[i] = "weight"
		case sparse != nil && e.leaf == sparse.indices && !sparse.isMap():
			why[i] = "indices of the sparse rows"
		case e.why != "" && e.why != SharedName && !e.isRefused:
			why[i] = e.why
		case sparse != nil && e.leaf != sparse.values:
			why[i] = "beside the sparse lists"
		case why[i] != "": // the reason is already set
		case e.why == SharedName: // it would be a feature if renamed, so other reasons come first
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

// unselectedReasons returns for each of n columns the reason that {columns} or {exclude} leaves it out, or "". It
// refuses a pattern in the parameter include if several columns in the parameter left have this name.
func unselectedReasons(n int, name func(int) columnName, left []stream.LeftOut, include, exclude []string) ([]string, error) {
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

func (n columnName) isMeantBy(name string) bool {
	return name != "" && (n.flat == name || n.list == name)
}

func (f *features) addEntry(e entry, width int) {
	at := len(f.reads) - 1
	if at < 0 || f.reads[at].leaf != e.leaf || f.reads[at].part != e.part {
		at = -1
		if e.subject > 0 {
			at = f.readIndex(e.leaf)
		}
	}
	if at < 0 {
		at = len(f.reads)
		f.reads = append(f.reads, newColumnRead(e, width))
		f.reads[at].derivation = e.derivation
	}
	r := &f.reads[at]
	to := &r.cols
	if e.subject > 0 {
		if to = &r.missing; *to == nil {
			*to = slices.Repeat([]int{-1}, width)
		}
	}
	(*to)[e.element] = len(f.columns)
	f.columns = append(f.columns, stream.Column{Name: e.flat, Type: e.typ, Block: e.block, Position: e.position()})
}

func (f *features) moveFeaturesToFront(names []string) {
	if len(names) == 0 {
		return
	}
	rank := make(map[string]int, len(names))
	for i, name := range names {
		rank[name] = i - len(names)
	}
	from := make([]int, len(f.columns)) // former index of each feature
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

func newColumnRead(e entry, width int) columnRead {
	return columnRead{leaf: e.leaf, part: e.part, cols: slices.Repeat([]int{-1}, width)}
}

// readIndex returns the index in f.reads of a leaf's columnRead, or -1 if there is none yet; then addEntry appends it.
func (f *features) readIndex(leaf int) int {
	if f.byLeaf == nil {
		f.byLeaf = make(map[int]int, len(f.reads))
		for i, r := range f.reads {
			f.byLeaf[r.leaf] = i
		}
	}
	if at, ok := f.byLeaf[leaf]; ok {
		return at
	}
	f.byLeaf[leaf] = len(f.reads) // addEntry appends it
	return -1
}

func entryWidth(c *catalog, e entry, sparse *sparseSpec) int {
	switch {
	case e.leaf < 0:
		return 1
	case e.derivation != nil:
		return e.width
	case sparse != nil && e.leaf == sparse.values:
		return sparse.features
	}
	return c.leaves[e.leaf].Width
}

func newWeightRead(c *catalog, entries []entry, name string) (*columnRead, error) {
	for _, e := range entries {
		switch {
		case e.flat != name:
		case e.isRefused:
			return nil, errUndecodable(c, e)
		case e.why != "":
			return nil, stream.Usagef("{weight} %s: cannot serve as weights: %s", name, e.why)
		case e.block != "":
			return nil, stream.Usagef("{weight} %s: cannot serve as weights: features are made of it", name)
		default:
			r := newColumnRead(e, entryWidth(c, e, nil))
			r.cols[e.element] = 0
			return &r, nil
		}
	}
	return nil, stream.Usagef("{weight} %s: a list is no weight; name one element, %[1]s[0]", name)
}

// newTargetRead returns the way to decode the label as targets. codes is true if the values of the label are not
// numbers, so that they get codes. The result is nil if the label can have neither targets nor classes.
func newTargetRead(c *catalog, entries []entry, name string) (r *columnRead, codes bool) {
	for _, e := range entries {
		var one columnRead
		switch {
		case !e.name().isMeantBy(name) || e.isRefused:
			continue
		case e.flat == name && e.why == "" && e.derivation == nil:
			one = newColumnRead(e, entryWidth(c, e, nil))
			one.cols[e.element] = 0
		case e.leaf >= 0 && !canHaveCodes(&c.leaves[e.leaf]):
			continue
		default:
			one, codes = newColumnRead(e, 1), true
			one.cols[0] = 0
		}
		return &one, codes
	}
	return nil, false
}

// maxCodeScratch bounds the memory to decode the texts for codes of targets: codes are only used for a warning, which
// must not use up the memory of a run. Text labels usually need less. Only compressed batches of a stream, which may be
// of any size, and texts too long for classes need more. The bound does not depend on the memory limit, so that the
// limit changes no result.
const maxCodeScratch = 32 << 20

func canHaveCodes(l *format.Leaf) bool {
	return !l.List && l.NoClass == "" && l.TextScratch <= maxCodeScratch
}

func errUndecodable(c *catalog, e entry) error {
	err := stream.Dataf(c.firstRefusal[e.leaf], "%s", e.why)
	err.Column = e.flat
	err.Remedy = stream.Textf("or leave the column out: {exclude} %q", e.flat)
	return err
}

// NoFeatures returns the error that all columns of a file are left out, with the reasons for the first few columns.
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
