package catalog

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Filter is Options.Where for one input. It is evaluated in three steps: on the keys of paths before footers are read,
// on the statistics in footers, and finally on the rows.
type Filter struct {
	condition *condition.Condition
	Keys      map[string]where.Kind // by name: types of the partition keys that occur in the condition
	AllKeys   []string              // all partition keys
	Bound     *where.Bound          // condition bound to the types of keys and, after the first footer is read, of columns
	Columns   []FilterColumn
	firstPath string // path of the file whose footer was read first
	samples   sampleMemo
}

// FilterColumn is a column that the condition of a Filter compares.
type FilterColumn struct {
	Name    string
	Kind    where.Kind
	Leaf    int  // index among the leaves of the dataset
	Element int  // index in a list; -1 if the condition names the whole list
	utc     bool // its times are in UTC
}

// NewFilter parses a condition on rows. The result is nil if the text is empty.
func NewFilter(text string) (*Filter, error) {
	if text == "" {
		return nil, nil
	}
	c, err := condition.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Filter{condition: c, Keys: map[string]where.Kind{}}, nil
}

// PruneFiles leaves out the files that the condition excludes by their partition keys. A key is compared by its type in the
// schema of the table. Without a schema, it is compared as a number if all its values are numbers, and as a boolean if all
// are booleans, even if some of these values occur only in files that are left out.
func (f *Filter) PruneFiles(list *listing.List) (*listing.List, error) {
	if f == nil {
		return list, nil
	}
	seen, err := f.scanKeyValues(list)
	if err != nil || len(seen) == 0 {
		return list, err
	}
	bound, err := where.Bind(f.condition, func(name string) (where.Kind, bool) {
		k, ok := f.Keys[name]
		return k, ok
	})
	if err != nil {
		return nil, err
	}
	var failed error
	pruned := list.FilterEntries(func(i int, path string) bool {
		state, err := f.NewStateWithKeys(bound, list, i, path)
		if err != nil && failed == nil {
			failed = err
		}
		return err == nil && !bound.Outcome(state).MatchesNone()
	})
	switch {
	case failed != nil:
		return nil, failed
	case pruned.Count > 0 || list.Count == 0:
		return pruned, nil
	}
	exist := convert.Each(seen, func(k *keyValues) string { return k.String() })
	e := stream.Dataf("", "{where} %s leaves none of the %d files, by their partition keys", f.condition, list.Count)
	e.Remedy = stream.PlainText("there are " + strings.Join(exist, "; "))
	return nil, e
}

// keyValues contains a partition key of the condition and some of its values.
type keyValues struct {
	key                  string
	examples             []string
	hasMore              bool       // there are more values than examples
	allNumbers, allBools bool       // all values so far are numbers; all values so far are booleans
	hasValue             bool       // at least one value is not null
	declared             where.Kind // by the schema of the table; Other if there is none
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
	if value == listing.HiveNull {
		return
	}
	k.hasValue = true
	if k.allNumbers {
		_, err := ParseDecimal(value)
		k.allNumbers = err == nil
	}
	if k.allBools {
		_, err := ParseBoolNumber(value)
		k.allBools = err == nil
	}
}

func (k *keyValues) comparisonKindOfKey() where.Kind {
	switch {
	case k.declared.Class != where.Other:
		return k.declared
	case k.hasValue && k.allNumbers:
		return where.Kind{Class: where.KeyNumber}
	case k.hasValue && k.allBools:
		return where.Kind{Class: where.KeyTruth}
	}
	return where.Kind{Class: where.KeyText}
}

func kindOfKeyType(typ string) where.Kind {
	switch typ {
	case "":
		return where.Kind{}
	case "date":
		return where.Kind{Class: where.KeyDate}
	case "timestamp", "timestamp_ntz":
		return where.Kind{Class: where.KeyTime, UTC: typ == "timestamp"}
	}
	switch number, truth := keyKindsAllowedByType(typ); {
	case number:
		return where.Kind{Class: where.KeyNumber}
	case truth:
		return where.Kind{Class: where.KeyTruth}
	}
	return where.Kind{Class: where.KeyText}
}

func (f *Filter) scanKeyValues(list *listing.List) ([]*keyValues, error) {
	names := f.condition.Columns()
	var seen []*keyValues
	for i, e := range list.Entries() {
		keys, values, err := list.PartitionValues(i, e.Path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			f.AllKeys = keys
		}
		for k, key := range keys {
			if !slices.Contains(names, key) {
				continue
			}
			at := slices.IndexFunc(seen, func(s *keyValues) bool { return s.key == key })
			if at < 0 {
				at, seen = len(seen), append(seen, &keyValues{key: key, allNumbers: true, allBools: true, declared: kindOfKeyType(list.KeyType(key))})
			}
			if values[k] != listing.HiveNull && !seen[at].declared.AcceptsKey(values[k]) {
				e := stream.Dataf(place.DisplayName(e.Path), "its partition value %q is no %s, as the key is in the schema of the table", values[k], list.KeyType(key))
				e.Column, e.Remedy = key, stream.Textf("have the table's writer correct the value, or leave the key out of {where}")
				return nil, e
			}
			seen[at].addValue(values[k])
		}
	}
	for _, k := range seen {
		f.Keys[k.key] = k.comparisonKindOfKey()
	}
	return seen, nil
}

