package delta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// partition is one set of partition values, shared by the files that have it.
type partition struct {
	values []pair
	files  int
	key    string
	cost   int64
}

// pair is the value of one partition column; nil is null.
type pair struct {
	name  string
	value *string
}

// partition finds or makes the partition of these values, and counts a file to it.
func (s *state) partition(table string, values []pair) (*partition, error) {
	if len(values) > 1 {
		slices.SortFunc(values, func(a, b pair) int { return cmp.Compare(a.name, b.name) })
	}
	s.text = s.text[:0]
	for _, v := range values {
		s.text = fmt.Appendf(s.text, "%d:%s", len(v.name), v.name)
		if v.value != nil {
			s.text = fmt.Appendf(s.text, "%d:%s", len(*v.value), *v.value)
		} else {
			s.text = append(s.text, '-')
		}
	}
	p := s.parts[string(s.text)]
	if p == nil {
		// The key and the values are as long; names and values may stand in a line that they keep.
		p = &partition{values: slices.Clone(values), key: string(s.text), cost: partitionBytes + valueBytes*int64(len(values)) + 2*int64(len(s.text))}
		if err := s.budget.use(p.cost, table); err != nil {
			return nil, err
		}
		s.parts[p.key] = p
	}
	p.files++
	return p, nil
}

// leave takes a file out of its partition.
func (s *state) leave(p *partition) {
	if p.files--; p.files == 0 {
		s.budget.free(p.cost)
		delete(s.parts, p.key)
	}
}

// resolve are the values of a partition by the names of the table's columns. An empty
// string means null, whatever the type, and so does a column that is not named: a file may
// be older than the column.
func (p *partition) resolve(names []string) []*string {
	if len(names) == 0 {
		return nil
	}
	values := make([]*string, len(names))
	for i, name := range names {
		at := slices.IndexFunc(p.values, func(v pair) bool { return v.name == name })
		if at < 0 { // names of columns do not differ by case alone
			at = slices.IndexFunc(p.values, func(v pair) bool { return strings.EqualFold(v.name, name) })
		}
		if at >= 0 && p.values[at].value != nil && *p.values[at].value != "" {
			values[i] = p.values[at].value
		}
	}
	return values
}
