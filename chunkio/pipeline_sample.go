package chunkio

import (
	"container/heap"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// sampler keeps the rows of a seeded sample: the rows whose hash is at most a threshold. The hash is a bijection of the
// position for a fixed seed, so all rows have different hashes. Therefore a threshold exists for every size of the
// sample, and only the threshold is stored.
type sampler struct {
	seed, threshold uint64
}

// newSampler returns the sampler that keeps n of the given number of rows. If n is 0, it keeps all rows. It computes
// one hash for each row, and uses 8 bytes for each sampled row while it runs.
func newSampler(seed uint64, n, rows int64) sampler {
	s := newSampleFinder(seed, n)
	if n == 0 || n >= rows {
		return s.sampler
	}
	for position := range rows {
		s.addRow(position)
	}
	return s.foundSampler()
}

// sampleFinder finds the sampler that selects n of the added rows.
type sampleFinder struct {
	sampler
	n           int64
	hashes      maxHeap
	hasExcluded bool // a row that was added is not in the sample
}

func newSampleFinder(seed uint64, n int64) *sampleFinder {
	return &sampleFinder{sampler: sampler{seed: seed, threshold: math.MaxUint64}, n: n}
}

func (s *sampleFinder) addRow(position int64) {
	h := s.hashRow(position)
	switch {
	case int64(len(s.hashes)) < s.n:
		heap.Push(&s.hashes, h)
		return
	case h < s.hashes[0]:
		s.hashes[0] = h
		heap.Fix(&s.hashes, 0)
	}
	s.hasExcluded = true
}

func (s *sampleFinder) foundSampler() sampler {
	if !s.hasExcluded {
		return s.sampler
	}
	return sampler{s.seed, s.hashes[0]}
}

func (s sampler) keepsAllRows() bool { return s.threshold == math.MaxUint64 }

func (s sampler) keepsRow(position int64) bool { return s.hashRow(position) <= s.threshold }

func (s sampler) hashRow(position int64) uint64 { return splitmix.Hash(s.seed, uint64(position)) }

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
