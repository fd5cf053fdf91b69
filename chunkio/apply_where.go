package chunkio

import (
	"context"
	"errors"
	"iter"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// matches tells, row group by row group in their order, which rows a condition is true of.
// A pass over the condition's columns runs in step with the copying.
type matches struct {
	source *Dataset
	begin  func(from int64) // begins a pass
	row    int64            // that comes next
	next   func() (*stream.Chunk, error, bool)
	stop   func() // nil where no pass is under way
}

// matchRows begins a.matches, which the returned function ends.
func (a *applier) matchRows(ctx context.Context) func() {
	if a.catalog.filter == nil {
		return func() {}
	}
	const share = 4 // of the memory: the encoded columns want most of it
	spool := func() *scratch.Space { return a.spool }
	m := &matches{source: matching(a.catalog, Options{Threads: a.opt.Threads, Memory: a.opt.Memory, Meter: a.opt.Meter}, spool)}
	m.source.opt.Memory = max(a.opt.Memory/share, m.source.MinMemory())
	m.begin = func(from int64) {
		m.next, m.stop = iter.Pull2(m.source.Chunks(ctx, stream.Range{From: from, To: a.catalog.rows}))
	}
	a.matches = m
	return m.end
}

func (m *matches) end() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// pass goes past so many rows without reading them.
func (m *matches) pass(rows int64) {
	if m != nil {
		m.end()
		m.row += rows
	}
}

// group returns the rows of the next row group, which has so many, that are not written,
// and how many are. Without a condition all are.
func (m *matches) group(rows int64) (skip []uint64, kept int64, err error) {
	if m == nil {
		return nil, rows, nil
	}
	if m.stop == nil {
		m.begin(m.row)
	}
	m.row += rows
	skip = make([]uint64, (rows+63)/64)
	skipAll(skip, int(rows))
	for at := int64(0); at < rows; {
		c, err, more := m.next()
		switch {
		case err != nil:
			return nil, 0, err
		case !more || int64(c.Block) > rows-at:
			return nil, 0, errors.New("the condition was asked of other rows than are copied")
		}
		for i := range c.Rows {
			row := at + c.Position(i) - c.Start
			skip[row/64] &^= 1 << (row % 64)
		}
		at += int64(c.Block)
		kept += int64(c.Rows)
	}
	return skip, kept, nil
}

// bytes is what finding the rows holds.
func (m *matches) bytes() int64 {
	if m == nil {
		return 0
	}
	return m.source.MemoryFor(m.source.opt.Memory)
}
