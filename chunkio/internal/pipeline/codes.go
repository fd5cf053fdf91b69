package pipeline

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// memoCodes is the largest number of dictionary entries whose codes are remembered, codesBytes their memory in bytes.
const (
	memoCodes = 1 << 14

	codesBytes = 8 * memoCodes
)

// textCode returns the code of a label's text: its hash, a whole number below 2⁵³, which a float64 represents exactly.
func textCode(value []byte) float64 { return float64(xxhash.Sum64(value) >> 11) }

// codeTargets sets the span's targets to the codes of the label's texts. Each text of a dictionary is hashed once.
func (s *span) codeTargets(ctx context.Context) error {
	r, to := s.table.Features.Target, s.target
	if r.Leaf < 0 {
		return s.setTargetsFromKey(r.Part)
	}
	if leaf := s.leafInFile(r.Leaf); s.heldGroup == nil && leaf >= 0 {
		var memo []float64 // by dictionary entry: its code plus 1; 0 if it is not known yet
		at := 0
		err := s.group.DecodeTexts(ctx, leaf, s.from, s.from+int64(s.rows), func(ids []int32, values *text.List) error {
			for len(memo) < min(values.Fixed, memoCodes) {
				memo = append(memo, 0)
			}
			for _, id := range ids {
				switch {
				case id < 0:
					to[at] = format.Null
				case int(id) >= len(memo):
					to[at] = textCode(values.Value(int(id)))
				default:
					if memo[id] == 0 {
						memo[id] = textCode(values.Value(int(id))) + 1
					}
					to[at] = memo[id] - 1
				}
				at++
			}
			return nil
		})
		if err != nil {
			return s.placeError(err, s.table.Options.Label)
		}
	}
	s.completeRead(r, s.places.target, [][]float64{to})
	return nil
}

func (s *span) setTargetsFromKey(part int) error {
	value, err := s.table.Catalog.PartitionText(s.rowGroup.fileIndex, part)
	if err != nil {
		return err
	}
	code := format.Null
	if value != listing.HiveNull {
		code = textCode([]byte(value))
	}
	for i := range s.target {
		s.target[i] = code
	}
	return nil
}
