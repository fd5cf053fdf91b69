package pipeline

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
)

// groupOpener opens the row groups of a pass in their order. Row groups of local files are opened when they are needed,
// or, if the file has a long footer, while spans before them are decoded. Some row groups of objects in a store are
// opened ahead, so that they are fetched while earlier row groups are decoded. Only the scheduler's goroutine uses it.
type groupOpener struct {
	*pass
	next    func() (rowGroup, error, bool)
	queue   []*openedGroup
	file    *openedFile // the file opened last; nil if no file is open
	isAtEnd bool        // next has no more row groups
	err     error       // returned by nextGroup after the groups in queue
}

// openedFile is a file that is open, or being opened.
type openedFile struct {
	index  int           // in the catalog
	ready  chan struct{} // closed when opening has ended
	opened format.File
	in     storage.Input
	err    error
	ref    *refCount
}

// openedGroup is a row group that is open, is being opened, or is still to be opened (ref is nil).
type openedGroup struct {
	rowGroup rowGroup
	ready    chan struct{} // closed when opening has ended
	group    format.Group
	err      error
	ref      *refCount
	filter   groupFilter // the undecided part of Options.Where
}

func (g *openedGroup) releaseGroup() {
	g.ref.dropReference()
	g.ref = nil
}

// nextGroup returns the next row group, nil if there is none, or the error that ends the pass.
func (a *groupOpener) nextGroup(ctx context.Context) (*openedGroup, error) {
	for len(a.queue) <= a.plan.ahead && !a.isAtEnd {
		at, err, more := a.next()
		if err != nil || !more {
			a.isAtEnd, a.err = true, err
			break
		}
		g := &openedGroup{rowGroup: at}
		if at.opened != nil { // from a stream
			g.ready = make(chan struct{})
			close(g.ready)
			g.group, g.ref = at.opened, newRefCount(at.opened.Close)
			g.filter = filterForStream(a.table.Catalog)
		}
		a.queue = append(a.queue, g)
	}
	for _, g := range a.queue {
		if (a.plan.ahead > 0 || a.opensEarly()) && g.ref == nil && a.mustOpen(g.rowGroup) && !a.beginOpen(ctx, g, false) {
			break // a later row group must not hold a file token for which an earlier one waits
		}
	}
	if len(a.queue) == 0 {
		return nil, a.err
	}
	g := a.queue[0]
	a.queue = a.queue[1:]
	return g, nil
}

// mustOpen reports whether a row group must be opened, because it has values to decode and a row in the sample.
func (a *groupOpener) mustOpen(g rowGroup) bool {
	if conditionExcludesGroup(a.table, g) || a.groupInKeep(g) != nil || !mustEvaluateCondition(a.table, g) && !a.table.Features.NeedsDecoding() {
		return false
	}
	if a.sample.KeepsAllRows() {
		return true
	}
	for row := g.start; row < g.start+g.rows; row++ {
		if a.sample.KeepsRow(row) {
			return true
		}
	}
	return false
}

// opensEarly reports whether files are opened before there is a span for them. All files must be local and have long
// footers. The memory plan must have several spans, because with a single span it has room for only one open file.
func (a *groupOpener) opensEarly() bool {
	return a.table.Pipe == nil && !a.table.Catalog.HasRemote && a.plan.buffers > 1 && a.table.Catalog.OpenBytes >= catalog.LongFooter
}

func (a *groupOpener) waitUntilOpened(ctx context.Context, g *openedGroup) error {
	if g.ref == nil && !a.beginOpen(ctx, g, true) {
		return ctx.Err()
	}
	select {
	case <-g.ready:
		return g.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beginOpen opens a row group and, if necessary, its file. It returns false if the limit of open files is reached and
// wait is false, or if the pass is over.
func (a *groupOpener) beginOpen(ctx context.Context, g *openedGroup, wait bool) bool {
	if a.file == nil || a.file.index != g.rowGroup.fileIndex {
		if wait {
			a.file.releaseFile() // the last token may belong to the previous file
			a.file = nil
		}
		select {
		case a.files <- struct{}{}:
		default:
			if !wait {
				return false
			}
			select {
			case a.files <- struct{}{}:
			case <-ctx.Done():
				return false
			}
		}
		a.file.releaseFile()
		a.file = a.openFileAhead(ctx, g.rowGroup.fileIndex)
	}
	f := a.file
	f.ref.addReference()
	g.ready = make(chan struct{})
	release := func() {}
	g.ref = newRefCount(func() {
		<-g.ready
		release()
		f.ref.dropReference()
	})
	a.runAhead(func() {
		defer close(g.ready)
		<-f.ready
		if g.err = f.err; g.err == nil {
			g.filter, g.err = remainingFilter(a.table.Catalog, g.rowGroup, f.opened)
		}
		if g.err == nil {
			var leaves []int
			for _, l := range a.table.Features.ListLeavesToDecode(a.table.Sparse) {
				if here := g.rowGroup.file.LeafIndex(l); here >= 0 {
					leaves = append(leaves, here)
				}
			}
			if mustEvaluateCondition(a.table, g.rowGroup) {
				for _, c := range g.filter.columns {
					leaves = append(leaves, c.leaf)
				}
			}
			g.group, release, g.err = a.fetch.OpenGroup(ctx, f.opened, f.in, g.rowGroup.index, leaves)
		}
	})
	return true
}

// openFileAhead opens a file. The caller has already put a token for it into a.files.
func (a *groupOpener) openFileAhead(ctx context.Context, index int) *openedFile {
	f := &openedFile{index: index, ready: make(chan struct{})}
	f.ref = newRefCount(func() {
		<-f.ready
		if f.opened != nil {
			f.opened.Close()
		}
		<-a.files
	})
	a.runAhead(func() {
		defer close(f.ready)
		f.opened, f.in, f.err = a.table.Catalog.ReopenFile(ctx, index, a.table.Options.Memory, a.table.Options.Meter)
	})
	return f
}

// runAhead calls the function do in a goroutine of its own if do may wait for a store or take long. Otherwise it calls
// do directly.
func (a *groupOpener) runAhead(do func()) {
	if a.table.Catalog.HasRemote || a.opensEarly() {
		a.running.Go(do)
	} else {
		do()
	}
}

func (f *openedFile) releaseFile() {
	if f != nil {
		f.ref.dropReference()
	}
}

func (a *groupOpener) releaseQueuedGroups() {
	for _, g := range a.queue {
		g.releaseGroup()
	}
	a.file.releaseFile()
}
