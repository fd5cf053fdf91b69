package ipc

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/stream"
)

// numberDictionary is a dictionary of numbers; nulls are format.Null.
type numberDictionary struct {
	values []float64
	nulls  int64
}

// valuesOf is the field whose dictionary has that id, nil where no column needs it.
func (s *schema) valuesOf(dict int64) *field {
	for _, c := range s.columns {
		if c.value == nil {
			continue
		}
		if f := c.value.number(); f.index != nil && f.dict == dict {
			return f
		}
	}
	return nil
}

// addDictionary reads a dictionary of numbers into dicts, replacing the one there or
// adding to it, and returns how many values it took; others are passed over. It takes
// no more than limit values. Dictionaries that groups hold already do not change.
func (s *schema) addDictionary(dicts map[int64]*numberDictionary, d *dictionaryBatch, body *bodyReader, limit int64) (int64, error) {
	f := s.valuesOf(d.id)
	if f == nil {
		return 0, nil
	}
	plain := *f
	plain.index, plain.node, plain.buffer, plain.views, plain.unions = nil, 0, 0, 0, 0
	if len(d.nodes) < 1 || len(d.buffers) < 2 {
		return 0, fmt.Errorf("damaged metadata (dictionary %d without values)", d.id)
	}
	n := d.nodes[0].length
	if n > limit {
		return 0, &stream.MemoryError{What: fmt.Sprintf("the dictionary of column %q", f.name), Need: 8 * n, Limit: 8 * max(limit, 0)}
	}
	g := &group{batch: d.batch, body: body}
	r, err := g.openNumbers(&plain, 0, n)
	if err != nil {
		return 0, err
	}
	defer r.close()
	all := &numberDictionary{}
	if old := dicts[d.id]; d.delta && old != nil {
		*all = *old
		all.values = all.values[:len(all.values):len(all.values)]
	}
	if g.mayBeNull(&plain) {
		all.nulls += max(d.nodes[0].nulls, 1) // 1 where the number is unknown: addNulls asks whether there is any
	}
	for n > 0 { // by tiles: the length is only what the file claims
		tile := make([]float64, min(n, tileValues))
		if err := r.next(tile); err != nil {
			return 0, err
		}
		all.values = append(all.values, tile...)
		n -= int64(len(tile))
	}
	dicts[d.id] = all
	return d.nodes[0].length, nil
}
