package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func newLabelRead(c *catalog.Catalog, entries []Entry, label string) (*ColumnRead, error) {
	for _, e := range entries {
		switch {
		case !matchesOptionName(e.name(), label):
		case e.IsRefused:
			return nil, ErrUndecodable(c, e)
		case e.Leaf >= 0 && c.Leaves[e.Leaf].List:
			return nil, stream.Usagef("{label} %s: a list is no class", label)
		case e.Leaf >= 0 && c.Leaves[e.Leaf].NoClass != "":
			return nil, stream.Usagef("{label} %s: cannot serve as class: %s", label, c.Leaves[e.Leaf].NoClass)
		default:
			r := newColumnRead(e, 1)
			return &r, nil
		}
	}
	return nil, stream.Usagef("{label} %s: no column has this name", label) // leftOutReasons should have failed before
}

// Field describes one column of the input, feature or not, for the command inspect. Each element of a list of constant
// length is a Field.
type Field struct {
	Name  string
	Type  string
	Nulls int64  // from the metadata; -1 if unknown
	Used  bool   // a feature under the Dataset's options
	Why   string // the reason that it is not a feature; "" if Used is set
}

// ColumnRead describes a leaf or partition column to decode, and the features that its values become.
type ColumnRead struct {
	Leaf int   // dataset leaf; -1 for a partition column
	Part int   // partition column if leaf is -1
	Cols []int // by element: the feature it becomes, or -1

	Missing    []int       // by element: the feature that indicates missing values, or -1; nil for none
	Derivation *derivation // how features are derived from texts; nil if they are not
}

// Features contains the features of a Dataset under its options, and the columns left out.
type Features struct {
	Columns   []stream.Column
	Hidden    []stream.Column // columns that count only in the norms of rows; their indices come after the features
	Reads     []ColumnRead    // in column order; for sparse input only one, for the values
	Weight    *ColumnRead     // decodes weights into column 0 of a buffer of its own; nil without weights
	Target    *ColumnRead     // decodes the label as numbers, like weight; nil if not requested or not possible
	UsesCodes bool            // targets are codes of the label's texts
	Label     *ColumnRead     // decodes the classes; nil if not requested
	LeftOut   []stream.LeftOut
	Warnings  []stream.Text
	byLeaf    map[int]int // indices in reads by leaf; used while indicators are added

	WithNulls int   // features with nulls according to the metadata
	Refusal   error // why these features cannot be read; Check returns it
}

// ColumnCount returns the number of columns that a pass decodes into its buffer: the features, and the hidden columns.
func (f *Features) ColumnCount() int { return len(f.Columns) + len(f.Hidden) }

// ColumnName returns the name of a feature or hidden column by its index.
func (f *Features) ColumnName(i int) string {
	if i < len(f.Columns) {
		return f.Columns[i].Name
	}
	return f.Hidden[i-len(f.Columns)].Name
}

// FeatureBytes is the memory to name and choose one column while a Dataset is opened. Afterwards, the names that two
// Datasets and a run hold need no more memory than this. With 3,000,000 list elements, 124 to 208 bytes for each
// element were allocated until the run was planned, including garbage.
const FeatureBytes = 200

// partitionKey is the reason that a partition key is not a feature: it locates rows, and is a feature only if a pattern
// in Options.Columns matches it.
const partitionKey = "a partition key: to use it, name it among the columns"

// frameIndex is the reason that the index of a data frame is not a feature: it numbers or names the rows. Like a
// partition key it is a feature only if Options.Columns name it.
const frameIndex = "the index of a data frame: to use it, name it among the columns"

