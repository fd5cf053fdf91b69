package chunkio

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// groupFilter is what of a condition is left for the rows of one row group.
type groupFilter struct {
	state   where.State
	columns []groupColumn // that the state leaves undecided
}

// groupColumn is a column to decode for a condition.
type groupColumn struct {
	filterColumn
	leaf      int   // of the file
	width     int   // of its lists
	perSecond int64 // of its times, in this file
}

// never tells a row group that keys or statistics exclude.
func (d *Dataset) never(g rowGroup) bool {
	return g.file != nil && g.file.outcomes != nil && g.file.outcomes[g.index].Never()
}

// undecided tells a row group whose rows the condition must be asked of one by one.
func (d *Dataset) undecided(g rowGroup) bool {
	return d.catalog.filter != nil && (g.file == nil || !g.file.outcomes[g.index].Always())
}

// reading reports whether rows have anything to decode.
func (f *features) reading() bool {
	return len(f.reads) > 0 || f.weight != nil || f.target != nil || f.label != nil
}

// filterOf is what the condition wants of a row group of an open file.
func (c *catalog) filterOf(g rowGroup, opened format.File) (groupFilter, error) {
	f := c.filter
	if f == nil {
		return groupFilter{}, nil
	}
	state, err := f.keyState(f.bound, c.list, g.fileIndex, c.list.entryAt(g.fileIndex).path)
	if err != nil {
		return groupFilter{}, err
	}
	return c.left(f.addStatistics(state, opened, g.index, g.file.leafIndex), opened.Leaves(), g.file.leafIndex), nil
}

// filterOfStream is what the condition wants of every batch of a stream.
func (c *catalog) filterOfStream() groupFilter {
	if c.filter == nil {
		return groupFilter{}
	}
	return c.left(c.filter.bound.Start(), c.leaves, func(leaf int) int { return leaf })
}

// left lists the columns that a state leaves undecided; leaves are the file's.
func (c *catalog) left(state where.State, leaves []format.Leaf, at func(leaf int) int) groupFilter {
	f, left := c.filter, groupFilter{state: state}
	needed := f.bound.Needed(state)
	for _, col := range f.columns {
		if slices.Contains(needed, col.name) {
			here := at(col.leaf)
			left.columns = append(left.columns, groupColumn{col, here, c.leaves[col.leaf].Width, leaves[here].PerSecond})
		}
	}
	return left
}

// bindStream binds the condition to a stream's columns. Its texts come and go with the
// batches, and it has no path.
func (f *filter) bindStream(leaves []format.Leaf) error {
	if f == nil {
		return nil
	}
	if err := f.bindColumns(stdinName, leaves); err != nil {
		return err
	}
	for _, c := range f.columns {
		if !c.kind.Numeric() {
			return stream.Usagef("{where}: column %s is %v; on standard input only numbers and booleans can be compared; save it to a file first", c.name, c.kind)
		}
	}
	return nil
}

// addTo adds what a condition holds to what a pass needs. The scheduler decodes its columns
// one after the other, beside the workers.
func (f *filter) addTo(n *needs, c *catalog) {
	if f == nil || len(f.columns) == 0 {
		return
	}
	scratch := int64(0)
	for _, col := range f.columns {
		l := c.leaves[col.leaf]
		if col.kind.Numeric() {
			scratch = max(scratch, l.Scratch)
		} else {
			scratch = max(scratch, l.TextScratch)
		}
		if col.kind.Class == where.Lists {
			n.row += 8 * (l.PerRow + l.PerRow/2 + 2)
		}
	}
	n.base += scratch
	n.row += 8 + int64(f.bound.RowBits()+7)/8
}

// rowFilter evaluates a condition on spans. It belongs to the scheduler.
type rowFilter struct {
	rows    *where.Rows // nil without a condition
	numbers []float64
	dst     [][]float64
	lists   format.Lists
}

func newRowFilter(d *Dataset) rowFilter {
	if d.catalog.filter == nil {
		return rowFilter{}
	}
	return rowFilter{rows: where.NewRows(d.catalog.filter.bound)}
}

