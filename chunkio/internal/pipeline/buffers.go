package pipeline

import (
	"slices"
	"sync"
)

// spanPool keeps the spans of a pass for the next pass. Without it, old spans that the garbage collector has not yet
// freed would need memory in addition to the new spans.
type spanPool struct {
	mutex sync.Mutex
	spare []*span
}

// takeSpans removes n spans from the pool and returns them. It makes spans if the pool has too few.
func (b *spanPool) takeSpans(n int) []*span {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for len(b.spare) < n {
		b.spare = append(b.spare, new(span))
	}
	spans := slices.Clone(b.spare[len(b.spare)-n:])
	b.spare = slices.Delete(b.spare, len(b.spare)-n, len(b.spare))
	return spans
}

// keepSpan adds a span to the pool that no goroutine uses any more; nil is ignored.
func (b *spanPool) keepSpan(s *span) {
	if s == nil {
		return
	}
	s.releaseGroupOfSpan()
	poisonSpan(s)
	s.pass = nil
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.spare = append(b.spare, s)
}

func (b *spanPool) dropSpans() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.spare = nil
}
