package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Columns of several files are matched by name. Their types must agree (format.Agree); with Options.Union a file may
// lack columns, which are then null in all its rows.

// defineColumns sets the columns of the dataset to the columns of a file. It is called for the first file, and again
// for the first file with rows. The types, missing columns and additional columns of files without rows have no effect.
func (b *catalogBuilder) defineColumns(path string, f *File, leaves []format.Leaf, names []naming.LeafName, keys []string) error {
	columns, index := make([]format.Leaf, 0, len(leaves)), make(map[naming.LeafName]int, len(leaves))
	refusing, order := map[int]string{}, make([]int32, 0, len(leaves))
	for i, l := range leaves {
		if names[i].Nth == naming.NoColumn {
			continue
		}
		if l.Refused {
			refusing[len(columns)] = path
		}
		index[names[i]] = len(columns)
		columns, order = append(columns, l), append(order, int32(i))
	}
	if b.Filter != nil && !b.union && f.CountRows() > 0 {
		if err := b.Filter.BindColumns(path, columns); err != nil {
			return err
		}
	}
	if len(columns) < len(leaves) {
		f.Order = b.internOrder(order)
	}
	if len(b.Files) > 0 && !slices.Equal(keys, b.keys) {
		for i := range b.Files {
			b.Warnings = append(b.Warnings, stream.Textf("passed over a file without rows: %v", errPartitionKeysDiffer(b.FileName(i), path, b.keys, keys)))
		}
		b.Files, b.leafCounts, b.List = nil, nil, b.List.EmptyCopy()
	}
	for i := range b.Files {
		empty, order := &b.Files[i], slices.Repeat([]int32{-1}, len(columns))
		for name, was := range b.index {
			if at, ok := index[name]; ok && canLeavesBeOneColumn(columns[at], b.Leaves[was]) {
				order[at] = int32(empty.LeafIndex(was))
			}
		}
		empty.Order, b.leafCounts[i] = b.internOrder(order), len(columns)
	}
	if len(b.Files) == 0 {
		b.keys, b.partValues = keys, make([][]string, len(keys))
	}
	b.Leaves, b.index, b.FirstRefusal, b.firstFile = columns, index, refusing, len(b.Files)
	return nil
}

// matchFile finds the leaves of the dataset in a further file. The leaves of a file without rows need not match.
func (b *catalogBuilder) matchFile(path string, f *File, leaves []format.Leaf, names []naming.LeafName) error {
	if f.CountRows() == 0 {
		order := slices.Repeat([]int32{-1}, len(b.Leaves))
		for i, l := range leaves {
			if at, ok := b.index[names[i]]; ok && canLeavesBeOneColumn(l, b.Leaves[at]) {
				order[at] = int32(i)
			}
		}
		f.Order = b.internOrder(order)
		return nil
	}
	order, added, err := b.matchLeaves(path, leaves, names)
	if err != nil {
		if e, ok := errors.AsType[*stream.DataError](err); ok && f.RowsByContent {
			e.Remedy = stream.Textf("it was taken for data by its lines, not by its name: if it is none, name the others by a glob or a list; if it is, %v", e.Remedy)
		}
		return err
	}
	f.Order = order
	for _, i := range added {
		b.addLeaf(path, leaves[i], names[i])
	}
	return nil
}

// dropByGuess decides whether to drop the file f. guess is set if f counts as data only by the shape of its lines. Such
// a file is dropped if other files certainly are data and f has less than half of their columns: such a file may be a
// list of classes or of files. If f certainly is data, dropByGuess drops earlier guessed files by the same rule.
func (b *catalogBuilder) dropByGuess(path string, guess bool, f *File, names []naming.LeafName) bool {
	if b.Rows == 0 || f.CountRows() == 0 || b.hasSureFile != guess {
		return false
	}
	shared, total := 0, len(names)
	for _, n := range names {
		if _, ok := b.index[n]; ok {
			shared++
		}
	}
	if guess {
		total = len(b.Leaves)
	}
	if 2*shared >= total {
		return false
	}
	if guess {
		b.skipGuessedFile(path, fmt.Errorf("it has %d of the %d columns of %s", shared, total, b.FileName(b.firstFile)))
		return true
	}
	for i := range b.Files {
		b.skipGuessedFile(b.FileName(i), fmt.Errorf("it has %d of the %d columns of %s", shared, total, path))
	}
	b.Files, b.leafCounts, b.List, b.Rows, b.MaxGroup, b.Spreads = nil, nil, b.List.EmptyCopy(), 0, 0, nil
	f.Start = 0
	return false
}

