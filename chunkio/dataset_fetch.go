package chunkio

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/store"
)

const (
	// fetchGap is the largest run of bytes nobody asked for that is fetched rather than cut
	// around: what it costs is small against another request, some 20 ms at 100 MB/s.
	fetchGap = 256 << 10
	// fetchPart is the size up to which a range is one request. A larger one is cut in two, so
	// that its front can be decoded while its end arrives, and into more from four times this.
	fetchPart = 16 << 20
	// spoolPart is what is fetched at a time, at least, where a row group does not fit into memory and goes
	// to a scratch file.
	spoolPart = 1 << 20
	// fetchesAtOnce bounds the requests under way for row groups.
	fetchesAtOnce = 8
)

// coalesce joins the extents of a file of the given size into ranges, in order, across gaps of
// at most gap bytes. Extents that a damaged file sets outside are left to those who read them.
func coalesce(extents []format.Extent, size, gap int64) []format.Extent {
	extents = slices.DeleteFunc(slices.Clone(extents), func(e format.Extent) bool {
		return e.Size <= 0 || e.At < 0 || e.At > size || e.Size > size-e.At
	})
	slices.SortFunc(extents, func(a, b format.Extent) int { return cmp.Compare(a.At, b.At) })
	var ranges []format.Extent
	for _, e := range extents {
		if n := len(ranges) - 1; n >= 0 && e.At-(ranges[n].At+ranges[n].Size) <= gap {
			ranges[n].Size = max(ranges[n].Size, e.At+e.Size-ranges[n].At)
			continue
		}
		ranges = append(ranges, e)
	}
	return ranges
}

// cut cuts a range into parts of equal size, each at most one request.
func cut(r format.Extent, most int64) []format.Extent {
	n := int64(1)
	switch {
	case r.Size > 4*most:
		n = (r.Size + 2*most - 1) / (2 * most)
	case r.Size > most:
		n = 2
	}
	size := (r.Size + n - 1) / n
	var parts []format.Extent
	for at := r.At; at < r.At+r.Size; at += size {
		parts = append(parts, format.Extent{At: at, Size: min(size, r.At+r.Size-at)})
	}
	return parts
}

// fetcher fetches the ranges of row groups ahead of those who read them.
type fetcher struct {
	slots   chan struct{} // a token for every request under way
	piece   int64         // bytes of a request to scratch files; 0 where they go to memory
	scratch *scratch.Space

	mu    sync.Mutex
	spare [][]byte // used again: garbage of their size would count twice
}

// newFetcher fetches to memory, or by pieces to scratch files where piece is not 0.
func newFetcher(piece int64, space *scratch.Space) *fetcher {
	return &fetcher{slots: make(chan struct{}, fetchesAtOnce), piece: piece, scratch: space}
}

// fetched is the ranges of one row group, on their way or there.
type fetched struct {
	from   *object
	wanted []format.Extent // by offset, disjoint
	parts  []*part         // by offset
	cancel context.CancelFunc
	wait   sync.WaitGroup
	in     *fetcher
	disk   *scratch.Plain // where the bytes are, unless in memory
}

// part is one request.
type part struct {
	format.Extent
	done   chan struct{} // closed when it is there, or has failed
	err    error
	pieces []store.Piece  // in memory, without the gaps between them; in order
	data   []byte         // what they are cut from
	disk   *scratch.Plain // else, with the gaps
	base   int64          // its place there
}

// lay makes room in memory for the bytes of the part that were asked for.
func (p *part) lay(wanted []format.Extent, buffer func(n int) []byte) {
	total := int64(0)
	within := func(yield func(format.Extent)) {
		for _, w := range wanted {
			at, end := max(w.At, p.At), min(w.At+w.Size, p.At+p.Size)
			if at < end {
				yield(format.Extent{At: at, Size: end - at})
			}
		}
	}
	within(func(e format.Extent) { total += e.Size })
	p.data = buffer(int(total))
	room := p.data
	within(func(e format.Extent) {
		p.pieces = append(p.pieces, store.Piece{At: e.At, To: room[:e.Size:e.Size]})
		room = room[e.Size:]
	})
}

// has reports whether the byte at an offset was asked for.
func (g *fetched) has(at int64) bool {
	i := sort.Search(len(g.wanted), func(i int) bool { return g.wanted[i].At+g.wanted[i].Size > at })
	return i < len(g.wanted) && g.wanted[i].At <= at
}

// open opens row group g of a file, and begins to fetch what decoding its leaves will read
// where the file is an object. release, never nil, closes both.
func (f *fetcher) open(ctx context.Context, file format.File, in Input, g int, leaves []int) (group format.Group, release func(), err error) {
	if group, err = file.Open(ctx, g, leaves); err != nil {
		return nil, func() {}, err
	}
	o, far := in.(*object)
	ranged, tells := group.(format.Ranged)
	if !far || !tells {
		return group, group.Close, nil
	}
	ahead, err := f.fetch(ctx, o, ranged.Extents(leaves))
	return group, func() {
		group.Close()
		ahead.release()
	}, err
}

