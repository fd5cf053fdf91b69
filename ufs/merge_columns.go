package ufs

import (
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Columns of files that are merged are matched by name, by the rule that one read of all the data
// has: numbers of any width are one column, and a column that is a feature in one file and not in
// another is an error. The columns of the sum stand in the order of the file whose first input has
// the lowest path, as one read has them, in whatever order the files are named.

// matchColumns finds the features of a file's header in another: order[j] is where a's feature j
// stands in b, and nil where all stand alike. An error says which column is not in both.
func matchColumns(a, b chunkio.StatsHeader) (order []int, err error) {
	if slices.Equal(a.Columns, b.Columns) {
		return nil, nil
	}
	at := make(map[string]int, len(b.Columns))
	for j, c := range b.Columns {
		at[c.Name] = j
	}
	same := true
	for j, c := range a.Columns {
		k, ok := at[c.Name]
		if !ok {
			return nil, lacks("second", c, b)
		}
		if _, ok := chunkio.TypesAgree(c.Type, b.Columns[k].Type); !ok {
			return nil, stream.Usagef("their columns differ: %q is %s in the first and %s in the second", c.Name, c.Type, b.Columns[k].Type)
		}
		delete(at, c.Name)
		order, same = append(order, k), same && k == j
	}
	for _, c := range b.Columns {
		if _, left := at[c.Name]; left {
			return nil, lacks("first", c, a)
		}
	}
	if same {
		return nil, nil
	}
	return order, nil
}

// lacks is the error of a column that is a feature in one of two files only.
func lacks(which string, c stream.Column, h chunkio.StatsHeader) error {
	for _, l := range h.Decided {
		if l.Name == c.Name {
			return stream.Usagef("their columns differ: %q is useless in the %s (%s), and each part left out what is useless in it: make one profile of all parts (scan {profile-only}, merge) and scan them with {profile}", c.Name, which, l.Why)
		}
	}
	for _, l := range h.LeftOut {
		if l.Name == c.Name {
			return stream.Usagef("their columns differ: %q is a feature, but not in the %s (%s); leave it out of both with {exclude}, or write it with one type", c.Name, which, l.Why)
		}
	}
	if c.Block != "" || chunkio.IsIndicator(c.Name) {
		return stream.Usagef("their columns differ: the %s has no %q, which is made of what the data hold; scan all data in shards ({shard}) or by a plan, which know all of it", which, c.Name)
	}
	return stream.Usagef("their columns differ: the %s has no %q, and products with what was not there cannot be added afterwards; scan the data again with {union-by-name}, all of it in shards ({shard}) or by a plan, which know all columns", which, c.Name)
}

// sumColumns are the columns of a sum, as far as headers were read.
type sumColumns struct {
	types            []stream.Column     // those of the file that all others are compared with, of types that hold all
	first            chunkio.StatsHeader // of the file whose first input has the lowest path: it gives the order
	firstPath        string              // of that file
	order            []int               // how the compared one's columns stand in it
	leftOut, decided leftOutOfAny
}

// add adds the columns of a file's header, in which those of the first stand by order, and returns the bytes that are held
// for it.
func (s *sumColumns) add(path string, h chunkio.StatsHeader, order []int) (bytes int64) {
	bytes = s.leftOut.add(h.LeftOut) + s.decided.add(h.Decided)
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
		s.types[j].Type, _ = chunkio.TypesAgree(c.Type, h.Columns[placeIn(order, j)].Type)
	}
	return bytes
}

// placeIn is where column j stands in an order, which is nil for the same.
func placeIn(order []int, j int) int {
	if order == nil {
		return j
	}
	return order[j]
}

// settleColumns gives the sum its columns. The order of every file, which was one from the columns of
// the file that all were compared with, becomes one from those.
func (m *merger) settleColumns(s *sumColumns) {
	m.first, m.firstPath = recordedIn(s.first), s.firstPath
	m.head.LeftOut, m.head.Decided = s.leftOut.list(s.first.LeftOut), s.decided.list(s.first.Decided)
	m.head.Columns = slices.Clone(s.first.Columns)
	for j, c := range s.types {
		m.head.Columns[placeIn(s.order, j)].Type = c.Type
	}
	if s.order == nil {
		return
	}
	known := make(map[*int][]int) // by the order before, nil too: many files share one
	for i := range m.files {
		f := &m.files[i]
		var key *int
		if f.order != nil {
			key = &f.order[0]
		}
		order, ok := known[key]
		if !ok {
			order = make([]int, len(s.types))
			same := true
			for j := range s.types {
				order[placeIn(s.order, j)] = placeIn(f.order, j)
				same = same && placeIn(s.order, j) == placeIn(f.order, j)
			}
			if same {
				order = nil
			}
			known[key] = order
		}
		f.order = order
	}
}

// leftOutOfAny are the columns that are no features of any of the files that are merged, each as often as in the file
// that has most of its name. Of reasons that differ one stands, so that the files may come in any order: that the name is
// shared, which selecting refuses it for, and else the first in the alphabet.
type leftOutOfAny struct {
	columns map[string]leftOutAs
	one     []stream.LeftOut // of the file before, which most files' are
}

type leftOutAs struct {
	why   string
	times int
}

// add adds those of one file, and returns the bytes that are held for it.
func (l *leftOutOfAny) add(columns []stream.LeftOut) (bytes int64) {
	if slices.Equal(l.one, columns) {
		return 0
	}
	if l.one = columns; l.columns == nil {
		l.columns = make(map[string]leftOutAs)
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

// list lists them: those of one file in its order, then what only others have, by name.
func (l *leftOutOfAny) list(first []stream.LeftOut) (all []stream.LeftOut) {
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

// takePositions says of the columns of a sum where they stand in the input, as first, the file that gives them their order,
// has them: one read of all inputs has them in the order of the first too. What other files alone leave out has no position.
func (e *bundle) takePositions(first *bundle) {
	e.places = first.places
	for j, c := range first.columns {
		e.columns[j].Position = c.Position
	}
	at := make(map[string][]stream.Position, len(first.leftOut))
	for _, l := range first.leftOut {
		at[l.Name] = append(at[l.Name], l.Column)
	}
	for i := range e.leftOut {
		l := &e.leftOut[i]
		if list := at[l.Name]; len(list) > 0 {
			l.Column, at[l.Name] = list[0], list[1:]
		}
	}
}

// orderedAs makes the columns of e those of the sum: column j is what order[j] was in its file.
func (e *bundle) orderedAs(order []int) {
	if order == nil {
		return
	}
	if e.moments != nil { // the profile among them
		e.moments.Reorder(order)
	} else {
		e.profile.Reorder(order)
	}
	if e.raw != nil {
		e.raw.Reorder(order)
	}
	if e.sample != nil {
		e.sample.Reorder(order)
	}
	if e.rows != nil {
		e.rows.Reorder(order)
	}
	if e.spread != nil {
		e.spread.Reorder(order)
	}
	if e.ranks != nil {
		e.ranks.Reorder(order)
	}
	if e.hashed != nil {
		for _, m := range e.hashed.moments {
			m.Reorder(order)
		}
	}
}
