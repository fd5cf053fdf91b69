package ipc

import (
	"context"
	"fmt"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

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
		plain := *f
		plain.index, plain.node, plain.buffer, plain.views, plain.unions = nil, 0, 0, 0, 0
		all := &text.List{}
		for _, b := range d.batches {
			if len(b.nodes) == 0 {
				d.err = fmt.Errorf("damaged metadata (dictionary %d without values)", f.dict)
				return
			}
			g := &group{batch: b.batch, body: b.body}
			// A dictionary is read to its end once it is begun, or every group would miss it.
			d.err = g.plainTexts(context.WithoutCancel(ctx), &plain, 0, b.nodes[0].length, all.AddAll)
			if d.err != nil {
				return
			}
		}
		all.Fixed = len(all.Ends)
		d.values = all
	})
	return d.values, d.err
}
