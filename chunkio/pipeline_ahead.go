package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// ahead opens the row groups of a pass in their order: those of local files when they are
// needed, or, where footers are long, while the spans before are decoded; those of objects in a store some ahead, so that their bytes are on their way while
// others are decoded. It belongs to the scheduler's goroutine.
type ahead struct {
	*pass
	next  func() (rowGroup, error, bool)
	queue []*openedGroup
	file  *openedFile // opened last; nil if none is
	ended bool        // next has no more
	err   error       // why, after what is in the queue
}

// openedFile is a file that is open, or on its way.
type openedFile struct {
	index  int           // in the catalog
	ready  chan struct{} // closed when the rest is there
	opened format.File
	in     Input
	err    error
	up     *shared
}

// openedGroup is a row group that is open, on its way, or not begun, when up is nil.
type openedGroup struct {
	at    rowGroup
	ready chan struct{} // closed when the rest is there
	group format.Group
	err   error
	up    *shared
	where groupFilter // what Options.Where wants of it
}

// release lets go of the row group.
func (g *openedGroup) release() {
	g.up.release()
	g.up = nil
}

// take returns the next row group, nil where there is none, or the error that ends the pass.
func (a *ahead) take(ctx context.Context) (*openedGroup, error) {
	for len(a.queue) <= a.plan.ahead && !a.ended {
		at, err, more := a.next()
		if err != nil || !more {
			a.ended, a.err = true, err
			break
		}
		g := &openedGroup{at: at}
		if at.opened != nil { // of a stream
			g.ready = make(chan struct{})
			close(g.ready)
			g.group, g.up = at.opened, newShared(at.opened.Close)
			g.where = a.d.catalog.filterOfStream()
		}
		a.queue = append(a.queue, g)
	}
	for _, g := range a.queue {
		if (a.plan.ahead > 0 || a.early()) && g.up == nil && a.takesPart(g.at) && !a.begin(ctx, g, false) {
			break // in order: a later one must not hold what an earlier one waits for
		}
	}
	if len(a.queue) == 0 {
		return nil, a.err
	}
	g := a.queue[0]
	a.queue = a.queue[1:]
	return g, nil
}

// takesPart reports whether a row of the group may be in the sample.
func (a *ahead) takesPart(g rowGroup) bool {
	if a.d.never(g) || a.inKeep(g) != nil || !a.d.undecided(g) && !a.d.features.reading() {
		return false
	}
	if a.sample.all() {
		return true
	}
	for row := g.start; row < g.start+g.rows; row++ {
		if a.sample.keeps(row) {
			return true
		}
	}
	return false
}

// longFooter is the size in memory from which on a local file's footer is parsed beside the
// decoding of the file before: half a second for the 141 MB of 100,000 columns.
const longFooter = 4 << 20

// early reports whether files, all of them local, are opened before there is a span for them. With a
// single span only one is planned to be open at a time.
func (a *ahead) early() bool {
	return a.d.pipe == nil && !a.d.catalog.hasRemote && a.plan.buffers > 1 && a.d.catalog.openBytes >= longFooter
}

// ready waits until the row group is open, beginning if nobody has.
func (a *ahead) ready(ctx context.Context, g *openedGroup) error {
	if g.up == nil && !a.begin(ctx, g, true) {
		return ctx.Err()
	}
	select {
	case <-g.ready:
		return g.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin opens a row group and, if it is of another one than before, its file. It returns false
// where as many files are open as may be, unless it is to wait, or where the pass is over.
func (a *ahead) begin(ctx context.Context, g *openedGroup, wait bool) bool {
	if a.file == nil || a.file.index != g.at.fileIndex {
		if wait {
			a.file.letGo() // the last of a file waits for the one before to be done with
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
		a.file.letGo()
		a.file = a.reopen(ctx, g.at.fileIndex)
	}
	f := a.file
	f.up.retain()
	g.ready = make(chan struct{})
	release := func() {}
	g.up = newShared(func() {
		<-g.ready
		release()
		f.up.release()
	})
	a.run(func() {
		defer close(g.ready)
		<-f.ready
		if g.err = f.err; g.err == nil {
			g.where, g.err = a.d.catalog.filterOf(g.at, f.opened)
		}
		if g.err == nil {
			var leaves []int
			for _, l := range a.d.features.leaves(a.d.sparse) {
				if here := g.at.file.leafIndex(l); here >= 0 {
					leaves = append(leaves, here)
				}
			}
			if a.d.undecided(g.at) {
				for _, c := range g.where.columns {
					leaves = append(leaves, c.leaf)
				}
			}
			g.group, release, g.err = a.fetch.openGroup(ctx, f.opened, f.in, g.at.index, leaves)
		}
	})
	return true
}

// reopen opens a file, for which there is a token.
func (a *ahead) reopen(ctx context.Context, index int) *openedFile {
	f := &openedFile{index: index, ready: make(chan struct{})}
	f.up = newShared(func() {
		<-f.ready
		if f.opened != nil {
			f.opened.Close()
		}
		<-a.files
	})
	a.run(func() {
		defer close(f.ready)
		f.opened, f.in, f.err = a.d.catalog.reopenFile(ctx, index, a.d.opt.Memory, a.d.opt.Meter)
	})
	return f
}

// run does what may wait for a store, or takes long, beside the scheduler, and anything else at once.
func (a *ahead) run(do func()) {
	if a.d.catalog.hasRemote || a.early() {
		a.running.Go(do)
	} else {
		do()
	}
}

func (f *openedFile) letGo() {
	if f != nil {
		f.up.release()
	}
}

// letGo ends it.
func (a *ahead) letGo() {
	for _, g := range a.queue {
		g.release()
	}
	a.file.letGo()
}
