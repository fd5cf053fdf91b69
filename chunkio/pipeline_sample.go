package chunkio

import (
	"container/heap"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// sampler keeps the rows of a seeded sample: those whose hash is at most a
// threshold. The hash is a bijection of the position for a fixed seed, so no two
// rows tie, exactly the wanted number stays, and nothing but the threshold is held.
type sampler struct {
	seed, threshold uint64
}

// newSampler finds the threshold that keeps n of rows rows; n = 0 keeps all. Cost:
// one hash a row, once, and 8 bytes a sampled row while it runs.
func newSampler(seed uint64, n, rows int64) sampler {
	s := sampler{seed: seed, threshold: math.MaxUint64}
	if n == 0 || n >= rows {
		return s
	}
	smallest := make(maxHeap, 0, n)
	for position := range rows {
		h := s.hash(position)
		switch {
		case int64(len(smallest)) < n:
			heap.Push(&smallest, h)
		case h < smallest[0]:
			smallest[0] = h
			heap.Fix(&smallest, 0)
		}
	}
	s.threshold = smallest[0]
	return s
}

// all reports whether every row stays.
func (s sampler) all() bool { return s.threshold == math.MaxUint64 }

func (s sampler) keeps(position int64) bool { return s.hash(position) <= s.threshold }

func (s sampler) hash(position int64) uint64 { return splitmix.Hash(s.seed, uint64(position)) }

// maxHeap is a container/heap with the largest value on top.
type maxHeap []uint64

func (h maxHeap) Len() int           { return len(h) }
func (h maxHeap) Less(i, j int) bool { return h[i] > h[j] }
func (h maxHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *maxHeap) Push(x any)        { *h = append(*h, x.(uint64)) }
func (h *maxHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
