//go:build poison

package pipeline

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// poisonSpan overwrites the buffers of s whose blocks a consumer has used. A consumer that still uses such a block
// computes nonsense, and its tests fail: go test -tags poison.
func poisonSpan(s *span) {
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