// fetch begins to fetch what the extents of a file ask for. ReadAt of the file waits for its
// bytes from now on, until release.
func (f *fetcher) fetch(ctx context.Context, o *object, extents []format.Extent) (*fetched, error) {
	wanted := coalesce(extents, o.object.Size, 0)
	ranges := coalesce(wanted, o.object.Size, fetchGap)
	ctx, cancel := context.WithCancel(ctx)
	g := &fetched{from: o, wanted: wanted, cancel: cancel, in: f}
	most := int64(fetchPart)
	if f.piece > 0 {
		most = f.piece
		total := format.Bytes(ranges)
		if total > 0 {
			var err error
			if g.disk, err = f.scratch.Plain(total); err != nil {
				cancel()
				return nil, err
			}
		}
	}
	base := int64(0)
	for _, r := range ranges {
		for _, e := range cut(r, most) {
			g.parts = append(g.parts, &part{Extent: e, done: make(chan struct{}), disk: g.disk, base: base})
			base += e.Size
		}
	}
	o.mu.Lock()
	o.fetched = append(o.fetched, g)
	o.mu.Unlock()
	if f.piece > 0 {
		g.wait.Go(func() { g.fill(ctx) })
		return g, nil
	}
	for _, p := range g.parts {
		select { // in the order of the parts, so that what is read first arrives first
		case f.slots <- struct{}{}:
		default:
			g.wait.Go(func() {
				select {
				case f.slots <- struct{}{}:
					f.load(ctx, g, p)
				case <-ctx.Done():
					p.err = ctx.Err()
					close(p.done)
				}
			})
			continue
		}
		g.wait.Go(func() { f.load(ctx, g, p) })
	}
	return g, nil
}

// load fetches a part into memory, and gives its slot back.
func (f *fetcher) load(ctx context.Context, g *fetched, p *part) {
	defer close(p.done)
	defer func() { <-f.slots }()
	p.lay(g.wanted, f.buffer)
	p.err = g.from.client.ReadPieces(ctx, g.from.object, p.pieces)
}

// fill fetches the parts one after the other into the scratch file.
func (g *fetched) fill(ctx context.Context) {
	buffer := g.in.buffer(int(g.in.piece))
	defer g.in.giveBack(buffer)
	var err error
	for _, p := range g.parts {
		for done := int64(0); done < p.Size && err == nil; {
			b := buffer[:min(int64(len(buffer)), p.Size-done)]
			if err = g.from.client.Read(ctx, g.from.object, b, p.At+done); err == nil {
				_, err = p.disk.WriteAt(b, p.base+done)
			}
			done += int64(len(b))
		}
		p.err = err
		close(p.done)
	}
}

// find returns the part that holds the byte at an offset; nil where none does.
func (g *fetched) find(at int64) *part {
	i := sort.Search(len(g.parts), func(i int) bool { return g.parts[i].At+g.parts[i].Size > at })
	if i == len(g.parts) || g.parts[i].At > at || !g.has(at) {
		return nil
	}
	return g.parts[i]
}

// read copies what the part has of b, which begins with a byte that was asked for, once it
// is there.
func (p *part) read(ctx context.Context, b []byte, at int64) (int, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if p.err != nil {
		return 0, p.err
	}
	if p.disk == nil {
		i := sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].At+int64(len(p.pieces[i].To)) > at })
		return copy(b, p.pieces[i].To[at-p.pieces[i].At:]), nil
	}
	b = b[:min(int64(len(b)), p.At+p.Size-at)]
	n, err := p.disk.ReadAt(b, p.base+at-p.At)
	if errors.Is(err, io.EOF) && n == len(b) {
		err = nil
	}
	return n, err
}

// release forgets the bytes; on nil it does nothing.
func (g *fetched) release() {
	if g == nil {
		return
	}
	g.cancel()
	g.wait.Wait()
	o := g.from
	o.mu.Lock()
	o.fetched = slices.DeleteFunc(o.fetched, func(f *fetched) bool { return f == g })
	o.mu.Unlock()
	for _, p := range g.parts {
		g.in.giveBack(p.data)
	}
	if g.disk != nil {
		g.disk.Close() // scratch that is given up: nothing is lost if that fails
	}
}

// buffer returns n bytes, used or new.
func (f *fetcher) buffer(n int) []byte {
	f.mu.Lock()
	for i, b := range f.spare {
		if cap(b) >= n && cap(b) <= n+n/4 {
			f.spare = slices.Delete(f.spare, i, i+1)
			f.mu.Unlock()
			return b[:n]
		}
	}
	f.spare = nil // of sizes that no longer come
	f.mu.Unlock()
	return make([]byte, n, n+n/8)
}

func (f *fetcher) giveBack(b []byte) {
	if cap(b) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spare = append(f.spare, b)
}
