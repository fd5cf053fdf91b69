package chunkio

import (
	"slices"
	"sync"
)

// spanPool keeps spans from one pass to the next: garbage of their size, collected late, would count twice against
// the memory limit.
type spanPool struct {
	mutex sync.Mutex
	spare []*span
}

// takeSpans returns n spans, used or new.
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

// keepSpan keeps a span that no goroutine uses any more; nil is ignored.
func (b *spanPool) keepSpan(s *span) {
	if s == nil {
		return
	}
	s.release()
	s.poison()
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