// ResolveFeatures chooses the features: leaves in the first file's order, list elements in the order of their indices,
// partition columns last. sparse is nil for dense input. It fails on wrong usage and on a clash of names. An error that
// prevents only the reading of rows is stored in the field refusal of the result.
func ResolveFeatures(c *catalog.Catalog, opt settings.Options, sparse *Sparse) (*Features, error) {
	if n := CountEntries(c, opt, sparse); FeatureBytes*int64(n) > opt.Memory {
		return nil, &stream.MemoryError{What: fmt.Sprintf("naming %d columns", n), Need: FeatureBytes * int64(n), Limit: opt.Memory}
	}
	entries, err := FlattenColumns(c, opt, sparse)
	if err != nil {
		return nil, err
	}
	why, isDecided, err := leftOutReasons(entries, opt, sparse)
	if err != nil {
		return nil, err
	}
	left, hidden := 0, make(map[string]int)
	for i, e := range entries {
		if why[i] != "" || e.IsRefused {
			left++
		}
	}
	f := &Features{Columns: make([]stream.Column, 0, len(entries)-left), LeftOut: slices.Grow([]stream.LeftOut(nil), left)}
	for i, e := range entries {
		switch {
		case why[i] != "":
			f.LeftOut = append(f.LeftOut, stream.LeftOut{Name: e.Flat, Why: why[i], Column: e.position()})
			if isDecided[i] && opt.RowScale.IsSet() && !e.IsRefused {
				f.addEntry(e, countValuesPerRow(c, e, sparse))
				hidden[e.Flat] = 1
			}
		case e.IsRefused:
			f.LeftOut = append(f.LeftOut, stream.LeftOut{Name: e.Flat, Why: e.Why, Column: e.position()})
			if f.Refusal == nil {
				f.Refusal = ErrUndecodable(c, e)
			}
		default:
			f.addEntry(e, countValuesPerRow(c, e, sparse))
			if e.nulls > 0 {
				f.WithNulls++
			}
		}
	}
	f.sortByRank(hidden)
	count := len(f.Columns) - len(hidden)
	f.Columns, f.Hidden = f.Columns[:count:count], f.Columns[count:]
	f.Warnings = naming.WarnNames(f.Columns, f.LeftOut)
	if sparse == nil {
		rank := make(map[string]int, len(opt.Order))
		for i, name := range opt.Order {
			rank[name] = i - len(opt.Order)
		}
		f.sortByRank(rank)
	}
	if opt.Weight != "" {
		if f.Weight, err = newWeightRead(c, entries, opt.Weight); err != nil {
			return nil, err
		}
	}
	if opt.Target {
		f.Target, f.UsesCodes = newTargetRead(c, entries, opt.Label)
	}
	if opt.Classes {
		if f.Label, err = newLabelRead(c, entries, opt.Label); err != nil {
			return nil, err
		}
	}
	if f.Refusal == nil && len(f.Columns) == 0 {
		f.Refusal = NoFeatures(c.InputName(), f.LeftOut)
	}
	return f, nil
}

// Reasons of columns left out: Excluded by {exclude}, and NotAskedFor if {columns} does not name the column.
const (
	Excluded = "excluded"

	NotAskedFor = "not among the columns asked for"
)