func (b *catalogBuilder) skipGuessedFile(path string, err error) {
	b.guessFault = cmp.Or(b.guessFault, err)
	b.Warnings = append(b.Warnings, stream.Textf("passed over %s, whose lines look like data: %v; if it is data, read it by itself", path, err))
}

func canLeavesBeOneColumn(inFile, inDataset format.Leaf) bool {
	_, ok := format.CommonType(inFile.Type, inDataset.Type)
	return ok || canMixTypes(inFile, inDataset) || naming.HaveSharedName(inFile, inDataset)
}

// matchLeaves finds every leaf of the dataset in a further file, by name. order contains the index in the file of each
// leaf of the dataset. In a union, added contains the indices of new leaves, which are also at the end of order.
func (b *catalogBuilder) matchLeaves(path string, leaves []format.Leaf, names []naming.LeafName) (order []int32, added []int, err error) {
	reference := b.FileName(b.firstFile)
	order = make([]int32, len(b.Leaves))
	for i := range order {
		order[i] = -1
	}
	sameOrder := len(leaves) == len(b.Leaves)
	for i, l := range leaves {
		at, ok := b.index[names[i]]
		switch {
		case names[i].Nth == naming.NoColumn:
			sameOrder = false
			continue
		case !ok && b.union:
			order, added, sameOrder = append(order, int32(i)), append(added, i), false
			continue
		case !ok:
			message := "%s has no such column"
			if names[i].Nth > 0 {
				message = "%s has fewer columns of this name"
			}
			return nil, nil, addUnionOptionRemedy(ErrMismatch(path, l.Name, message, reference))
		}
		if !slices.Equal(l.Keys, b.Leaves[at].Keys) {
			e := ErrMismatch(path, "", "its features differ from those of %s", reference)
			e.Remedy = stream.Textf("make the matrices with one reference, or aggregate them before")
			return nil, nil, e
		}
		if !canLeavesBeOneColumn(l, b.Leaves[at]) {
			e := ErrMismatch(path, l.Name, "its type is %s here but %s in %s", l.Type, b.Leaves[at].Type, reference)
			e.Remedy = stream.Textf("numbers of any width are one column, and other types only with themselves: write the files with one type")
			return nil, nil, e
		}
		order[at] = int32(i)
		sameOrder = sameOrder && at == i
	}
	for at, i := range order {
		if i < 0 && !b.union {
			message := "this file lacks the column, %s has it"
			if naming.HaveSharedName(b.Leaves[at]) {
				message = "this file has fewer columns of this name than %s"
			}
			return nil, nil, addUnionOptionRemedy(ErrMismatch(path, b.Leaves[at].Name, message, reference))
		}
	}
	if sameOrder {
		return nil, nil, nil
	}
	return b.internOrder(order), added, nil
}

func addUnionOptionRemedy(e *stream.DataError) *stream.DataError {
	e.Remedy = stream.Textf("all files of an input must have the same columns; with {+union-by-name} a column is null where a file lacks it")
	return e
}

func (b *catalogBuilder) addLeaf(path string, l format.Leaf, name naming.LeafName) {
	at := len(b.Leaves)
	b.index[name], b.HasMixedTypes = at, true
	if l.Refused {
		b.FirstRefusal[at] = path
	}
	l.Nulls = sumNullCounts(l.Nulls, b.Rows)
	b.Leaves = append(b.Leaves, l)
}

