package storage

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
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
)

const (
	// FetchGap is the largest number of consecutive unneeded bytes that are fetched between two needed extents. At 100
	// MB/s they take 2.6 ms; another request takes about 20 ms.
	FetchGap = 256 << 10

	// MaxRequestBytes is the longest range that is fetched by one request. A longer range is fetched by two requests,
	// so that its front can be decoded while its end arrives. A range of more than four times this size is cut into
	// parts of at most twice this size.
	MaxRequestBytes = 16 << 20

	// SpoolRequestBytes is the smallest size of a request for a row group that does not fit into memory and is stored
	// in a scratch file.
	SpoolRequestBytes = 1 << 20

	// fetchesAtOnce is the largest number of simultaneous requests for row groups.
	fetchesAtOnce = 8
)

// MergeExtents joins the extents of a file of size bytes into ranges in the order of their offsets. Extents with a gap
// of at most maxGap bytes between them become one range. Extents outside the file are dropped: only a damaged file has
// them, and reading them reports the damage.
func MergeExtents(extents []format.Extent, size, maxGap int64) []format.Extent {
	extents = slices.DeleteFunc(slices.Clone(extents), func(e format.Extent) bool {
		return e.Size <= 0 || e.At < 0 || e.At > size || e.Size > size-e.At
	})
	slices.SortFunc(extents, func(a, b format.Extent) int { return cmp.Compare(a.At, b.At) })
	var ranges []format.Extent
	for _, e := range extents {
		if n := len(ranges) - 1; n >= 0 && e.At-(ranges[n].At+ranges[n].Size) <= maxGap {
			ranges[n].Size = max(ranges[n].Size, e.At+e.Size-ranges[n].At)
			continue
		}
		ranges = append(ranges, e)
	}
	return ranges
}

func splitRangeForRequests(whole format.Extent, maxBytes int64) []format.Extent {
	n := int64(1)
	switch {
	case whole.Size > 4*maxBytes:
		n = (whole.Size + 2*maxBytes - 1) / (2 * maxBytes)
	case whole.Size > maxBytes:
		n = 2
	}
	size := (whole.Size + n - 1) / n
	var parts []format.Extent
	for at := whole.At; at < whole.At+whole.Size; at += size {
		parts = append(parts, format.Extent{At: at, Size: min(size, whole.At+whole.Size-at)})
	}
	return parts
}

// Fetcher fetches the ranges of row groups before they are read.
type Fetcher struct {
	slots      chan struct{} // contains a token for every request under way
	pieceBytes int64         // bytes of a request into a scratch file; 0 if ranges go to memory
	scratch    *scratch.Space

	mu    sync.Mutex
	Spare [][]byte // buffers for reuse: as garbage they would occupy memory in addition to new buffers
}

// NewFetcher returns a fetcher that holds the ranges in memory if requestBytes is 0. Otherwise it stores them in
// scratch files, and each of its requests fetches up to requestBytes bytes.
func NewFetcher(requestBytes int64, space *scratch.Space) *Fetcher {
	return &Fetcher{slots: make(chan struct{}, fetchesAtOnce), pieceBytes: requestBytes, scratch: space}
}

// GroupFetch holds the ranges of one row group, some fetched and others under way.
type GroupFetch struct {
	object   *Object
	wanted   []format.Extent // the extents to fetch, by offset, disjoint
	requests []*rangeRequest // by offset
	cancel   context.CancelFunc
	wait     sync.WaitGroup
	fetcher  *Fetcher
	disk     *scratch.Plain // holds the bytes, if they are not in memory
}

type rangeRequest struct {
	format.Extent
	done       chan struct{} // closed when the bytes have arrived or the request has failed
	err        error
	pieces     []store.Piece  // the wanted extents in memory, in order
	data       []byte         // the memory of the pieces
	disk       *scratch.Plain // holds the bytes in place of data, including the gaps between extents
	diskOffset int64          // offset in the scratch file of the request's first byte
}

func (p *rangeRequest) allocatePieces(wanted []format.Extent, allocate func(n int) []byte) {
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
	p.data = allocate(int(total))
	room := p.data
	within(func(e format.Extent) {
		p.pieces = append(p.pieces, store.Piece{At: e.At, To: room[:e.Size:e.Size]})
		room = room[e.Size:]
	})
}

func (g *GroupFetch) isWantedOffset(at int64) bool {
	i := sort.Search(len(g.wanted), func(i int) bool { return g.wanted[i].At+g.wanted[i].Size > at })
	return i < len(g.wanted) && g.wanted[i].At <= at
}

// OpenGroup opens row group g of a file. If the file is an object, it starts to fetch the bytes for decoding the given
// leaves. release, which is never nil, closes the group and ends the fetching.
func (f *Fetcher) OpenGroup(ctx context.Context, file format.File, in Input, g int, leaves []int) (group format.Group, release func(), err error) {
	if group, err = file.Open(ctx, g, leaves); err != nil {
		return nil, func() {}, err
	}
	o, far := in.(*Object)
	ranged, tells := group.(format.Ranged)
	if !far || !tells {
		return group, group.Close, nil
	}
	ahead, err := f.StartFetch(ctx, o, ranged.Extents(leaves))
	return group, func() {
		group.Close()
		ahead.Release()
	}, err
}

