package cache

import (
	"sync/atomic"
)

// Group is one row group whose columns are kept, complete or still being decoded.
type Group struct {
	keep     *Keep
	key      Key
	rows     int64
	bytes    int64 // guarded by keep.mutex
	pieces   []*Piece
	rowsLeft atomic.Int64 // rows of spans that are not decoded yet
	failed   atomic.Bool  // the row group did not fit, or a span failed
}

// Piece contains the kept columns of one span, which is a part of a row group.
type Piece struct {
	group       *Group
	from        int64 // its first row within the row group; a multiple of 64
	rows        int
	columns     []keptValues // by index in Keep.places; nil if no row of the span takes part
	skip        []uint64     // rows for which Options.Where is not true; nil if it was not evaluated
	wideColumns atomic.Int32 // columns held as float64
}

// KeptOverhead bounds the memory of a row group or a piece (the rows of one span) without its columns. KeptColumn
// bounds the memory of a column of a piece without its values.
const (
	KeptOverhead = 512

	KeptColumn = 48
)

// reserveBytes adds bytes to the size of the Keep if there is room, and reports whether there is. If there is no room,
// no later row group is begun. Earlier row groups that are under way continue.
func (g *Group) reserveBytes(bytes int64) bool {
	k := g.keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.bytes+bytes > k.limit {
		k.isFull = true
		g.failed.Store(true)
		return false
	}
	k.bytes += bytes
	g.bytes += bytes
	return true
}

// stopKeeping gives up the row group, and all later row groups, which likely also consist of float64 columns.
func (g *Group) stopKeeping() {
	k := g.keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.isFull = true
	g.failed.Store(true)
}

// BeginPiece begins the piece with the rows [from, from+rows). It returns nil if the group does not fit.
func (g *Group) BeginPiece(from int64, rows int) *Piece {
	if g == nil || g.failed.Load() || !g.reserveBytes(KeptOverhead) {
		return nil
	}
	p := &Piece{group: g, from: from, rows: rows}
	g.pieces = append(g.pieces, p)
	return p
}

// ReserveColumns makes room in the Keep for all columns of a piece. All methods of a nil piece do nothing.
func (p *Piece) ReserveColumns() {
	if p == nil {
		return
	}
	if n := len(p.group.keep.places); p.group.reserveBytes(KeptColumn * int64(n)) {
		p.columns = make([]keptValues, n)
	}
}

// ReserveSkips returns an empty bit set for the rows that the pass's condition leaves out, or nil if it does not fit.
func (p *Piece) ReserveSkips() []uint64 {
	if p == nil {
		return nil
	}
	if words := (p.rows + 63) / 64; p.group.reserveBytes(AllocationBytes(8 * int64(words))) {
		p.skip = make([]uint64, words)
	}
	return p.skip
}

// AddColumn keeps x as the column with the index place in Keep.places. Several goroutines may add columns at once.
func (p *Piece) AddColumn(place int, x []float64) {
	if p.columns == nil || p.group.failed.Load() {
		return
	}
	f, bytes := narrowestForm(x)
	if f == asDoubles && p.group.keep.isTooWide(int(p.wideColumns.Add(1))) {
		p.group.stopKeeping()
	} else if p.group.reserveBytes(bytes) {
		p.columns[place] = f.convertValues(x)
	}
}

// SpanDone counts a decoded span. The last span of the row group completes it, unless a span has failed or did not fit.
func (p *Piece) SpanDone(ok bool) {
	if p == nil {
		return
	}
	g := p.group
	if !ok {
		g.failed.Store(true)
	}
	if g.rowsLeft.Add(-int64(p.rows)) > 0 || g.failed.Load() {
		return
	}
	k := g.keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.groups[g.key] = g
	k.order = append(k.order, g)
}

// CopyColumn copies to dst the values of the column with the index place in Keep.places, starting at row from of the
// row group. Rows that take no part are 0.
func (g *Group) CopyColumn(place int, from int64, dst []float64) {
	g.visitOverlappingPieces(from, len(dst), func(p *Piece, lo, hi, at int) {
		if part := dst[at : at+hi-lo]; p.columns == nil || p.columns[place] == nil {
			clear(part)
		} else {
			p.columns[place].copyTo(part, lo)
		}
	})
}

// CopySkips marks in skip the rows for which Options.Where is not true, among the n rows that start at row from.
func (g *Group) CopySkips(from int64, n int, skip []uint64) {
	g.visitOverlappingPieces(from, n, func(p *Piece, lo, hi, at int) {
		if p.skip == nil { // the condition was not evaluated, because none of these rows is in the sample
			return
		}
		for w := range (hi - lo + 63) / 64 {
			skip[at/64+w] |= p.skip[lo/64+w]
		}
	})
}

// visitOverlappingPieces calls do for each piece that overlaps the n rows that start at row from. The rows [lo, hi) of
// the piece are among these n rows, and at is the index of row lo among them. Both lo and at are multiples of 64, like
// the first rows of spans.
func (g *Group) visitOverlappingPieces(from int64, n int, do func(p *Piece, lo, hi, at int)) {
	for _, p := range g.pieces {
		if lo, hi := max(from, p.from), min(from+int64(n), p.from+int64(p.rows)); lo < hi {
			do(p, int(lo-p.from), int(hi-p.from), int(lo-from))
		}
	}
}
