package catalog

import (
	"container/heap"
	"math"
	"sync"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// Sampler keeps the rows of a seeded sample: the rows whose hash is at most a threshold. The hash is a bijection of the
// position for a fixed seed, so all rows have different hashes. Therefore a threshold exists for every size of the
// sample, and only the threshold is stored.
type Sampler struct {
	seed, threshold uint64
}

// NewSampler returns the sampler that keeps n of the given number of rows. If n is 0, it keeps all rows. It computes
// one hash for each row, and uses 8 bytes for each sampled row while it runs.
func NewSampler(seed uint64, n, rows int64) Sampler {
	s := NewSampleFinder(seed, n)
	if n == 0 || n >= rows {
		return s.Sampler
	}
	for position := range rows {
		s.AddRow(position)
	}
	return s.FoundSampler()
}

// SampleFinder finds the sampler that selects n of the added rows.
type SampleFinder struct {
	Sampler
	n           int64
	hashes      maxHeap
	hasExcluded bool // a row that was added is not in the sample
}

// NewSampleFinder returns a finder of n rows.
func NewSampleFinder(seed uint64, n int64) *SampleFinder {
	return &SampleFinder{Sampler: Sampler{seed: seed, threshold: math.MaxUint64}, n: n}
}

// AddRow adds the row at a position.
func (s *SampleFinder) AddRow(position int64) {
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

// FoundSampler returns the sampler of the rows added so far.
func (s *SampleFinder) FoundSampler() Sampler {
	if !s.hasExcluded {
		return s.Sampler
	}
	return Sampler{s.seed, s.hashes[0]}
}

// KeepsAllRows reports whether every row is in the sample.
func (s Sampler) KeepsAllRows() bool { return s.threshold == math.MaxUint64 }

// KeepsRow reports whether the row at a position is in the sample.
func (s Sampler) KeepsRow(position int64) bool { return s.hashRow(position) <= s.threshold }

func (s Sampler) hashRow(position int64) uint64 { return splitmix.Hash(s.seed, uint64(position)) }

// maxHeap is a container/heap with the largest value on top.
type maxHeap []uint64

func (h maxHeap) Len() int { return len(h) }

func (h maxHeap) Less(i, j int) bool { return h[i] > h[j] }

func (h maxHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *maxHeap) Push(x any) { *h = append(*h, x.(uint64)) }

func (h *maxHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// sampleMemo keeps the samplers of matching rows, because finding one may need a pass over the condition's columns.
type sampleMemo struct {
	mutex    sync.Mutex
	samplers map[sampleKey]Sampler
}

// sampleKey is the key of a sampler in a sampleMemo: the seed of the sample and its number of rows.
type sampleKey struct {
	seed uint64
	n    int64
}

// SamplerOfMatches returns the sampler that draws n of the matching rows with this seed. It calls find only the first
// time, and then returns the same sampler.
func (f *Filter) SamplerOfMatches(seed uint64, n int64, find func() (Sampler, error)) (Sampler, error) {
	f.samples.mutex.Lock()
	defer f.samples.mutex.Unlock()
	key := sampleKey{seed, n}
	if s, ok := f.samples.samplers[key]; ok {
		return s, nil
	}
	s, err := find()
	if err == nil {
		if f.samples.samplers == nil {
			f.samples.samplers = map[sampleKey]Sampler{}
		}
		f.samples.samplers[key] = s
	}
	return s, err
}
