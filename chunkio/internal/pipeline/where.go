package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
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
	catalog.FilterColumn
	leaf      int   // index in the file
	width     int   // length of its lists
	perSecond int64 // ticks of its times per second, in this file
}

func conditionExcludesGroup(t *Table, group rowGroup) bool {
	return group.file != nil && group.file.Outcomes != nil && group.file.Outcomes[group.index].MatchesNone()
}

func mustEvaluateCondition(t *Table, group rowGroup) bool {
	return t.Catalog.Filter != nil && (group.file == nil || !group.file.Outcomes[group.index].MatchesAll())
}

// remainingFilter returns the part of the condition that a row group of an open file leaves undecided.
func remainingFilter(c *catalog.Catalog, g rowGroup, opened format.File) (groupFilter, error) {
	f := c.Filter
	if f == nil {
		return groupFilter{}, nil
	}
	state, err := f.NewStateWithKeys(f.Bound, c.List, g.fileIndex, c.List.EntryAt(g.fileIndex).Path)
	if err != nil {
		return groupFilter{}, err
	}
	return filterForState(c, f.AddGroupStatistics(state, opened, g.index, g.file.LeafIndex), opened.Leaves(), g.file.LeafIndex), nil
}

func filterForStream(c *catalog.Catalog) groupFilter {
	if c.Filter == nil {
		return groupFilter{}
	}
	return filterForState(c, c.Filter.Bound.NewState(), c.Leaves, func(leaf int) int { return leaf })
}

// filterForState returns the parameter state with the columns of the condition that this state leaves undecided. leaves
// are the leaves of the file, and leafInFile maps leaves of the dataset to them.
func filterForState(c *catalog.Catalog, state where.State, leaves []format.Leaf, leafInFile func(leaf int) int) groupFilter {
	f, undecided := c.Filter, groupFilter{state: state}
	needed := f.Bound.NeededColumns(state)
	for _, col := range f.Columns {
		if slices.Contains(needed, col.Name) {
			here := leafInFile(col.Leaf)
			undecided.columns = append(undecided.columns, groupColumn{col, here, c.Leaves[col.Leaf].Width, leaves[here].PerSecond})
		}
	}
	return undecided
}

// addMemoryNeeds adds the memory of a condition to the needs of a pass. The scheduler decodes its columns one after the
// other, while the workers decode features.
func addMemoryNeeds(f *catalog.Filter, n *PassNeeds, c *catalog.Catalog) {
	if f == nil || len(f.Columns) == 0 {
		return
	}
	scratch := int64(0)
	for _, col := range f.Columns {
		l := c.Leaves[col.Leaf]
		if col.Kind.IsNumeric() {
			scratch = max(scratch, l.Scratch)
		} else {
			scratch = max(scratch, l.TextScratch)
		}
		if col.Kind.Class == where.Lists {
			n.rowBytes += 8 * (l.PerRow + l.PerRow/2 + 2)
		}
	}
	n.baseBytes += scratch
	n.rowBytes += 8 + int64(f.Bound.RowBits()+7)/8
}

// rowFilter evaluates a condition on spans. It belongs to the scheduler.
type rowFilter struct {
	rows    *where.Rows // nil without a condition
	numbers []float64
	dst     [][]float64
	lists   format.Lists
}

func newRowFilter(t *Table) rowFilter {
	if t.Catalog.Filter == nil {
		return rowFilter{}
	}
	return rowFilter{rows: where.NewRows(t.Catalog.Filter.Bound)}
}

func (f *rowFilter) markSkippedRows(ctx context.Context, group *openedGroup, s *span) error {
	if s.heldGroup != nil {
		s.heldGroup.CopySkips(s.from, s.rows, s.skip)
		return nil
	}
	f.rows.Reset(group.filter.state, s.rows)
	for i := range group.filter.columns {
		c := &group.filter.columns[i]
		if err := f.decodeColumn(ctx, c, s); err != nil {
			return s.placeError(err, c.Name)
		}
	}
	own := s.newPiece.ReserveSkips() // marks the rows for which the condition is not true
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

func (f *rowFilter) decodeColumn(ctx context.Context, toDecode *groupColumn, s *span) error {
	to := s.from + int64(s.rows)
	if toDecode.Kind.Class == where.Lists {
		if err := s.group.DecodeLists(ctx, toDecode.leaf, s.from, to, &f.lists); err != nil {
			return err
		}
		f.numbers = format.Resize(f.numbers, s.rows)
		for i, null := range f.lists.Null {
			if f.numbers[i] = 0; null {
				f.numbers[i] = format.Null
			}
		}
		f.rows.AddNumbers(toDecode.Name, f.numbers)
		return nil
	}
	if toDecode.Kind.IsNumeric() {
		f.numbers = format.Resize(f.numbers, s.rows)
		f.dst = zeroSlice(f.dst, toDecode.width)
		f.dst[toDecode.Element] = f.numbers
		if err := s.group.Decode(ctx, toDecode.leaf, s.from, to, f.dst); err != nil {
			return err
		}
		f.rows.AddNumbers(toDecode.Name, f.numbers)
		return nil
	}
	at := 0
	return s.group.DecodeTexts(ctx, toDecode.leaf, s.from, to, func(ids []int32, values *text.List) error {
		if !f.rows.AddTexts(toDecode.Name, toDecode.perSecond, at, ids, values) {
			return errors.New("a value is no time that can be compared")
		}
		at += len(ids)
		return nil
	})
}

// SetAllBits sets the first n bits.
func SetAllBits(set []uint64, n int) {
	for w := range set {
		set[w] = ^uint64(0)
	}
	if tail := n % 64; tail > 0 {
		set[len(set)-1] = 1<<tail - 1
	}
}

// findPassSampler returns the sampler of a pass. With a condition, it samples only the matching rows.
func findPassSampler(ctx context.Context, t *Table) (catalog.Sampler, error) {
	f := t.Catalog.Filter
	if f == nil || t.Options.Sample == 0 {
		return t.samplerWithoutWhere(), nil
	}
	return f.SamplerOfMatches(t.Options.Seed, t.Options.Sample, func() (catalog.Sampler, error) { return sampleMatches(ctx, t) })
}

// sampleMatches finds the sample of the matching rows. If statistics do not decide the condition, it makes a pass that
// decodes only the condition's columns.
func sampleMatches(ctx context.Context, t *Table) (catalog.Sampler, error) {
	opt := settings.Options{Threads: t.Options.Threads, Memory: t.Options.Memory, Meter: t.Options.Meter}
	found := catalog.NewSampleFinder(t.Options.Seed, t.Options.Sample)
	err := runPass(ctx, NewMatchTable(t.Catalog, opt, t.spool), stream.Range{}, func(c *stream.Chunk) bool {
		for i := range c.Rows {
			found.AddRow(c.Position(i))
		}
		return true
	})
	return found.FoundSampler(), err
}

// NewMatchTable returns a table that has no features, only the rows of a catalog that match the condition. A pass
// over it decodes only the condition's columns.
func NewMatchTable(c *catalog.Catalog, opt settings.Options, spool func() *scratch.Space) *Table {
	d := &Table{Catalog: c, Options: opt, Features: &schema.Features{}, spool: spool}
	d.samplerWithoutWhere = func() catalog.Sampler { return catalog.NewSampleFinder(0, 0).Sampler } // sample all rows
	return d
}
