package delta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// partition is one set of partition values. All files with these values share it.
type partition struct {
	values []partitionValue
	files  int
	key    string
	cost   int64
}

// partitionValue is the name and the value of one partition column. A nil value is null.
type partitionValue struct {
	name  string
	value *string
}

// joinPartition finds or creates the partition with these values, and adds 1 to its number of files.
func (s *replayState) joinPartition(table string, values []partitionValue) (*partition, error) {
	if len(values) > 1 {
		slices.SortFunc(values, func(a, b partitionValue) int { return cmp.Compare(a.name, b.name) })
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
		// The key is built from the values, so it may be as long as they are. Copy names and values: they may be
		// substrings of a line, and would keep the whole line in memory.
		p = &partition{values: slices.Clone(values), key: string(s.text), cost: partitionBytes + valueBytes*int64(len(values)) + 2*int64(len(s.text))}
		if err := s.budget.reserveBytes(p.cost, table); err != nil {
			return nil, err
		}
		s.partitions[p.key] = p
	}
	p.files++
	return p, nil
}

func (s *replayState) removeFileFromPartition(p *partition) {
	if p.files--; p.files == 0 {
		s.budget.releaseBytes(p.cost)
		delete(s.partitions, p.key)
	}
}

// columnValues returns the values of a partition in the order of names, the table's columns. An empty string means
// null, for every type. A missing value means null too: a file may be older than the column.
func (p *partition) columnValues(names []string) []*string {
	if len(names) == 0 {
		return nil
	}
	values := make([]*string, len(names))
	for i, name := range names {
		at := slices.IndexFunc(p.values, func(v partitionValue) bool { return v.name == name })
		if at < 0 { // names of columns differ by more than the case of their letters
			at = slices.IndexFunc(p.values, func(v partitionValue) bool { return strings.EqualFold(v.name, name) })
		}
		if at >= 0 && p.values[at].value != nil && *p.values[at].value != "" {
			values[i] = p.values[at].value
		}
	}
	return values
}
