package pipeline

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// codesBytes is the memory for the remembered codes of a dictionary's texts, in bytes.
const codesBytes = maxMemo * (1 + 8)

// textCode returns the code of a label's text: its hash, a whole number below 2⁵³, which a float64 represents exactly.
func textCode(value []byte) float64 { return float64(xxhash.Sum64(value) >> 11) }

// codeTargets sets the target of each row of the span to the code (see textCode) of its label's text. Each text of a
// dictionary is hashed once.
func codeTargets(ctx context.Context, s *span) error {
	r := s.table.Features.Target
	switch {
	case r.Leaf < 0:
		value, err := s.table.Catalog.PartitionText(s.rowGroup.fileIndex, r.Part)
		if err != nil {
			return err
		}
		code := format.Null
		if value != listing.HiveNull {
			code = textCode([]byte(value))
		}
		fillSlice(s.target, code)
		return nil
	case s.heldGroup == nil && s.leafInFile(r.Leaf) >= 0:
		memo := textMemo[float64]{limit: maxMemo, compute: func(value []byte) (float64, error) { return textCode(value), nil }}
		err := s.decodeTexts(ctx, r.Leaf, func(row int, id int32, values *text.List) (err error) {
			if s.target[row] = format.Null; id >= 0 {
				s.target[row], err = memo.resultForEntry(values, id)
			}
			return err
		})
		if err != nil {
			return s.placeError(err, s.table.Options.Label)
		}
	}
	s.completeRead(r, s.places.target, [][]float64{s.target})
	return nil
}