// leftOutReasons returns the reason why each entry is not a feature because of the options or its type. It is "" for
// features, and for entries that would be features but cannot be decoded.
// isDecided marks the entries that only Options.LeaveOut excludes.
func leftOutReasons(entries []Entry, opt settings.Options, sparse *Sparse) (why []string, isDecided []bool, err error) {
	shared := SharedEntries(entries)
	for _, role := range []struct{ option, name string }{{"label", opt.Label}, {"weight", opt.Weight}} {
		if role.name != "" && !slices.ContainsFunc(entries, func(e Entry) bool { return e.Subject == 0 && matchesOptionName(e.name(), role.name) }) {
			return nil, nil, stream.Usagef("%v %s: no column has this name%s", stream.Option(role.option), role.name, suggest.DidYouMean(role.name, FlatNames(entries)))
		}
		if err := naming.RefuseShared(role.option, []string{role.name}, shared); err != nil {
			return nil, nil, err
		}
	}
	why, err = unselectedReasons(len(entries), func(i int) naming.ColumnName { return entries[i].name() }, shared, opt.Columns, opt.Exclude)
	if err != nil {
		return nil, nil, err
	}
	isDecided = make([]bool, len(entries))
	decided := make(map[string]string, len(opt.LeaveOut))
	for _, l := range opt.LeaveOut {
		decided[l.Name] = l.Why
	}
	for i, e := range entries {
		switch {
		case matchesOptionName(e.name(), opt.Label):
			why[i] = "label"
		case matchesOptionName(e.name(), opt.Weight):
			why[i] = "weight"
		case sparse != nil && e.Leaf == sparse.Indices && !sparse.IsMap():
			why[i] = "indices of the sparse rows"
		case e.Why != "" && e.Why != naming.SharedName && !e.IsRefused:
			why[i] = e.Why
		case sparse != nil && e.Leaf != sparse.Values:
			why[i] = "beside the sparse lists"
		case why[i] != "": // the reason is already set
		case e.Why == naming.SharedName: // it would be a feature if renamed, so other reasons come first
			why[i] = e.Why
		case e.Leaf < 0 && len(opt.Columns) == 0:
			why[i] = partitionKey
		case e.index && len(opt.Columns) == 0:
			why[i] = frameIndex
		case len(opt.Columns) == 0 && e.Leaf >= 0 && sparse != nil && sparse.whyAside(e.Element) != "":
			why[i] = sparse.whyAside(e.Element)
		default:
			why[i] = decided[e.Flat]
			isDecided[i] = why[i] != ""
		}
	}
	return why, isDecided, nil
}

