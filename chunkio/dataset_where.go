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
	keys      map[string]where.Kind // by name: types of the partition keys that occur in the condition
	allKeys   []string              // all partition keys
	bound     *where.Bound          // condition bound to the types of keys and, after the first footer is read, of columns
	columns   []filterColumn
	firstPath string // path of the file whose footer was read first
	samples   sampleMemo
}

// filterColumn is a column that the condition compares.
type filterColumn struct {
	name    string
	kind    where.Kind
	leaf    int  // index among the leaves of the dataset
	element int  // index in a list; -1 if the condition names the whole list
	utc     bool // its times are in UTC
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

// pruneFiles leaves out the files that the condition excludes by their partition keys. A key is compared as a number if
// all its values are numbers, and as a boolean if all are booleans, even if some of these values occur only in files
// that are left out.
func (f *filter) pruneFiles(list *fileList) (*fileList, error) {
	if f == nil {
		return list, nil
	}
	seen, err := f.scanKeyValues(list)
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
		state, err := f.newStateWithKeys(bound, list, i, path)
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
	hasMore              bool // there are more values than examples
	allNumbers, allBools bool // all values so far are numbers; all values so far are booleans
	hasValue             bool // at least one value is not null
}

func (k *keyValues) String() string {
	s := k.key + " = " + strings.Join(k.examples, ", ")
	if k.hasMore {
		s += ", …"
	}
	return s
}

func (k *keyValues) addValue(value string) {
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
		_, err := parseBoolNumber(value)
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

func (f *filter) scanKeyValues(list *fileList) ([]*keyValues, error) {
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
				numbers, truths := possibleKeyKinds(list.keyType(key))
				at, seen = len(seen), append(seen, &keyValues{key: key, allNumbers: numbers, allBools: truths})
			}
			seen[at].addValue(values[k])
		}
	}
	for _, k := range seen {
		f.keys[k.key] = k.keyKind()
	}
	return seen, nil
}

func (f *filter) newStateWithKeys(b *where.Bound, list *fileList, i int, path string) (where.State, error) {
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
	f.firstPath, f.columns = path, nil // an earlier call may have bound the condition to a file that was then left out
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

// groupOutcomes returns the outcome of the condition for each row group of file i of the list, as far as partition keys
// and statistics decide it. leafInFile maps the index of a leaf of the dataset to its index in the file, or -1 if the
// file lacks it.
func (f *filter) groupOutcomes(list *fileList, i int, e fileEntry, opened format.File, leafInFile func(leaf int) int) ([]where.Outcome, error) {
	leaves := opened.Leaves()
	if !slices.ContainsFunc(opened.GroupRows(), func(rows int64) bool { return rows > 0 }) { // without rows the types do not count
		return make([]where.Outcome, len(opened.GroupRows())), nil
	}
	for _, c := range f.columns {
		if leafInFile(c.leaf) < 0 {
			continue // the column is null in all rows
		}
		here := leaves[leafInFile(c.leaf)]
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
	start, err := f.newStateWithKeys(f.bound, list, i, e.path)
	if err != nil {
		return nil, err
	}
	outcomes := make([]where.Outcome, len(opened.GroupRows()))
	for g := range outcomes {
		outcomes[g] = f.bound.Outcome(f.addGroupStatistics(slices.Clone(start), opened, g, leafInFile))
	}
	return outcomes, nil
}

func (f *filter) addGroupStatistics(state where.State, opened format.File, group int, leafInFile func(leaf int) int) where.State {
	bounded, ok := opened.(format.Bounded)
	for _, c := range f.columns {
		switch here := leafInFile(c.leaf); {
		case here < 0:
			f.bound.AddBounds(state, c.name, format.Bounds{Rows: 1, Nulls: 1}) // the column is null in every row
		case ok:
			f.bound.AddBounds(state, c.name, bounded.Bounds(group, here))
		}
	}
	return state
}

// errNoMatch returns the error of an input without a row for which the condition is true. The error names no file.
func (f *filter) errNoMatch() error {
	return stream.Dataf("", "no row is left: {where} %s is true of none", f.condition)
}
