package chunkio

import "sync/atomic"

// keptGroup is one row group, complete or being decoded.
type keptGroup struct {
	keep   *Keep
	key    keptKey
	rows   int64
	bytes  int64 // guarded by keep.mutex
	pieces []*keptPiece
	left   atomic.Int64 // rows of spans that are not decoded yet
	failed atomic.Bool  // it did not fit, or a span failed
}

// keptPiece is one span of a row group.
type keptPiece struct {
	group   *keptGroup
	from    int64 // within the row group; a multiple of 64
	rows    int
	columns []values     // by place; nil where no row of the span takes part
	skip    []uint64     // rows for which Options.Where is not true; nil where it was not asked
	wide    atomic.Int32 // columns held as float64
}

// keptOverhead bounds what a row group and a piece take beside their columns, and
// keptColumn what a column of a piece takes beside its values.
const (
	keptOverhead = 512
	keptColumn   = 48
)

// take reserves bytes, and reports whether there are so many. Where there are not, no later row group
// is begun; earlier ones, which may be under way, go on.
func (g *keptGroup) take(bytes int64) bool {
	k := g.keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.bytes+bytes > k.limit {
		k.full = true
		g.failed.Store(true)
		return false
	}
	k.bytes += bytes
	g.bytes += bytes
	return true
}

// giveUp ends keeping the row group, and those after it, which are likely of the same kind.
func (g *keptGroup) giveUp() {
	k := g.keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.full = true
	g.failed.Store(true)
}

// piece begins the rows [from, from+rows): nil where the group does not fit.
func (g *keptGroup) piece(from int64, rows int) *keptPiece {
	if g == nil || g.failed.Load() || !g.take(keptOverhead) {
		return nil
	}
	p := &keptPiece{group: g, from: from, rows: rows}
	g.pieces = append(g.pieces, p)
	return p
}

// prepare makes room for the columns, before any of them is added. A nil piece takes nothing, here
// and below.
func (p *keptPiece) prepare() {
	if p == nil {
		return
	}
	if n := len(p.group.keep.places); p.group.take(keptColumn * int64(n)) {
		p.columns = make([]values, n)
	}
}

// skips is room for the rows that a condition leaves out, nil where there is none.
func (p *keptPiece) skips() []uint64 {
	if p == nil {
		return nil
	}
	if words := (p.rows + 63) / 64; p.group.take(allocated(8 * int64(words))) {
		p.skip = make([]uint64, words)
	}
	return p.skip
}

// add keeps a column. Columns may be added at once.
func (p *keptPiece) add(place int, x []float64) {
	if p.columns == nil || p.group.failed.Load() {
		return
	}
	f, bytes := narrowest(x)
	if f == asDoubles && p.group.keep.tooWide(int(p.wide.Add(1))) {
		p.group.giveUp()
	} else if p.group.take(bytes) {
		p.columns[place] = f.hold(x)
	}
}

// done counts a span that is decoded. The last one makes the group complete, unless some
// span has failed or did not fit.
func (p *keptPiece) done(ok bool) {
	if p == nil {
		return
	}
	g := p.group
	if !ok {
		g.failed.Store(true)
	}
	if g.left.Add(-int64(p.rows)) > 0 || g.failed.Load() {
		return
	}
	k := g.keep
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.groups[g.key] = g
	k.order = append(k.order, g)
}

// to writes rows from on of a column to dst. Rows that take no part are 0.
func (g *keptGroup) to(place int, from int64, dst []float64) {
	g.within(from, len(dst), func(p *keptPiece, lo, hi, at int) {
		if part := dst[at : at+hi-lo]; p.columns == nil || p.columns[place] == nil {
			clear(part)
		} else {
			p.columns[place].to(part, lo)
		}
	})
}

// skipTo marks those of n rows from on for which Options.Where is not true.
func (g *keptGroup) skipTo(from int64, n int, skip []uint64) {
	g.within(from, n, func(p *keptPiece, lo, hi, at int) {
		if p.skip == nil { // then none of these rows is in the sample
			return
		}
		for w := range (hi - lo + 63) / 64 {
			skip[at/64+w] |= p.skip[lo/64+w]
		}
	})
}

// within calls do for the pieces that have some of n rows from on: rows lo to hi of the piece,
// which are at so many rows behind from. Spans start at multiples of 64, so do all three but hi.
func (g *keptGroup) within(from int64, n int, do func(p *keptPiece, lo, hi, at int)) {
	for _, p := range g.pieces {
		if lo, hi := max(from, p.from), min(from+int64(n), p.from+int64(p.rows)); lo < hi {
			do(p, int(lo-p.from), int(hi-p.from), int(lo-from))
		}
	}
}
