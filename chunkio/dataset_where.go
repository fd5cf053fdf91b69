package chunkio

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/condition"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// filter is Options.Where for one input. It is evaluated in three steps: on the keys of paths before footers are read,
// on the statistics in footers, and finally on the rows.
type filter struct {
	condition *condition.Condition
	keys      map[string]where.Kind // partition keys of the condition
	allKeys   []string              // all partition keys
	bound     *where.Bound          // bound also to the columns of the files after the first footer is read
	columns   []filterColumn
	firstPath string // path of the file with the first footer
	samples   sampleMemo
}

type filterColumn struct {
	name    string
	kind    where.Kind
	leaf    int // index in the dataset
	element int // index in a list
	utc     bool
}

func newFilter(text string) (*filter, error) {
	if text == "" {
		return nil, nil
	}
	c, err := condition.Parse(text)
	if err != nil {
		return nil, err
	}
	return &filter{condition: c, keys: map[string]where.Kind{}}, nil
}

// pruneFiles leaves out the files that the condition excludes by their partition keys. A key is compared as a number or
// a boolean if all its values are numbers or booleans, also in files left out.
func (f *filter) pruneFiles(list *fileList) (*fileList, error) {
	if f == nil {
		return list, nil
	}
	seen, err := f.scanKeys(list)
	if err != nil || len(seen) == 0 {
		return list, err
	}
	bound, err := where.Bind(f.condition, func(name string) (where.Kind, bool) {
		k, ok := f.keys[name]
		return k, ok
	})
	if err != nil {
		return nil, err
	}
	var failed error
	pruned := list.filterEntries(func(i int, path string) bool {
		state, err := f.keyState(bound, list, i, path)
		if err != nil && failed == nil {
			failed = err
		}
		return err == nil && !bound.Outcome(state).MatchesNone()
	})
	switch {
	case failed != nil:
		return nil, failed
	case pruned.count > 0 || list.count == 0:
		return pruned, nil
	}
	var exist []string
	for _, k := range seen {
		exist = append(exist, k.String())
	}
	e := stream.Dataf("", "{where} %s leaves none of the %d files, by their partition keys", f.condition, list.count)
	e.Remedy = stream.PlainText("there are " + strings.Join(exist, "; "))
	return nil, e
}

// keyValues contains a partition key of the condition and some of its values.
type keyValues struct {
	key                  string
	examples             []string
	hasMore              bool
	allNumbers, allBools bool // all values so far are numbers, or booleans
	hasValue             bool // a value is not null
}

func (k *keyValues) String() string {
	s := k.key + " = " + strings.Join(k.examples, ", ")
	if k.hasMore {
		s += ", …"
	}
	return s
}

func (k *keyValues) add(value string) {
	const shown = 5
	if !slices.Contains(k.examples, value) {
		if len(k.examples) == shown {
			k.hasMore = true
		} else {
			k.examples = append(k.examples, value)
		}
	}
	if value == hiveNull {
		return
	}
	k.hasValue = true
	if k.allNumbers {
		_, err := parseDecimal(value)
		k.allNumbers = err == nil
	}
	if k.allBools {
		_, err := parseBool(value)
		k.allBools = err == nil
	}
}

func (k *keyValues) keyKind() where.Kind {
	switch {
	case k.hasValue && k.allNumbers:
		return where.Kind{Class: where.KeyNumber}
	case k.hasValue && k.allBools:
		return where.Kind{Class: where.KeyTruth}
	}
	return where.Kind{Class: where.KeyText}
}

func (f *filter) scanKeys(list *fileList) ([]*keyValues, error) {
	names := f.condition.Columns()
	var seen []*keyValues
	for i, e := range list.entries() {
		keys, values, err := list.partitionValues(i, e.path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			f.allKeys = keys
		}
		for k, key := range keys {
			if !slices.Contains(names, key) {
				continue
			}
			at := slices.IndexFunc(seen, func(s *keyValues) bool { return s.key == key })
			if at < 0 {
				numbers, truths := possibleKinds(list.keyType(key))
				at, seen = len(seen), append(seen, &keyValues{key: key, allNumbers: numbers, allBools: truths})
			}
			seen[at].add(values[k])
		}
	}
	for _, k := range seen {
		f.keys[k.key] = k.keyKind()
	}
	return seen, nil
}