func (b *catalogBuilder) padOrdersForLaterLeaves() {
	for i := range b.Files {
		f, n := &b.Files[i], b.leafCounts[i]
		if n == len(b.Leaves) {
			continue
		}
		order := make([]int32, 0, len(b.Leaves))
		for at := range n {
			order = append(order, int32(f.LeafIndex(at)))
		}
		for len(order) < len(b.Leaves) {
			order = append(order, -1)
		}
		f.Order = b.internOrder(order)
	}
}

// DecideUnionGroups evaluates the condition on the row groups of all files of a union. The columns of a union are known
// only after all footers have been read, so the footers are read twice.
func (c *Catalog) DecideUnionGroups(ctx context.Context, memory int64) error {
	if c.Filter == nil {
		return nil
	}
	if err := c.Filter.BindColumns(c.FileName(0), c.Leaves); err != nil {
		return err
	}
	for i := range c.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := &c.Files[i]
		opened, _, err := c.ReopenFile(ctx, i, memory, nil)
		if err != nil {
			return err
		}
		f.Outcomes, err = c.Filter.groupOutcomes(c.List, i, c.List.EntryAt(i), opened, f.LeafIndex)
		if err == nil && f.Bytes != nil {
			f.Bytes = groupBytesToRead(opened, f.Outcomes)
		}
		opened.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// ErrMismatch returns the error for a column of the file at path that differs from the same column of earlier files.
func ErrMismatch(path, column, format string, args ...any) *stream.DataError {
	e := stream.Dataf(path, format, args...)
	e.Column = column
	e.Remedy = stream.Textf("all files of an input must have the same columns")
	return e
}

// internOrder returns the stored column order that is equal to order. If there is none, it stores and returns order.
func (b *catalogBuilder) internOrder(order []int32) []int32 {
	key := make([]byte, 0, 4*len(order))
	for _, i := range order {
		key = append(key, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
	}
	if stored, ok := b.orders[string(key)]; ok {
		return stored
	}
	b.orders[string(key)] = order
	return order
}

// canMixTypes reports whether two types that do not agree may be in one column, such as text and timestamps. A column
// of either type is not a feature.
func canMixTypes(a, b format.Leaf) bool {
	never := func(l format.Leaf) bool { return l.Why != "" && !l.Refused && !l.List && l.Type != "map" }
	return never(a) && never(b)
}

// mixedType is the Leaf.Type of a column whose types in different files do not agree.
const mixedType = "mixed"

// mergeTypes merges the type of l, a leaf of a further file, into d, a leaf of the dataset. matchLeaves has checked
// that they may be one column.
func mergeTypes(path string, d, l *format.Leaf) {
	if l.Type == d.Type {
		return
	}
	typ, agree := format.CommonType(d.Type, l.Type)
	switch {
	case !agree:
		d.Why = fmt.Sprintf("%s in %s, and another type in files before it", l.Type, path)
		d.NoClass, typ = d.Why, mixedType
	case d.NoClass == "" && l.NoClass == "" && !format.SameText(d.Type, l.Type):
		d.NoClass = fmt.Sprintf("it is %s in %s and %s in files before it, which write equal values differently", l.Type, path, d.Type)
	}
	d.Type = typ
}

func mergeTimeUnits(path string, merged, fromFile *format.Leaf) {
	if merged.UTC != fromFile.UTC && merged.NoClass == "" {
		merged.NoClass = fmt.Sprintf("its times are in UTC in %s and not in files before it, or the other way round", path)
		merged.Why = merged.NoClass
	}
	if merged.PerSecond != fromFile.PerSecond {
		merged.PerSecond = 0
	}
}

func (b *catalogBuilder) mergeMetadataOfKnownLeaves(path string, f *File, leaves []format.Leaf, knownLeaves int) {
	for at := range knownLeaves {
		d, here := &b.Leaves[at], f.LeafIndex(at)
		if here < 0 {
			d.Nulls = sumNullCounts(d.Nulls, f.CountRows())
			b.HasMixedTypes = true
			continue
		}
		l := &leaves[here]
		b.HasMixedTypes = b.HasMixedTypes || d.Type != l.Type
		sharing := naming.HaveSharedName(*d, *l)
		mergeTypes(path, d, l)
		mergeTimeUnits(path, d, l)
		if _, known := b.FirstRefusal[at]; l.Refused && !known {
			b.FirstRefusal[at] = path
			d.Refused, d.Why = true, l.Why
		}
		switch {
		case !l.List && d.Why == "": // l.Why may be set, as for the label of libsvm text without labels
			d.Why = l.Why
		case !l.List || l.Refused || d.Refused:
		case d.Why == "" && l.Why != "":
			d.Width, d.Why = 0, l.Why
		case d.Why == "" && d.Width != l.Width:
			d.Width, d.Why = 0, format.WhyVarying
		}
		if d.NoClass == "" {
			d.NoClass = l.NoClass
		}
		switch {
		case d.NoEntries != "":
		case l.NoEntries != "":
			d.Entries, d.NoEntries = "", fmt.Sprintf("in %s, %s", path, l.NoEntries)
		case d.TextKeys != l.TextKeys:
			d.Entries, d.NoEntries = "", fmt.Sprintf("its keys are texts in %s or in files before it, and integers elsewhere", path)
		case d.Entries != l.Entries:
			d.NoEntries = fmt.Sprintf("the values are %s in %s but %s in files before it", l.Entries, path, d.Entries)
			d.Entries = ""
		}
		d.Nulls = sumNullCounts(d.Nulls, l.Nulls)
		d.MaybeNaN, d.Index = d.MaybeNaN || l.MaybeNaN, d.Index || l.Index
		d.Scratch, d.TextScratch = max(d.Scratch, l.Scratch), max(d.TextScratch, l.TextScratch)
		d.Packed, d.PerRow = max(d.Packed, l.Packed), max(d.PerRow, l.PerRow)
		if sharing {
			naming.LeaveOutSharedLeaf(d)
		}
	}
}

func sumNullCounts(known, b int64) int64 {
	if known < 0 || b < 0 {
		return -1
	}
	return known + b
}

// TypesAgree implements chunkio.TypesAgree: it returns the common type of a column with the types a and b in two files.
func TypesAgree(a, b string) (typ string, ok bool) { return format.CommonType(a, b) }

// dropKeyColumns marks the columns of a file that have the name of a partition key with NoColumn: some writers store a
// key in the files too. All values of such a column must be equal to the value of the key in the path. The key stays a
// column of the dataset.
func (b *catalogBuilder) dropKeyColumns(ctx context.Context, path string, opened format.File, names []naming.LeafName, keys, values []string, memory int64) error {
	for i := range names {
		k := slices.Index(keys, names[i].Name)
		if k < 0 || names[i].Nth == naming.NoColumn {
			continue
		}
		names[i].Nth = naming.NoColumn
		if opened.Leaves()[i].Type == "string" {
			b.textKeys[keys[k]] = true
		}
		needed := b.isUnused == nil || !b.isUnused(keys[k])
		if b.Filter != nil && !needed {
			_, needed = b.Filter.Keys[keys[k]]
		}
		if !needed {
			continue
		}
		if err := (&keyColumnCheck{path: path, file: opened, leaf: i, key: keys[k], want: values[k], memory: memory}).compareAllGroupsWithKey(ctx); err != nil {
			return err
		}
	}
	return nil
}

// HasDecimals reports whether a leaf has decimals by the schema of the table.
func (c *Catalog) HasDecimals(leaf int) bool {
	if c.List.Schema == nil {
		return false
	}
	typ, _ := c.List.Schema.ColumnType(c.Leaves[leaf].ColumnPath())
	return strings.HasPrefix(strings.TrimPrefix(typ, "list<"), "decimal(")
}
