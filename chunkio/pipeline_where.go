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

// groupFilter is the part of a condition that must be evaluated on the rows of one row group.
type groupFilter struct {
	state   where.State
	columns []groupColumn // columns that the state leaves undecided
}

// groupColumn is a column to be decoded for the condition in one row group.
type groupColumn struct {
	filterColumn
	leaf      int   // index in the file
	width     int   // length of its lists
	perSecond int64 // ticks of its times per second, in this file
}

func (d *Dataset) excludesGroup(g rowGroup) bool {
	return g.file != nil && g.file.outcomes != nil && g.file.outcomes[g.index].MatchesNone()
}

// mustFilterGroup reports whether the condition must be evaluated on the rows of a row group.
func (d *Dataset) mustFilterGroup(g rowGroup) bool {
	return d.catalog.filter != nil && (g.file == nil || !g.file.outcomes[g.index].MatchesAll())
}

func (f *features) needsDecoding() bool {
	return len(f.reads) > 0 || f.weight != nil || f.target != nil || f.label != nil
}

// remainingFilter returns the part of the condition that a row group of an open file leaves undecided.
func (c *catalog) remainingFilter(g rowGroup, opened format.File) (groupFilter, error) {
	f := c.filter
	if f == nil {
		return groupFilter{}, nil
	}
	state, err := f.newStateWithKeys(f.bound, c.list, g.fileIndex, c.list.entryAt(g.fileIndex).path)
	if err != nil {
		return groupFilter{}, err
	}
	return c.filterForState(f.addGroupStatistics(state, opened, g.index, g.file.leafIndex), opened.Leaves(), g.file.leafIndex), nil
}

func (c *catalog) streamFilter() groupFilter {
	if c.filter == nil {
		return groupFilter{}
	}
	return c.filterForState(c.filter.bound.NewState(), c.leaves, func(leaf int) int { return leaf })
}

// filterForState returns the parameter state with the columns of the condition that this state leaves undecided. leaves
// are the leaves of the file, and leafInFile maps leaves of the dataset to them.
func (c *catalog) filterForState(state where.State, leaves []format.Leaf, leafInFile func(leaf int) int) groupFilter {
	f, undecided := c.filter, groupFilter{state: state}
	needed := f.bound.NeededColumns(state)
	for _, col := range f.columns {
		if slices.Contains(needed, col.name) {
			here := leafInFile(col.leaf)
			undecided.columns = append(undecided.columns, groupColumn{col, here, c.leaves[col.leaf].Width, leaves[here].PerSecond})
		}
	}
	return undecided
}

// bindStream binds the condition to a stream's columns. They must be numbers or booleans, because the dictionaries of
// texts may change with each batch.
func (f *filter) bindStream(leaves []format.Leaf) error {
	if f == nil {
		return nil
	}
	if err := f.bindColumns(stdinName, leaves); err != nil {
		return err
	}
	for _, c := range f.columns {
		if !c.kind.IsNumeric() {
			return stream.Usagef("{where}: column %s is %v; on standard input only numbers and booleans can be compared; save it to a file first", c.name, c.kind)
		}
	}
	return nil
}