// unselectedReasons returns for each of n columns the reason that {columns} or {exclude} leaves it out, or "". It
// refuses a pattern in the parameter include if several columns in the parameter left have this name.
func unselectedReasons(n int, name func(int) naming.ColumnName, left []stream.LeftOut, include, exclude []string) ([]string, error) {
	why := make([]string, n)
	if len(include)+len(exclude) == 0 {
		return why, nil
	}
	if err := naming.RefuseShared("columns", include, left); err != nil {
		return nil, err
	}
	included, err := naming.MatchPatterns("columns", include, n, name)
	if err != nil {
		return nil, err
	}
	excluded, err := naming.MatchPatterns("exclude", exclude, n, name)
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

func matchesOptionName(n naming.ColumnName, name string) bool {
	return name != "" && (n.Flat == name || n.List == name)
}

func (f *Features) addEntry(entry Entry, valuesPerRow int) {
	at := len(f.Reads) - 1
	if at < 0 || f.Reads[at].Leaf != entry.Leaf || f.Reads[at].Part != entry.Part {
		at = -1
		if entry.Subject > 0 {
			at = f.readIndex(entry.Leaf)
		}
	}
	if at < 0 {
		at = len(f.Reads)
		f.Reads = append(f.Reads, newColumnRead(entry, valuesPerRow))
		f.Reads[at].Derivation = entry.derivation
	}
	r := &f.Reads[at]
	to := &r.Cols
	if entry.Subject > 0 {
		if to = &r.Missing; *to == nil {
			*to = slices.Repeat([]int{-1}, valuesPerRow)
		}
	}
	(*to)[entry.Element] = len(f.Columns)
	f.Columns = append(f.Columns, stream.Column{Name: entry.Flat, Type: entry.Typ, Block: entry.Block, Position: entry.position()})
}

func (f *Features) sortByRank(rank map[string]int) { // a name without rank has rank 0; hidden columns keep their places
	if len(rank) == 0 {
		return
	}
	from := make([]int, len(f.Columns)) // former index of each feature
	for j := range from {
		from[j] = j
	}
	slices.SortStableFunc(from, func(a, b int) int { return rank[f.Columns[a].Name] - rank[f.Columns[b].Name] })
	to, columns := make([]int, len(from)), make([]stream.Column, len(from))
	for j, was := range from {
		to[was], columns[j] = j, f.Columns[was]
	}
	f.Columns = columns
	for _, r := range f.Reads {
		for e, col := range r.Cols {
			if col >= 0 && col < len(to) {
				r.Cols[e] = to[col]
			}
		}
		for e, col := range r.Missing {
			if col >= 0 && col < len(to) {
				r.Missing[e] = to[col]
			}
		}
	}
}

func newColumnRead(entry Entry, valuesPerRow int) ColumnRead {
	return ColumnRead{Leaf: entry.Leaf, Part: entry.Part, Cols: slices.Repeat([]int{-1}, valuesPerRow)}
}

// readIndex returns the index in f.reads of a leaf's ColumnRead, or -1 if there is none yet; then addEntry appends it.
func (f *Features) readIndex(leaf int) int {
	if f.byLeaf == nil {
		f.byLeaf = make(map[int]int, len(f.Reads))
		for i, r := range f.Reads {
			f.byLeaf[r.Leaf] = i
		}
	}
	if at, ok := f.byLeaf[leaf]; ok {
		return at
	}
	f.byLeaf[leaf] = len(f.Reads) // addEntry appends it
	return -1
}

func countValuesPerRow(c *catalog.Catalog, e Entry, sparse *Sparse) int {
	switch {
	case e.Leaf < 0:
		return 1
	case e.derivation != nil:
		return e.width
	case sparse != nil && e.Leaf == sparse.Values:
		return sparse.Features
	}
	return c.Leaves[e.Leaf].Width
}

func newWeightRead(c *catalog.Catalog, entries []Entry, weight string) (*ColumnRead, error) {
	for _, e := range entries {
		switch {
		case e.Flat != weight:
		case e.IsRefused:
			return nil, ErrUndecodable(c, e)
		case e.Why != "":
			return nil, stream.Usagef("{weight} %s: cannot serve as weights: %s", weight, e.Why)
		case e.Block != "":
			return nil, stream.Usagef("{weight} %s: cannot serve as weights: features are made of it", weight)
		default:
			r := newColumnRead(e, countValuesPerRow(c, e, nil))
			r.Cols[e.Element] = 0
			return &r, nil
		}
	}
	return nil, stream.Usagef("{weight} %s: a list is no weight; name one element, %[1]s[0]", weight)
}

// newTargetRead returns the way to decode the label as targets. codes is true if the values of the label are not
// numbers, so that they get codes. The result is nil if the label can have neither targets nor classes.
func newTargetRead(c *catalog.Catalog, entries []Entry, name string) (r *ColumnRead, codes bool) {
	for _, e := range entries {
		var one ColumnRead
		switch {
		case !matchesOptionName(e.name(), name) || e.IsRefused:
			continue
		case e.Flat == name && e.Why == "" && e.derivation == nil:
			one = newColumnRead(e, countValuesPerRow(c, e, nil))
			one.Cols[e.Element] = 0
		case e.Leaf >= 0 && !canHaveTargetCodes(&c.Leaves[e.Leaf]):
			continue
		default:
			one, codes = newColumnRead(e, 1), true
			one.Cols[0] = 0
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

func canHaveTargetCodes(l *format.Leaf) bool {
	return !l.List && l.NoClass == "" && l.TextScratch <= maxCodeScratch
}

// ErrUndecodable returns the error for a feature that cannot be decoded.
func ErrUndecodable(c *catalog.Catalog, e Entry) error {
	err := stream.Dataf(c.FirstRefusal[e.Leaf], "%s", e.Why)
	err.Column = e.Flat
	err.Remedy = stream.Textf("or leave the column out: {exclude} %q", e.Flat)
	return err
}

// NoFeatures implements chunkio.NoFeatures: it returns the error that all columns of a file are left out, with the
// reasons for the first few columns. If two of them are lists of varying length, they may be sparse rows.
func NoFeatures(path string, leftOut []stream.LeftOut) error {
	const shown = 5
	var list, varying []string
	for _, l := range leftOut {
		if strings.HasPrefix(l.Why, format.WhyVarying) {
			varying = append(varying, l.Name)
		}
	}
	for i, l := range stream.BySeverity(leftOut) {
		if i == shown {
			list = append(list, fmt.Sprintf("and %d more", len(leftOut)-shown))
			break
		}
		list = append(list, fmt.Sprintf("%s: %s", l.Name, l.Why))
	}
	err := stream.Dataf(path, "no numeric column is left to select from (%s)", strings.Join(list, "; "))
	if len(varying) == 2 {
		err.Remedy = stream.Textf("if these lists are the positions and the values of sparse rows, name them with {sparse} %q", strings.Join(varying, ","))
	}
	return err
}

// SharedEntries lists the entries that are left out because they share their names.
func SharedEntries(entries []Entry) (left []stream.LeftOut) {
	for _, e := range entries {
		if e.Why == naming.SharedName {
			left = append(left, stream.LeftOut{Name: e.Flat, Why: e.Why})
		}
	}
	return left
}

// CheckFilterColumns refuses a condition on a column that cannot be decoded, or that makes sparse rows.
func CheckFilterColumns(c *catalog.Catalog, sparse *Sparse) error {
	f := c.Filter
	if f == nil {
		return nil
	}
	for i := range f.Columns {
		col := &f.Columns[i]
		l := c.Leaves[col.Leaf]
		switch {
		case l.Refused:
			err := stream.Dataf(c.FirstRefusal[col.Leaf], "%s", l.Why)
			err.Column = col.Name
			return err
		case sparse != nil && (col.Leaf == sparse.Indices || col.Leaf == sparse.Values):
			return stream.Usagef("{where}: %s belongs to the sparse rows, and conditions on them are not supported", col.Name)
		case l.List && l.Why != "" && col.Element >= 0:
			return stream.Usagef("{where}: column %s cannot stand in a condition: %s", col.Name, l.Why)
		case l.List && col.Element >= l.Width:
			return stream.Usagef("{where}: the lists of %s have %d elements, [0] to [%d]", l.Name, l.Width, l.Width-1)
		case !col.Kind.IsNumeric() && l.NoClass != "":
			return stream.Usagef("{where}: column %s cannot stand in a condition: %s", col.Name, l.NoClass)
		}
	}
	return nil
}

// IsStored reports whether a Keep (Options.Keep) holds the values of an element of the leaf.
func (r *ColumnRead) IsStored(element int) bool { return r.Leaf >= 0 && r.HostFeature(element) >= 0 }

// StoredReads lists the reads whose values a Keep holds: the features, then the weights and the targets.
func (f *Features) StoredReads() []*ColumnRead {
	var reads []*ColumnRead
	for i := range f.Reads {
		reads = append(reads, &f.Reads[i])
	}
	if f.Weight != nil {
		reads = append(reads, f.Weight)
	}
	if f.Target != nil {
		reads = append(reads, f.Target)
	}
	return reads
}

// ListLeavesToDecode lists the leaves that a pass decodes.
func (f *Features) ListLeavesToDecode(sparse *Sparse) (leaves []int) {
	if sparse != nil {
		leaves = append(leaves, sparse.Indices)
	}
	for _, r := range f.Reads {
		if r.Leaf >= 0 {
			leaves = append(leaves, r.Leaf)
		}
	}
	if w := f.Weight; w != nil && w.Leaf >= 0 {
		leaves = append(leaves, w.Leaf)
	}
	if t := f.Target; t != nil && t.Leaf >= 0 {
		leaves = append(leaves, t.Leaf)
	}
	if l := f.Label; l != nil && l.Leaf >= 0 {
		leaves = append(leaves, l.Leaf)
	}
	return leaves
}

// NeedsDecoding reports whether a pass decodes any column from the files.
func (f *Features) NeedsDecoding() bool {
	return len(f.Reads) > 0 || f.Weight != nil || f.Target != nil || f.Label != nil
}