func (f *filter) keyState(b *where.Bound, list *fileList, i int, path string) (where.State, error) {
	state := b.NewState()
	if len(f.keys) == 0 {
		return state, nil
	}
	keys, values, err := list.partitionValues(i, path)
	for k, key := range keys {
		b.AddKey(state, key, values[k], values[k] == hiveNull)
	}
	return state, err
}

func (f *filter) bindColumns(path string, leaves []format.Leaf) error {
	f.firstPath, f.columns = path, nil // the earlier first file, if there was one, was left out
	for _, name := range f.condition.Columns() {
		if _, isKey := f.keys[name]; isKey {
			continue
		}
		c, err := findFilterColumn(name, leaves, f.allKeys)
		if err != nil {
			return err
		}
		f.columns = append(f.columns, c)
	}
	var err error
	f.bound, err = where.Bind(f.condition, func(name string) (where.Kind, bool) {
		if k, ok := f.keys[name]; ok {
			return k, true
		}
		c := f.columns[slices.IndexFunc(f.columns, func(c filterColumn) bool { return c.name == name })]
		return c.kind, true
	})
	return err
}

// groupOutcomes decides the row groups of file i of the list by keys and statistics. at maps leaves of the dataset to
// leaves of the file.
func (f *filter) groupOutcomes(list *fileList, i int, e fileEntry, opened format.File, at func(leaf int) int) ([]where.Outcome, error) {
	leaves := opened.Leaves()
	if !slices.ContainsFunc(opened.GroupRows(), func(rows int64) bool { return rows > 0 }) { // without rows, its types do not count
		return make([]where.Outcome, len(opened.GroupRows())), nil
	}
	for _, c := range f.columns {
		if at(c.leaf) < 0 {
			continue // the column is null in all rows
		}
		here := leaves[at(c.leaf)]
		kind := leafKind(here)
		if c.kind.Class == where.Lists {
			kind = listKind(here)
		}
		if kind.Type != c.kind.Type && !kind.ComparesLike(c.kind) {
			err := errMismatch(place.DisplayName(e.path), c.name, "it is %v here and %v in %s, and the condition of {where} compares values of one type", kind, c.kind, f.firstPath)
			err.Remedy = stream.Textf("write the files with one type, or leave the column out of {where}")
			return nil, err
		}
		if here.UTC != c.utc {
			return nil, errMismatch(place.DisplayName(e.path), c.name, "its times are in UTC here and not in %s, or the other way round", f.firstPath)
		}
	}
	start, err := f.keyState(f.bound, list, i, e.path)
	if err != nil {
		return nil, err
	}
	outcomes := make([]where.Outcome, len(opened.GroupRows()))
	for g := range outcomes {
		outcomes[g] = f.bound.Outcome(f.addStatistics(slices.Clone(start), opened, g, at))
	}
	return outcomes, nil
}

func (f *filter) addStatistics(state where.State, opened format.File, group int, at func(leaf int) int) where.State {
	bounded, ok := opened.(format.Bounded)
	for _, c := range f.columns {
		switch here := at(c.leaf); {
		case here < 0:
			f.bound.AddBounds(state, c.name, format.Bounds{Rows: 1, Nulls: 1}) // the column is null in every row, which decides
		case ok:
			f.bound.AddBounds(state, c.name, bounded.Bounds(group, here))
		}
	}
	return state
}

// errNoMatch returns the error of a whole input without a row for which the condition is true. It names no file.
func (f *filter) errNoMatch() error {
	return stream.Dataf("", "no row is left: {where} %s is true of none", f.condition)
}
