package pipeline

import "github.com/ufs-stream/ufs-stream/chunkio/internal/text"

// maxMemo is the largest number of dictionary entries whose results are remembered, unless the memory for more is
// planned.
const maxMemo = 1 << 14

// textMemo computes a result from each text, and remembers the results for the first limit entries of a dictionary.
type textMemo[T any] struct {
	compute func(value []byte) (T, error)
	limit   int
	known   []bool // by entry of the dictionary
	results []T    // by entry, if known
}

func (m *textMemo[T]) resultForEntry(values *text.List, id int32) (T, error) {
	i := int(id)
	if i < len(m.known) && m.known[i] {
		return m.results[i], nil
	}
	result, err := m.compute(values.Value(i))
	if err == nil && i < min(values.Fixed, m.limit) {
		for len(m.known) <= i {
			m.known, m.results = append(m.known, false), append(m.results, result)
		}
		m.known[i], m.results[i] = true, result
	}
	return result, err
}
