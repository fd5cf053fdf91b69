package main

import (
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/ufs-stream/ufs-stream/stream"
)

// defaultMemory is the default of {memory-limit}.
const defaultMemory = 2 << 30

// memoryCount counts the bytes that the deletes of a table take, up to a limit.
type memoryCount struct {
	limit int64
	table string // for errors
	used  atomic.Int64
}

func (m *memoryCount) takeBytes(n int64) error {
	if used := m.used.Add(n); n > 0 && used > m.limit {
		e := &stream.MemoryError{What: "reading the deletes of " + m.table, Need: used, Limit: m.limit, AtLeast: true}
		e.Or = stream.Textf("compact the table and plan again, %s", compactingCall)
		return e
	}
	return nil
}

func (m *memoryCount) returnBytes(n int64) { m.used.Add(-n) }

// pageMemory allocates the buffers of one Parquet file that is read. Arrow does not release all of them, so they are
// counted until stopCounting is called.
type pageMemory struct {
	memory.Allocator
	count *memoryCount

	mu     sync.Mutex
	used   int64
	closed bool
}

func newPageMemory(count *memoryCount) *pageMemory {
	return &pageMemory{Allocator: memory.NewGoAllocator(), count: count}
}

// countBytes counts bytes. Arrow expects no error of an allocation, so it panics; see recoverParquetPanics.
func (p *pageMemory) countBytes(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.used += int64(n)
	if err := p.count.takeBytes(int64(n)); err != nil {
		panic(err)
	}
}

// Allocate implements memory.Allocator.
func (p *pageMemory) Allocate(size int) []byte {
	p.countBytes(size)
	return p.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (p *pageMemory) Reallocate(size int, b []byte) []byte {
	p.countBytes(size - len(b))
	return p.Allocator.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (p *pageMemory) Free(b []byte) {
	p.countBytes(-len(b))
	p.Allocator.Free(b)
}

func (p *pageMemory) stopCounting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.count.returnBytes(p.used)
}
