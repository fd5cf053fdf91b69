package ipc

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// numberDictionary is a dictionary of numbers. Its nulls are stored as format.Null.
type numberDictionary struct {
	values []float64
	nulls  int64
}

func (s *schema) fieldWithDictionary(dictionaryID int64) *field {
	for _, c := range s.columns {
		if c.valueField == nil {
			continue
		}
		if f := c.valueField.numberField(); f.index != nil && f.dict == dictionaryID {
			return f
		}
	}
	return nil
}

// addDictionary reads a dictionary of numbers into dicts, replacing or extending an older one, and returns the number
// of values read, which is at most limit. Dictionaries of other types are skipped. It does not change dictionaries that
// groups already use.
func (s *schema) addDictionary(dicts map[int64]*numberDictionary, d *dictionaryBatch, body *bodyReader, limit int64) (int64, error) {
	f := s.fieldWithDictionary(d.id)
	if f == nil {
		return 0, nil
	}
	plain := f.withoutIndex()
	if len(d.nodes) < 1 || len(d.buffers) < 2 {
		return 0, fmt.Errorf("damaged metadata (dictionary %d without values)", d.id)
	}
	n := d.nodes[0].length
	mostValues := 8 * d.body // a value has at least one bit
	if d.codec != plainCodec {
		mostValues <<= 15 // zstd can compress a block of zeros by this factor
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
		all.nulls += max(d.nodes[0].nulls, 1) // 1 if the number is unknown: addNulls only checks whether it is positive
	}
	for n > 0 { // tile by tile, because a damaged file may claim a larger length than it has
		tile := make([]float64, min(n, tileValues))
		if err := r.readNumbers(tile); err != nil {
			return 0, err
		}
		all.values = append(all.values, tile...)
		n -= int64(len(tile))
	}
	dicts[d.id] = all
	return d.nodes[0].length, nil
}

// textDictionary is a dictionary whose values are read as text when a label first needs them. They are then kept. It is
// safe for concurrent use.
type textDictionary struct {
	batches []textBatch // the messages that define and extend the dictionary

	once   sync.Once
	values *text.List
	err    error
}

// textBatch is one message that defines or extends a dictionary.
type textBatch struct {
	batch
	reader *bodyReader
}

func (s *schema) isLabelDictionary(dictionaryID int64) bool {
	return slices.ContainsFunc(s.columns, func(c column) bool {
		return c.textField != nil && c.textField.index != nil && c.textField.dict == dictionaryID
	})
}

// addTexts defines or extends a dictionary of texts in dicts, from the message d. Groups that use an older definition
// keep it.
func addTexts(dicts map[int64]*textDictionary, d *dictionaryBatch, body *bodyReader) {
	next := &textDictionary{}
	if old := dicts[d.id]; d.delta && old != nil {
		next.batches = old.batches[:len(old.batches):len(old.batches)]
	}
	next.batches = append(next.batches, textBatch{d.batch, body})
	dicts[d.id] = next
}

// mayHaveNulls reports whether the dictionary may contain nulls. For a nil dictionary it returns true.
func (d *textDictionary) mayHaveNulls() bool {
	return d == nil || slices.ContainsFunc(d.batches, func(b textBatch) bool { return len(b.nodes) == 0 || b.nodes[0].nulls != 0 })
}

func (d *textDictionary) bytesOfMessages() (n int64) {
	for _, b := range d.batches {
		n += b.body
	}
	return n
}

// textBytes estimates the memory of the dictionary's values as text.
func (d *textDictionary) textBytes() (n int64) {
	for _, b := range d.batches {
		factor := int64(1)
		if b.codec != plainCodec {
			factor = 4
		}
		n += factor * b.body
		if len(b.nodes) > 0 {
			n += 9 * b.nodes[0].length
		}
	}
	return n
}

func (d *textDictionary) loadTexts(ctx context.Context, f *field) (*text.List, error) {
	d.once.Do(func() {
		plain := f.withoutIndex()
		all := &text.List{}
		for _, b := range d.batches {
			if len(b.nodes) == 0 {
				d.err = fmt.Errorf("damaged metadata (dictionary %d without values)", f.dict)
				return
			}
			g := &group{batch: b.batch, body: b.reader}
			// Once begun, read the dictionary to its end: an interruption would be an error for all groups that use it.
			d.err = g.emitPlainTexts(context.WithoutCancel(ctx), plain, 0, b.nodes[0].length, all.AddAll)
			if d.err != nil {
				return
			}
		}
		all.Fixed = len(all.Ends)
		d.values = all
	})
	return d.values, d.err
}
