package merging

import (
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

// The columns of merged files are matched by name, by the same rules as when all data are read at once. Numeric types
// of different widths can be matched. It is an error if a column is a feature in one file and not in another. The sum,
// i.e. the result of the merge, has the column order of the file whose first input has the lowest path, whatever the
// order of the files.

// matchColumns finds the features of header a in header b. Feature j of a is feature order[j] of b. order is nil if
// both headers have the same order. An error names a column that is missing in a or b.
func matchColumns(a, b chunkio.StatsHeader) (order []int, err error) {
	if slices.Equal(a.Columns, b.Columns) {
		return nil, nil
	}
	index := make(map[string]int, len(b.Columns))
	for j, c := range b.Columns {
		index[c.Name] = j
	}
	same := true
	for j, c := range a.Columns {
		k, ok := index[c.Name]
		if !ok {
			return nil, errLacksColumn("second", c, b)
		}
		if _, ok := chunkio.TypesAgree(c.Type, b.Columns[k].Type); !ok {
			return nil, stream.Usagef("their columns differ: %q is %s in the first and %s in the second", c.Name, c.Type, b.Columns[k].Type)
		}
		delete(index, c.Name)
		order, same = append(order, k), same && k == j
	}
	for _, c := range b.Columns {
		if _, left := index[c.Name]; left {
			return nil, errLacksColumn("first", c, a)
		}
	}
	if same {
		return nil, nil
	}
	return order, nil
}

func errLacksColumn(which string, c stream.Column, h chunkio.StatsHeader) error {
	for _, l := range h.Decided {
		if l.Name == c.Name {
			return stream.Usagef("their columns differ: %q is useless in the %s (%s), and each part left out its own useless columns: make one profile of all parts (scan {profile-only}, merge) and scan them with {profile}", c.Name, which, l.Why)
		}
	}
	for _, l := range h.LeftOut {
		if l.Name == c.Name {
			return stream.Usagef("their columns differ: %q is a feature, but not in the %s (%s); leave it out of both with {exclude}, or write it with one type", c.Name, which, l.Why)
		}
	}
	if c.Block != "" || chunkio.IsIndicator(c.Name) {
		return stream.Usagef("their columns differ: the %s has no %q, which is made from values of the data; scan all data in shards ({shard}) or by a plan, which know all of it", which, c.Name)
	}
	return stream.Usagef("their columns differ: the %s has no %q, and products with a missing column cannot be added afterwards; scan the data again with {union-by-name}, all of it in shards ({shard}) or by a plan, which know all columns", which, c.Name)
}

// sumColumns collects the columns of the sum from the headers read so far. The header that is read first is the
// compared header, to which all other headers are matched.
type sumColumns struct {
	types            []stream.Column     // columns of the compared header, with types that suit all files
	first            chunkio.StatsHeader // header of the file that determines the column order
	firstPath        string              // path of that file
	order            []int               // index in first of each column of the compared header
	leftOut, decided leftOutCollector    // StatsHeader.LeftOut and StatsHeader.Decided of all files
}

// addHeader adds the columns of header h. Column order[j] of h is column j of the compared header. It returns the bytes
// of memory that it holds for h.
func (s *sumColumns) addHeader(path string, h chunkio.StatsHeader, order []int) (bytes int64) {
	bytes = s.leftOut.addColumns(h.LeftOut) + s.decided.addColumns(h.Decided)
	if s.types == nil {
		s.types, s.first, s.firstPath = h.Columns, h, path
		return bytes
	}
	if len(h.Inputs) > 0 && (len(s.first.Inputs) == 0 || h.Inputs[0].Path < s.first.Inputs[0].Path) {
		s.first, s.firstPath, s.order = h, path, order
	}
	if slices.Equal(s.types, h.Columns) {
		return bytes
	}
	s.types = slices.Clone(s.types)
	for j, c := range s.types {
		s.types[j].Type, _ = chunkio.TypesAgree(c.Type, h.Columns[columnInOrder(order, j)].Type)
	}
	return bytes
}

func columnInOrder(columnOrder []int, column int) int {
	if columnOrder == nil {
		return column
	}
	return columnOrder[column]
}

// settleColumns sets the columns of the sum. The column orders of the files, which refer to the columns of the compared
// header, are converted to refer to the columns of the sum.
func settleColumns(m *merger, s *sumColumns) {
	m.firstBundle, m.firstPath = statistics.NewBundle(s.first), s.firstPath
	m.header.LeftOut, m.header.Decided = s.leftOut.list(s.first.LeftOut), s.decided.list(s.first.Decided)
	m.header.Columns = slices.Clone(s.first.Columns)
	for j, c := range s.types {
		m.header.Columns[columnInOrder(s.order, j)].Type = c.Type
	}
	if s.order == nil {
		return
	}
	known := make(map[*int][]int) // new order by the address of the old order, because many files share one order
	for i := range m.files {
		f := &m.files[i]
		var key *int
		if f.columnOrder != nil {
			key = &f.columnOrder[0]
		}
		order, ok := known[key]
		if !ok {
			order = make([]int, len(s.types))
			same := true
			for j := range s.types {
				order[columnInOrder(s.order, j)] = columnInOrder(f.columnOrder, j)
				same = same && columnInOrder(s.order, j) == columnInOrder(f.columnOrder, j)
			}
			if same {
				order = nil
			}
			known[key] = order
		}
		f.columnOrder = order
	}
}

// leftOutCollector collects the columns that are not features in some merged file. Each name occurs as often as in the
// file that repeats it most. If files give different reasons for a name, the collected reason is that columns share the
// name, which Select refuses, or else the first reason in alphabetical order. So the result does not depend on the
// order of the files.
type leftOutCollector struct {
	columns  map[string]leftOutEntry
	previous []stream.LeftOut // list of the previous file, because most files have the same list
}

type leftOutEntry struct {
	why   string
	times int
}

func (l *leftOutCollector) addColumns(columns []stream.LeftOut) (bytes int64) {
	if slices.Equal(l.previous, columns) {
		return 0
	}
	if l.previous = columns; l.columns == nil {
		l.columns = make(map[string]leftOutEntry)
	}
	times := make(map[string]int, len(columns))
	for _, c := range columns {
		times[c.Name]++
		known, ok := l.columns[c.Name]
		if !ok {
			bytes += nameBytes + int64(len(c.Name)+len(c.Why))
		}
		if !ok || known.why != chunkio.SharedName && (c.Why == chunkio.SharedName || c.Why < known.why) {
			known.why = c.Why
		}
		known.times = max(known.times, times[c.Name])
		l.columns[c.Name] = known
	}
	return bytes
}

// list lists the collected columns: first the columns in first, in their order, and then all other columns by name.
func (l *leftOutCollector) list(first []stream.LeftOut) (all []stream.LeftOut) {
	others := maps.Clone(l.columns)
	take := func(name string) {
		c := others[name]
		delete(others, name)
		for range c.times {
			all = append(all, stream.LeftOut{Name: name, Why: c.why})
		}
	}
	for _, c := range first {
		take(c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		take(name)
	}
	return all
}
