package chunkio

import (
	"slices"
	"sync"
)

// buffers keeps spans from one pass to the next: garbage of their size, collected
// late, would count twice against the memory limit.
type buffers struct {
	mutex sync.Mutex
	spare []*span
}

// take returns n spans, used or new.
func (b *buffers) take(n int) []*span {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for len(b.spare) < n {
		b.spare = append(b.spare, new(span))
	}
	spans := slices.Clone(b.spare[len(b.spare)-n:])
	b.spare = slices.Delete(b.spare, len(b.spare)-n, len(b.spare))
	return spans
}

// put keeps a span that no goroutine uses any more; nil is none.
func (b *buffers) put(s *span) {
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

// drop forgets all spare spans.
func (b *buffers) drop() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.spare = nil
}
