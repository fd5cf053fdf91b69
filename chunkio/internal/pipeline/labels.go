package pipeline

import (
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Classes are numbered twice. The scheduler, which processes the spans in order, numbers the distinct values of the
// rows that take part. But rows with missing values are dropped only when the span is decoded. So the consumer, which
// also processes the spans in order, numbers the classes of the remaining rows.

// labelValues contains the distinct values of the label in a pass so far.
type labelValues struct {
	distinctValues
	memo textMemo[int32]
}

// applyLabels decodes the span's labels. Rows that take no part have no label.
func applyLabels(ctx context.Context, s *span, k *labelValues) error {
	r, name := s.table.Features.Label, s.table.Options.Label
	s.class = format.Resize(s.class, s.rows)
	if areFirstBitsSet(s.skip, s.rows) {
		return nil
	}
	defer func() { s.names = k.names[:len(k.names):len(k.names)] }()
	if r.Leaf < 0 {
		return setLabelsFromPartitionKey(s, k, r.Part)
	}
	fillSlice(s.class, -1)
	if s.leafInFile(r.Leaf) < 0 { // the file lacks the label
		return nil
	}
	isFloat := slices.Contains([]string{"float16", "float", "double"}, s.table.Catalog.Leaves[r.Leaf].Type)
	k.memo = textMemo[int32]{limit: math.MaxInt, known: k.memo.known[:0], results: k.memo.results[:0], compute: func(value []byte) (int32, error) {
		if isFloat && string(value) == "NaN" { // a missing label; this conversion allocates no string
			return -1, nil
		}
		return k.numberOfValue(value)
	}}
	err := s.decodeTexts(ctx, r.Leaf, func(row int, id int32, values *text.List) (err error) {
		if id < 0 || isBitSet(s.skip, row) {
			return nil
		}
		if s.class[row], err = k.memo.resultForEntry(values, id); err != nil {
			return s.errAtRow(row, name, noClassRemedy, err)
		}
		return nil
	})
	if err != nil {
		return s.placeError(err, name)
	}
	return nil
}

func setLabelsFromPartitionKey(s *span, known *labelValues, keyIndex int) error {
	text, err := s.table.Catalog.PartitionText(s.rowGroup.fileIndex, keyIndex)
	if err != nil {
		return err
	}
	n := int32(-1)
	if text != listing.HiveNull {
		if n, err = known.numberOfValue([]byte(text)); err != nil {
			return s.errAtRow(0, s.table.Catalog.Parts[keyIndex].Key, noClassRemedy, err)
		}
	}
	fillSlice(s.class, n)
	return nil
}

// numberClasses replaces the label numbers of the remaining rows of s by classes of the Dataset.
func (p *pass) numberClasses(s *span) error {
	if len(s.class) == 0 {
		return nil
	}
	for len(p.classCodes) < len(s.names) {
		p.classCodes = append(p.classCodes, 0)
	}
	for b := range s.blockCount() {
		lo, _ := s.blockBounds(b)
		rows := s.class[lo : lo+s.remaining[b]]
		for i, n := range rows {
			if n < 0 {
				continue
			}
			if p.classCodes[n] == 0 {
				class, err := p.table.classes.numberOfClass(s.names[n])
				if err != nil { // too many classes, found by passes over several ranges
					e := stream.Dataf(s.rowGroup.path, "%w", err)
					e.Column, e.Remedy = p.table.Options.Label, stream.Textf(noClassRemedy)
					return e
				}
				p.classCodes[n] = class + 1
			}
			rows[i] = p.classCodes[n] - 1
		}
	}
	return nil
}
