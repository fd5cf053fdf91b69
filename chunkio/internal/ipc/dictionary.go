package ipc

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
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
	plain := f.values()
	if len(d.nodes) < 1 || len(d.buffers) < 2 {
		return 0, fmt.Errorf("damaged metadata (dictionary %d without values)", d.id)
	}
	n := d.nodes[0].length
	mostValues := 8 * d.body // a value has a bit at least
	if d.codec != plainCodec {
		mostValues <<= 15 // to which zstd packs a block of zeros
	}
	if n > mostValues {
		return 0, fmt.Errorf("damaged metadata (a dictionary of %d values in %d bytes)", n, d.body)
	}
	if n > limit {
		return 0, &stream.MemoryError{What: fmt.Sprintf("the dictionary of column %q", f.name), Need: 8 * n, Limit: 8 * max(limit, 0)}
	}
	g := &group{batch: d.batch, body: body}
	r, err := g.openNumbers(plain, 0, n)
	if err != nil {
		return 0, err
	}
	defer r.close()
	all := &numberDictionary{}
	if old := dicts[d.id]; d.delta && old != nil {
		*all = *old
		all.values = all.values[:len(all.values):len(all.values)]
	}
	if g.mayBeNull(plain) {
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

// textDictionary is a dictionary whose values are read as text when a label first asks for
// them, and kept. It is safe for concurrent use.
type textDictionary struct {
	batches []textBatch // the definition, and what was added to it

	once   sync.Once
	values *text.List
	err    error
}

// textBatch is one message of a dictionary.
type textBatch struct {
	batch
	body *bodyReader
}

// wantsTexts reports whether a column that can be a label has that dictionary.
func (s *schema) wantsTexts(dict int64) bool {
	for _, c := range s.columns {
		if c.text != nil && c.text.index != nil && c.text.dict == dict {
			return true
		}
	}
	return false
}

// addTexts defines a dictionary, or adds to it; groups that hold it keep theirs.
func addTexts(dicts map[int64]*textDictionary, d *dictionaryBatch, body *bodyReader) {
	next := &textDictionary{}
	if old := dicts[d.id]; d.delta && old != nil {
		next.batches = old.batches[:len(old.batches):len(old.batches)]
	}
	next.batches = append(next.batches, textBatch{d.batch, body})
	dicts[d.id] = next
}

// mayHaveNulls reports whether some value is null, as far as known: of what was not read it may be.
func (d *textDictionary) mayHaveNulls() bool {
	return d == nil || slices.ContainsFunc(d.batches, func(b textBatch) bool { return len(b.nodes) == 0 || b.nodes[0].nulls != 0 })
}

// size is the bytes of the messages.
func (d *textDictionary) size() (n int64) {
	for _, b := range d.batches {
		n += b.batch.body
	}
	return n
}

// need estimates what the values take as text.
func (d *textDictionary) need() (n int64) {
	for _, b := range d.batches {
		factor := int64(1)
		if b.codec != plainCodec {
			factor = 4
		}
		n += factor * b.batch.body
		if len(b.nodes) > 0 {
			n += 9 * b.nodes[0].length
		}
	}
	return n
}

// load reads the values, of field f's type, the first time.
func (d *textDictionary) load(ctx context.Context, f *field) (*text.List, error) {
	d.once.Do(func() {
		plain := f.values()
		all := &text.List{}
		for _, b := range d.batches {
			if len(b.nodes) == 0 {
				d.err = fmt.Errorf("damaged metadata (dictionary %d without values)", f.dict)
				return
			}
			g := &group{batch: b.batch, body: b.body}
			// A dictionary is read to its end once it is begun, or every group would miss it.
			d.err = g.plainTexts(context.WithoutCancel(ctx), plain, 0, b.nodes[0].length, all.AddAll)
			if d.err != nil {
				return
			}
		}
		all.Fixed = len(all.Ends)
		d.values = all
	})
	return d.values, d.err
}