// StartFetch starts to fetch the extents of an object. Until Release, ReadAt of the object waits for their bytes.
func (f *Fetcher) StartFetch(ctx context.Context, o *Object, extents []format.Extent) (*GroupFetch, error) {
	wanted := MergeExtents(extents, o.Object.Size, 0)
	ranges := MergeExtents(wanted, o.Object.Size, FetchGap)
	ctx, cancel := context.WithCancel(ctx)
	g := &GroupFetch{object: o, wanted: wanted, cancel: cancel, fetcher: f}
	maxBytes := int64(MaxRequestBytes)
	if f.pieceBytes > 0 {
		maxBytes = f.pieceBytes
		total := format.TotalBytes(ranges)
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
		for _, e := range splitRangeForRequests(r, maxBytes) {
			g.requests = append(g.requests, &rangeRequest{Extent: e, done: make(chan struct{}), disk: g.disk, diskOffset: base})
			base += e.Size
		}
	}
	o.mu.Lock()
	o.fetches = append(o.fetches, g)
	o.mu.Unlock()
	if f.pieceBytes > 0 {
		g.wait.Go(func() { g.fetchToScratch(ctx) })
		return g, nil
	}
	for _, p := range g.requests {
		select { // in the order of the parts, so that the first part to be read arrives first
		case f.slots <- struct{}{}:
		default:
			g.wait.Go(func() {
				select {
				case f.slots <- struct{}{}:
					f.fetchToMemory(ctx, g, p)
				case <-ctx.Done():
					p.err = ctx.Err()
					close(p.done)
				}
			})
			continue
		}
		g.wait.Go(func() { f.fetchToMemory(ctx, g, p) })
	}
	return g, nil
}

func (f *Fetcher) fetchToMemory(ctx context.Context, g *GroupFetch, p *rangeRequest) {
	defer close(p.done)
	defer func() { <-f.slots }()
	p.allocatePieces(g.wanted, f.takeBuffer)
	p.err = g.object.client.ReadPieces(ctx, g.object.Object, p.pieces)
}

func (g *GroupFetch) fetchToScratch(ctx context.Context) {
	buffer := g.fetcher.takeBuffer(int(g.fetcher.pieceBytes))
	defer g.fetcher.returnBuffer(buffer)
	var err error
	for _, p := range g.requests {
		for done := int64(0); done < p.Size && err == nil; {
			b := buffer[:min(int64(len(buffer)), p.Size-done)]
			if err = g.object.client.Read(ctx, g.object.Object, b, p.At+done); err == nil {
				_, err = p.disk.WriteAt(b, p.diskOffset+done)
			}
			done += int64(len(b))
		}
		p.err = err
		close(p.done)
	}
}

func (g *GroupFetch) findRequest(at int64) *rangeRequest {
	i := sort.Search(len(g.requests), func(i int) bool { return g.requests[i].At+g.requests[i].Size > at })
	if i == len(g.requests) || g.requests[i].At > at || !g.isWantedOffset(at) {
		return nil
	}
	return g.requests[i]
}

// readWhenDone waits until the request has finished and fills b with the bytes that begin at offset at of the object,
// as far as the request has fetched them. It returns the number of bytes copied. The offset must be in a wanted extent.
func (p *rangeRequest) readWhenDone(ctx context.Context, b []byte, at int64) (int, error) {
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
	n, err := p.disk.ReadAt(b, p.diskOffset+at-p.At)
	if errors.Is(err, io.EOF) && n == len(b) {
		err = nil
	}
	return n, err
}

// Release ends the fetching and frees the fetched bytes. On nil it does nothing.
func (g *GroupFetch) Release() {
	if g == nil {
		return
	}
	g.cancel()
	g.wait.Wait()
	o := g.object
	o.mu.Lock()
	o.fetches = slices.DeleteFunc(o.fetches, func(f *GroupFetch) bool { return f == g })
	o.mu.Unlock()
	for _, p := range g.requests {
		g.fetcher.returnBuffer(p.data)
	}
	if g.disk != nil {
		g.disk.Close() // the scratch file is discarded: a failure loses nothing
	}
}

func (f *Fetcher) takeBuffer(length int) []byte {
	f.mu.Lock()
	for i, b := range f.Spare {
		if cap(b) >= length && cap(b) <= length+length/4 {
			f.Spare = slices.Delete(f.Spare, i, i+1)
			f.mu.Unlock()
			return b[:length]
		}
	}
	f.Spare = nil // no buffer has a suitable size: the sizes of requests have changed
	f.mu.Unlock()
	return make([]byte, length, length+length/8)
}

func (f *Fetcher) returnBuffer(b []byte) {
	if cap(b) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Spare = append(f.Spare, b)
}
