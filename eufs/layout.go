package eufs

import "github.com/ufs-stream/ufs-stream/internal/rows"

const (
	// lanes is the number of accumulators of sums over rows. Each takes the same rows
	// whatever the workers, and they are added up in order at the end, so that bits do not
	// depend on the workers. It bounds the workers that a pass keeps busy.
	lanes = 16
	// stripBytes bounds the rows that a worker takes at a time, in float64: pass A has four
	// such matrices, which stay in a level-2 cache of 2 MiB together.
	stripBytes             = 384 << 10
	leastStrip, mostStrip  = 8, 256
	stripsPerLane          = 2
	scalars                = 3 // sums that a pass takes over rows
	wordBytes, singleBytes = 8, 4
)

// layout is how n rows of d features and k clusters are cut into records. A block is a
// record of every file; its lanes are cut into strips of rows that a worker
// takes at a time. All depends on d alone, never on workers or memory.
type layout struct {
	n           int64
	d, k        int
	strip, lane int // rows
	block       int // rows
	blocks      int
}

func newLayout(n int64, d, k, blockRows int) layout {
	l := layout{n: n, d: d, k: k, strip: mostStrip}
	for l.strip > leastStrip && l.strip*d*wordBytes > stripBytes {
		l.strip /= 2
	}
	l.lane = l.strip * stripsPerLane
	l.block = l.lane * lanes
	if blockRows > 0 {
		l.block = blockRows
		l.lane = (blockRows + lanes - 1) / lanes
	}
	l.blocks = int((n + int64(l.block) - 1) / int64(l.block))
	return l
}

// rows is the number of rows of block b.
func (l layout) rows(b int) int { return int(min(int64(l.block), l.n-int64(b)*int64(l.block))) }

// state views the per-row numbers of a block: U, the n of pass B and then the U before,
// Z and Y₁, h×k each, and how far row i of E is beyond w, h: E = s·w.
type state struct{ u, v, z, y, s []float64 }

func (l layout) stateWords() int { return 4*l.k + 1 }

func (l layout) state(rec []byte, h int) state {
	f := rows.View[float64](rec)
	hk := h * l.k
	return state{f[:hk], f[hk : 2*hk], f[2*hk : 3*hk], f[3*hk : 4*hk], f[4*hk : 4*hk+h]}
}

// cut is rows [from, to) of a block's state.
func (s state) cut(k, from, to int) state {
	return state{s.u[from*k : to*k], s.v[from*k : to*k], s.z[from*k : to*k], s.y[from*k : to*k], s.s[from:to]}
}
