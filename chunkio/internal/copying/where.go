package copying

import (
	"context"
	"errors"
	"iter"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/pipeline"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rowMatches finds the rows for which a condition is true, row group by row group in their order. It reads the
// condition's columns in a pass that advances as the row groups are copied.
type rowMatches struct {
	source    *pipeline.Table
	beginPass func(from int64) // begins a pass at the row from
	row       int64            // global position of the first row of the next row group
	next      func() (*stream.Chunk, error, bool)
	stop      func() // ends the pass; nil if no pass is under way
}

func newRowMatches(ctx context.Context, p *plan, scratchSpace *scratch.Space) *rowMatches {
	if p.catalog.Filter == nil {
		return nil
	}
	const share = 4 // decoding for the condition gets 1/share of the memory; the encoded columns need the remainder
	spool := func() *scratch.Space { return scratchSpace }
	m := &rowMatches{source: pipeline.NewMatchTable(p.catalog, settings.Options{Threads: p.opt.Threads, Memory: p.opt.Memory, Meter: p.opt.Meter}, spool)}
	m.source.Options.Memory = max(p.opt.Memory/share, m.source.MinMemory())
	m.beginPass = func(from int64) {
		m.next, m.stop = iter.Pull2(m.source.Chunks(ctx, stream.Range{From: from, To: p.catalog.Rows}))
	}
	return m
}

func (m *rowMatches) endPass() {
	if m != nil && m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

func (m *rowMatches) skipRows(rows int64) {
	if m != nil {
		m.endPass()
		m.row += rows
	}
}

// matchGroup returns a bit set of the rows of the next row group that must not be written, and the number of rows to
// write. Without a condition all rows are written.
func (m *rowMatches) matchGroup(rows int64) (skip []uint64, kept int64, err error) {
	if m == nil {
		return nil, rows, nil
	}
	if m.stop == nil {
		m.beginPass(m.row)
	}
	m.row += rows
	skip = make([]uint64, (rows+63)/64)
	pipeline.SetAllBits(skip, int(rows))
	for at := int64(0); at < rows; {
		c, err, more := m.next()
		switch {
		case err != nil:
			return nil, 0, err
		case !more || int64(c.Block) > rows-at:
			return nil, 0, errors.New("the condition was evaluated on other rows than the copied ones")
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

func (m *rowMatches) memoryBytes() int64 {
	if m == nil {
		return 0
	}
	return m.source.MemoryFor(m.source.Options.Memory)
}