// addMemoryNeeds adds the memory of a condition to the needs of a pass. The scheduler decodes its columns one after the
// other, while the workers decode features.
func (f *filter) addMemoryNeeds(n *passNeeds, c *catalog) {
	if f == nil || len(f.columns) == 0 {
		return
	}
	scratch := int64(0)
	for _, col := range f.columns {
		l := c.leaves[col.leaf]
		if col.kind.IsNumeric() {
			scratch = max(scratch, l.Scratch)
		} else {
			scratch = max(scratch, l.TextScratch)
		}
		if col.kind.Class == where.Lists {
			n.rowBytes += 8 * (l.PerRow + l.PerRow/2 + 2)
		}
	}
	n.baseBytes += scratch
	n.rowBytes += 8 + int64(f.bound.RowBits()+7)/8
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

func (f *rowFilter) markSkippedRows(ctx context.Context, g *openedGroup, s *span) error {
	if s.heldGroup != nil {
		s.heldGroup.copySkips(s.from, s.rows, s.skip)
		return nil
	}
	f.rows.Reset(g.filter.state, s.rows)
	for i := range g.filter.columns {
		c := &g.filter.columns[i]
		if err := f.decodeColumn(ctx, c, s); err != nil {
			return s.placeError(err, c.name)
		}
	}
	own := s.newPiece.reserveSkips() // marks the rows for which the condition is not true
	if own == nil {
		f.rows.MarkSkipped(s.skip)
		return nil
	}
	f.rows.MarkSkipped(own)
	for w, bits := range own {
		s.skip[w] |= bits
	}
	return nil
}

func (f *rowFilter) decodeColumn(ctx context.Context, c *groupColumn, s *span) error {
	to := s.from + int64(s.rows)
	if c.kind.Class == where.Lists {
		if err := s.group.DecodeLists(ctx, c.leaf, s.from, to, &f.lists); err != nil {
			return err
		}
		f.numbers = format.Resize(f.numbers, s.rows)
		for i, null := range f.lists.Null {
			if f.numbers[i] = 0; null {
				f.numbers[i] = format.Null
			}
		}
		f.rows.AddNumbers(c.name, f.numbers)
		return nil
	}
	if c.kind.IsNumeric() {
		f.numbers = format.Resize(f.numbers, s.rows)
		f.dst = zeroSlice(f.dst, c.width)
		f.dst[c.element] = f.numbers
		if err := s.group.Decode(ctx, c.leaf, s.from, to, f.dst); err != nil {
			return err
		}
		f.rows.AddNumbers(c.name, f.numbers)
		return nil
	}
	at := 0
	return s.group.DecodeTexts(ctx, c.leaf, s.from, to, func(ids []int32, values *text.List) error {
		if !f.rows.AddTexts(c.name, c.perSecond, at, ids, values) {
			return errors.New("a value is no time that can be compared")
		}
		at += len(ids)
		return nil
	})
}

func setAllBits(set []uint64, n int) {
	for w := range set {
		set[w] = ^uint64(0)
	}
	if tail := n % 64; tail > 0 {
		set[len(set)-1] = 1<<tail - 1
	}
}

// sampleMemo keeps the samples of matching rows by seed and size, because finding a sample may need a pass over the
// condition's columns.
type sampleMemo struct {
	mutex    sync.Mutex
	samplers map[sampleKey]sampler
}

type sampleKey struct {
	seed uint64
	n    int64
}

// findPassSampler returns the sampler of a pass. With a condition, it samples only the matching rows.
func (d *Dataset) findPassSampler(ctx context.Context) (sampler, error) {
	f := d.catalog.filter
	if f == nil || d.opt.Sample == 0 {
		return d.samplerWithoutWhere(), nil
	}
	f.samples.mutex.Lock()
	defer f.samples.mutex.Unlock()
	key := sampleKey{d.opt.Seed, d.opt.Sample}
	if s, ok := f.samples.samplers[key]; ok {
		return s, nil
	}
	s, err := d.sampleMatches(ctx)
	if err == nil {
		if f.samples.samplers == nil {
			f.samples.samplers = map[sampleKey]sampler{}
		}
		f.samples.samplers[key] = s
	}
	return s, err
}

// sampleMatches finds the sample of the matching rows. If statistics do not decide the condition, it makes a pass that
// decodes only the condition's columns.
func (d *Dataset) sampleMatches(ctx context.Context) (sampler, error) {
	opt := Options{Threads: d.opt.Threads, Memory: d.opt.Memory, Meter: d.opt.Meter}
	found := newSampleFinder(d.opt.Seed, d.opt.Sample)
	err := newMatchDataset(d.catalog, opt, d.spool).runPass(ctx, stream.Range{}, func(c *stream.Chunk) bool {
		for i := range c.Rows {
			found.addRow(c.Position(i))
		}
		return true
	})
	return found.foundSampler(), err
}

// newMatchDataset returns a Dataset that has no features, only the rows of a catalog that match the condition. A pass
// over it decodes only the condition's columns.
func newMatchDataset(c *catalog, opt Options, spool func() *scratch.Space) *Dataset {
	d := &Dataset{catalog: c, opt: opt, features: &features{}, spool: spool}
	d.samplerWithoutWhere = func() sampler { return newSampleFinder(0, 0).sampler } // sample all rows
	return d
}