// apply marks the rows of the span for which the condition is not true.
func (f *rowFilter) apply(ctx context.Context, g *openedGroup, s *span) error {
	if s.held != nil {
		s.held.skipTo(s.from, s.rows, s.skip)
		return nil
	}
	f.rows.Reset(g.where.state, s.rows)
	for i := range g.where.columns {
		c := &g.where.columns[i]
		if err := f.decode(ctx, c, s); err != nil {
			return s.place(err, c.name)
		}
	}
	own := s.adding.skips() // without the rows outside the sample
	if own == nil {
		f.rows.Skip(s.skip)
		return nil
	}
	f.rows.Skip(own)
	for w, bits := range own {
		s.skip[w] |= bits
	}
	return nil
}

func (f *rowFilter) decode(ctx context.Context, c *groupColumn, s *span) error {
	to := s.from + int64(s.rows)
	if c.kind.Class == where.Lists {
		if err := s.group.DecodeLists(ctx, c.leaf, s.from, to, &f.lists); err != nil {
			return err
		}
		f.numbers = format.Sized(f.numbers, s.rows)
		for i, null := range f.lists.Null {
			if f.numbers[i] = 0; null {
				f.numbers[i] = format.Null
			}
		}
		f.rows.Numbers(c.name, f.numbers)
		return nil
	}
	if c.kind.Numeric() {
		f.numbers = format.Sized(f.numbers, s.rows)
		f.dst = zeroed(f.dst, c.width)
		f.dst[c.element] = f.numbers
		if err := s.group.Decode(ctx, c.leaf, s.from, to, f.dst); err != nil {
			return err
		}
		f.rows.Numbers(c.name, f.numbers)
		return nil
	}
	at := 0
	return s.group.DecodeTexts(ctx, c.leaf, s.from, to, func(ids []int32, values *text.List) error {
		if !f.rows.Texts(c.name, c.perSecond, at, ids, values) {
			return errors.New("a value is no time that can be compared")
		}
		at += len(ids)
		return nil
	})
}

// skipAll sets the bits of n rows.
func skipAll(set []uint64, n int) {
	for w := range set {
		set[w] = ^uint64(0)
	}
	if tail := n % 64; tail > 0 {
		set[len(set)-1] = 1<<tail - 1
	}
}

// sampleMemo keeps the samples among the rows that match, by seed and size: to find one may
// cost a pass over the condition's columns.
type sampleMemo struct {
	mutex sync.Mutex
	known map[sampleKey]sampler
}

type sampleKey struct {
	seed uint64
	n    int64
}

// sampler is the sample of a pass. With a condition it is one of the rows that match.
func (d *Dataset) sampler(ctx context.Context) (sampler, error) {
	f := d.catalog.filter
	if f == nil || d.opt.Sample == 0 {
		return d.samplerWithoutWhere(), nil
	}
	f.samples.mutex.Lock()
	defer f.samples.mutex.Unlock()
	key := sampleKey{d.opt.Seed, d.opt.Sample}
	if s, ok := f.samples.known[key]; ok {
		return s, nil
	}
	s, err := d.sampleMatches(ctx)
	if err == nil {
		if f.samples.known == nil {
			f.samples.known = map[sampleKey]sampler{}
		}
		f.samples.known[key] = s
	}
	return s, err
}

// sampleMatches finds the sample among the rows that match: by a pass that decodes nothing
// but the condition's columns, and only where statistics do not decide.
func (d *Dataset) sampleMatches(ctx context.Context) (sampler, error) {
	opt := Options{Threads: d.opt.Threads, Memory: d.opt.Memory, Meter: d.opt.Meter}
	found := newSmallest(d.opt.Seed, d.opt.Sample)
	err := matching(d.catalog, opt, d.spool).pass(ctx, stream.Range{}, func(c *stream.Chunk) bool {
		for i := range c.Rows {
			found.add(c.Position(i))
		}
		return true
	})
	return found.found(), err
}

// matching is a catalog's rows that match, without a column: a pass decodes nothing but the
// condition's columns.
func matching(c *catalog, opt Options, spool func() *scratch.Space) *Dataset {
	d := &Dataset{catalog: c, opt: opt, features: &features{}, spool: spool}
	d.samplerWithoutWhere = func() sampler { return newSmallest(0, 0).sampler } // all of them
	return d
}