// NewStateWithKeys returns the state of the condition for file i, decided by the partition keys.
func (f *Filter) NewStateWithKeys(b *where.Bound, list *listing.List, i int, path string) (where.State, error) {
	state := b.NewState()
	if len(f.Keys) == 0 {
		return state, nil
	}
	keys, values, err := list.PartitionValues(i, path)
	for k, key := range keys {
		b.AddKey(state, key, values[k], values[k] == listing.HiveNull)
	}
	return state, err
}

// BindColumns binds the condition to the columns of the first file.
func (f *Filter) BindColumns(path string, leaves []format.Leaf) error {
	f.firstPath, f.Columns = path, nil // an earlier call may have bound the condition to a file that was then left out
	for _, name := range f.condition.Columns() {
		if _, isKey := f.Keys[name]; isKey {
			continue
		}
		c, err := findFilterColumn(name, leaves, f.AllKeys)
		if err != nil {
			return err
		}
		f.Columns = append(f.Columns, c)
	}
	var err error
	f.Bound, err = where.Bind(f.condition, func(name string) (where.Kind, bool) {
		if k, ok := f.Keys[name]; ok {
			return k, true
		}
		c := f.Columns[slices.IndexFunc(f.Columns, func(c FilterColumn) bool { return c.Name == name })]
		return c.Kind, true
	})
	return err
}

// groupOutcomes returns the outcome of the condition for each row group of file i of the list, as far as partition keys
// and statistics decide it. leafInFile maps the index of a leaf of the dataset to its index in the file, or -1 if the
// file lacks it.
func (f *Filter) groupOutcomes(list *listing.List, i int, e storage.Entry, opened format.File, leafInFile func(leaf int) int) ([]where.Outcome, error) {
	leaves := opened.Leaves()
	if !slices.ContainsFunc(opened.GroupRows(), func(rows int64) bool { return rows > 0 }) { // without rows the types do not count
		return make([]where.Outcome, len(opened.GroupRows())), nil
	}
	for _, c := range f.Columns {
		if leafInFile(c.Leaf) < 0 {
			continue // the column is null in all rows
		}
		here := leaves[leafInFile(c.Leaf)]
		kind := comparisonKindOfLeaf(here)
		if c.Kind.Class == where.Lists {
			kind = comparisonKindOfList(here)
		}
		if kind.Type != c.Kind.Type && !kind.ComparesLike(c.Kind) {
			err := ErrMismatch(place.DisplayName(e.Path), c.Name, "it is %v here and %v in %s, and the condition of {where} compares values of one type", kind, c.Kind, f.firstPath)
			err.Remedy = stream.Textf("write the files with one type, or leave the column out of {where}")
			return nil, err
		}
		if here.UTC != c.utc {
			return nil, ErrMismatch(place.DisplayName(e.Path), c.Name, "its times are in UTC here and not in %s, or the other way round", f.firstPath)
		}
	}
	start, err := f.NewStateWithKeys(f.Bound, list, i, e.Path)
	if err != nil {
		return nil, err
	}
	outcomes := make([]where.Outcome, len(opened.GroupRows()))
	for g := range outcomes {
		outcomes[g] = f.Bound.Outcome(f.AddGroupStatistics(slices.Clone(start), opened, g, leafInFile))
	}
	return outcomes, nil
}

// AddGroupStatistics narrows the state of the condition by the statistics of a row group.
func (f *Filter) AddGroupStatistics(state where.State, opened format.File, group int, leafInFile func(leaf int) int) where.State {
	bounded, ok := opened.(format.Bounded)
	for _, c := range f.Columns {
		switch here := leafInFile(c.Leaf); {
		case here < 0:
			f.Bound.AddBounds(state, c.Name, format.Bounds{Rows: 1, Nulls: 1}) // the column is null in every row
		case ok:
			f.Bound.AddBounds(state, c.Name, bounded.Bounds(group, here))
		}
	}
	return state
}

// ErrNoMatch returns the error of an input without a row for which the condition is true. The error names no file.
func (f *Filter) ErrNoMatch() error {
	return stream.Dataf("", "no row is left: {where} %s is true of none", f.condition)
}

// BindStream binds the condition to a stream's columns. They must be numbers or booleans, because the dictionaries of
// texts may change with each batch.
func (f *Filter) BindStream(leaves []format.Leaf) error {
	if f == nil {
		return nil
	}
	if err := f.BindColumns(listing.StdinName, leaves); err != nil {
		return err
	}
	for _, c := range f.Columns {
		if !c.Kind.IsNumeric() {
			return stream.Usagef("{where}: column %s is %v; on standard input only numbers and booleans can be compared; save it to a file first", c.Name, c.Kind)
		}
	}
	return nil
}
