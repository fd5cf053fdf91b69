package pipeline

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/cache"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rowGroup is one step of a pass: a row group of a file.
type rowGroup struct {
	file      *catalog.File // nil for a stream
	fileIndex int           // in the catalog
	path      string
	index     int          // within the file
	rows      int64        // number of its rows
	start     int64        // global position of its first row
	fileRow   int64        // position of its first row within the file
	opened    format.Group // the group of a stream, which is open on arrival; nil for files
}

func rowGroupsInRange(c *catalog.Catalog, r stream.Range) iter.Seq2[rowGroup, error] {
	return func(yield func(rowGroup, error) bool) {
		for i := range c.Files {
			f := &c.Files[i]
			g := rowGroup{file: f, fileIndex: i, path: c.FileName(i), start: f.Start}
			for index, rows := range f.Groups {
				g.index, g.rows = index, rows
				inside := r.All() || g.start >= r.From && g.start < r.To
				if inside && rows > 0 && !yield(g, nil) {
					return
				}
				g.start += rows
				g.fileRow += rows
			}
		}
	}
}

// refCount closes a file or row group that several spans use, when the scheduler and all these spans have released it.
type refCount struct {
	refs  atomic.Int32
	close func()
}

func newRefCount(closeUnused func()) *refCount {
	s := &refCount{close: closeUnused}
	s.refs.Store(1)
	return s
}

func (s *refCount) addReference() *refCount {
	s.refs.Add(1)
	return s
}

// dropReference subtracts a reference, and calls close after the last one. On nil it does nothing.
func (s *refCount) dropReference() {
	if s != nil && s.refs.Add(-1) == 0 {
		s.close()
	}
}

// scheduler is the state of the goroutine that opens row groups and sends tasks to the workers.
type scheduler struct {
	labels labelValues
	filter rowFilter
	groupOpener
}

// scheduleSpans sends the spans of the range to the consumer, in order, and their tasks to the workers. It ends at the
// first error, which the consumer finds in its span, or when the context is cancelled. Then it closes the channels out
// and tasks.
func (p *pass) scheduleSpans(ctx context.Context, r stream.Range) {
	groups := rowGroupsInRange(p.table.Catalog, r)
	if p.table.Pipe != nil {
		groups = p.table.Pipe.readBatches(ctx, ListLeavesToRead(p.table), p.table.Options.Meter)
	}
	next, stop := iter.Pull2(groups)
	defer stop()
	s := &scheduler{filter: newRowFilter(p.table), groupOpener: groupOpener{pass: p, next: next}}
	defer close(p.out)
	defer close(p.tasks)
	defer s.releaseQueuedGroups()
	for {
		g, err := s.nextGroup(ctx)
		if err != nil {
			s.sendError(ctx, err)
		}
		if g == nil || !s.sendGroup(ctx, g) {
			return
		}
	}
}

// sendGroup cuts one row group into spans. It returns false when the pass has ended.
func (s *scheduler) sendGroup(ctx context.Context, g *openedGroup) bool {
	defer g.releaseGroup()
	kept, adding := s.groupInKeep(g.rowGroup), (*cache.Group)(nil)
	if kept == nil && s.addsToKeep {
		adding = cache.BeginGroup(s.table.Options.Keep, cache.Key{File: g.rowGroup.fileIndex, Index: g.rowGroup.index}, g.rowGroup.rows)
	}
	for from := int64(0); from < g.rowGroup.rows; {
		sp := s.takeFreeSpan(ctx)
		if sp == nil {
			return false
		}
		to := min(from+s.height.Load(), g.rowGroup.rows)
		sp.resetToRows(g.rowGroup, from, to)
		sp.heldGroup, sp.newPiece = kept, adding.BeginPiece(from, int(to-from))
		err := s.prepareSpan(ctx, g, sp)
		if err != nil {
			sp.setFailure(failure{row: sp.start, column: -1, err: err})
		}
		if !s.sendSpan(ctx, sp) || err != nil {
			return false
		}
		from = to
	}
	return true
}

// prepareSpan finds the rows of a span that take part, and opens its row group if there are any. Weights are decoded
// before the features, because a row of weight 0 takes no part, even if its values are missing. The condition is
// evaluated before the weights, because rows for which it is not true need no weight.
func (s *scheduler) prepareSpan(ctx context.Context, g *openedGroup, sp *span) error {
	if conditionExcludesGroup(s.table, g.rowGroup) {
		SetAllBits(sp.skip, sp.rows)
		return nil
	}
	if !applySample(sp, s.sample) {
		return nil
	}
	if undecided := mustEvaluateCondition(s.table, g.rowGroup); undecided || s.table.Features.NeedsDecoding() {
		if sp.heldGroup == nil {
			if err := s.waitUntilOpened(ctx, g); err != nil {
				return sp.placeError(err, "")
			}
			sp.group, sp.groupRef = g.group, g.ref.addReference()
		}
		if undecided {
			if err := s.filter.markSkippedRows(ctx, g, sp); err != nil {
				return err
			}
		}
		sp.newPiece.ReserveColumns()
	}
	gone := countBits(sp.skip, 0, sp.rows, sp.skip)
	if s.matchedRows += int64(sp.rows - gone); gone == sp.rows {
		return nil
	}
	if s.table.Features.Weight != nil {
		if err := applyWeights(ctx, sp); err != nil {
			return err
		}
	}
	if s.table.Features.Target != nil {
		if err := decodeTargets(ctx, sp); err != nil {
			return err
		}
	}
	if s.table.Features.Label == nil {
		return nil
	}
	return applyLabels(ctx, sp, &s.labels)
}

func (s *scheduler) sendSpan(ctx context.Context, toSend *span) bool {
	reads, each := toSend.countReads()
	toSend.pending.Store(int32((reads + each - 1) / each))
	if reads == 0 {
		toSend.finishDecodedSpan()
	}
	s.out <- toSend
	for i := 0; i < reads; i += each {
		select {
		case s.tasks <- spanTask{toSend, i, min(i+each, reads)}:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// sendError delivers an error that does not belong to a row group, after all earlier spans.
func (s *scheduler) sendError(ctx context.Context, err error) {
	if sp := s.takeFreeSpan(ctx); sp != nil {
		sp.resetToRows(rowGroup{}, 0, 0)
		sp.setFailure(failure{column: -1, err: err})
		s.sendSpan(ctx, sp)
	}
}

func (s *scheduler) takeFreeSpan(ctx context.Context) *span {
	select {
	case sp := <-s.free:
		return sp
	case <-ctx.Done():
		return nil
	}
}

// ListLeavesToRead lists the leaves that a pass decodes, in order.
func ListLeavesToRead(t *Table) []int {
	leaves := t.Features.ListLeavesToDecode(t.Sparse)
	if f := t.Catalog.Filter; f != nil {
		for _, c := range f.Columns {
			leaves = append(leaves, c.Leaf)
		}
	}
	slices.Sort(leaves)
	return slices.Compact(leaves)
}
