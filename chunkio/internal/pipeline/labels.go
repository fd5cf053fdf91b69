package pipeline

import (
	"context"
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
	memo    []int32 // by entry of the current dictionary: its number plus one; 0 if not known yet
	isFloat bool    // labels are floats, and NaN is a missing label
}

// applyLabels decodes the span's labels. Rows that take no part have no label.
func (s *span) applyLabels(ctx context.Context, k *labelValues) error {
	r, name := s.table.Features.Label, s.table.Options.Label
	s.class = format.Resize(s.class, s.rows)
	if allBitsSet(s.skip, s.rows) {
		return nil
	}
	defer func() { s.names = k.names[:len(k.names):len(k.names)] }()
	k.memo = k.memo[:0]
	k.isFloat = r.Leaf >= 0 && slices.Contains([]string{"float16", "float", "double"}, s.table.Catalog.Leaves[r.Leaf].Type)
	if r.Leaf < 0 {
		return s.setLabelsFromKey(k, r.Part)
	}
	if s.leafInFile(r.Leaf) < 0 { // the file lacks the label
		for row := range s.class {
			s.class[row] = -1
		}
		return nil
	}
	at := 0
	err := s.group.DecodeTexts(ctx, s.leafInFile(r.Leaf), s.from, s.from+int64(s.rows), func(ids []int32, values *text.List) error {
		for len(k.memo) < values.Fixed {
			k.memo = append(k.memo, 0)
		}
		for _, id := range ids {
			row := at
			at++
			s.class[row] = -1
			if id < 0 || isBitSet(s.skip, row) {
				continue
			}
			n, err := k.numberValue(values, int(id))
			if err != nil {
				return s.errAtRow(row, name, noClassRemedy, err)
			}
			s.class[row] = n
		}
		return nil
	})
	if err != nil {
		return s.placeError(err, name)
	}
	return nil
}

// numberValue returns the number of the label values.Value(id). A new label gets the next number. It returns -1 for
// NaN, which is a missing label.
func (k *labelValues) numberValue(values *text.List, id int) (int32, error) {
	if id < len(k.memo) && k.memo[id] > 0 {
		return k.memo[id] - 1, nil
	}
	value := values.Value(id)
	if k.isFloat && string(value) == "NaN" { // allocates no string
		return -1, nil
	}
	n, err := k.internValue(value)
	if err == nil && id < len(k.memo) {
		k.memo[id] = n + 1
	}
	return n, err
}

func (s *span) setLabelsFromKey(k *labelValues, part int) error {
	text, err := s.table.Catalog.PartitionText(s.rowGroup.fileIndex, part)
	if err != nil {
		return err
	}
	n := int32(-1)
	if text != listing.HiveNull {
		if n, err = k.internValue([]byte(text)); err != nil {
			return s.errAtRow(0, s.table.Catalog.Parts[part].Key, noClassRemedy, err)
		}
	}
	for row := range s.class {
		s.class[row] = n
	}
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
				class, err := p.table.classes.numberClass(s.names[n])
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
