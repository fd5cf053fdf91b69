//go:build poison

package chunkio

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// poison overwrites the memory that s has lent, so that a consumer that still holds a block of it computes nonsense
// and fails its tests: go test -tags poison.
func (s *span) poison() {
	for _, lent := range [][]float64{s.data, s.weight, s.target, s.sparse.value} {
		lent = lent[:cap(lent)]
		for i := range lent {
			lent[i] = math.NaN()
		}
	}
	for i := range s.positions {
		s.positions[i] = math.MinInt64
	}
	for i := range s.class[:cap(s.class)] {
		s.class[:cap(s.class)][i] = math.MinInt32
	}
	s.block = stream.Chunk{}
}
