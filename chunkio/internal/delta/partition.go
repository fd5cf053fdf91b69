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

// joinPartition finds or creates the partition with these values, and counts a file in it.
func (s *state) joinPartition(table string, values []pair) (*partition, error) {
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
	p := s.partitions[string(s.text)]
	if p == nil {
		// The key is built from the values, so it may be as long as they are. Names and values may be substrings of a
		// line, and would keep the whole line in memory.
		p = &partition{values: slices.Clone(values), key: string(s.text), cost: partitionBytes + valueBytes*int64(len(values)) + 2*int64(len(s.text))}
		if err := s.budget.reserve(p.cost, table); err != nil {
			return nil, err
		}
		s.partitions[p.key] = p
	}
	p.files++
	return p, nil
}

func (s *state) leavePartition(p *partition) {
	if p.files--; p.files == 0 {
		s.budget.release(p.cost)
		delete(s.partitions, p.key)
	}
}

// columnValues returns the values of a partition by the names of the table's columns. An empty string means null, for
// every type, and so does a missing value: a file may be older than the column.
func (p *partition) columnValues(names []string) []*string {
	if len(names) == 0 {
		return nil
	}
	values := make([]*string, len(names))
	for i, name := range names {
		at := slices.IndexFunc(p.values, func(v pair) bool { return v.name == name })
		if at < 0 { // names of columns differ by more than the case of their letters
			at = slices.IndexFunc(p.values, func(v pair) bool { return strings.EqualFold(v.name, name) })
		}
		if at >= 0 && p.values[at].value != nil && *p.values[at].value != "" {
			values[i] = p.values[at].value
		}
	}
	return values
}
