package eufs

import "github.com/ufs-stream/ufs-stream/internal/rows"

const (
	// lanes is the number of accumulators of sums over rows. Each accumulator gets the same rows for any number of
	// workers, and all are added up in order at the end, so that bits do not depend on the workers. It is also the
	// largest number of workers that a pass keeps busy.
	lanes = 16
	// stripBytes bounds the rows that a worker processes at a time, in float64. Pass A has four such matrices, which
	// together fit a level-2 cache of 2 MiB.
	stripBytes             = 384 << 10
	leastStrip, mostStrip  = 8, 256
	stripsPerLane          = 2
	sumCount               = 3 // sums over rows that a pass computes
	wordBytes, singleBytes = 8, 4
)

// layout cuts n rows of d features and k clusters into records. A block is a record of every file. Its lanes are cut
// into strips of rows that a worker processes at a time. All sizes depend on d alone, never on workers or memory.
type layout struct {
	n                   int64
	d, k                int
	stripRows, laneRows int // rows
	block               int // rows
	blocks              int
}

func newLayout(n int64, d, k, blockRows int) layout {
	l := layout{n: n, d: d, k: k, stripRows: mostStrip}
	for l.stripRows > leastStrip && l.stripRows*d*wordBytes > stripBytes {
		l.stripRows /= 2
	}
	l.laneRows = l.stripRows * stripsPerLane
	l.block = l.laneRows * lanes
	if blockRows > 0 {
		l.block = blockRows
		l.laneRows = (blockRows + lanes - 1) / lanes
	}
	l.blocks = int((n + int64(l.block) - 1) / int64(l.block))
	return l
}

func (l layout) rowsOfBlock(b int) int { return int(min(int64(l.block), l.n-int64(b)*int64(l.block))) }

// state is a view of the numbers of each row in a block: U, the n of pass B, which the previous U later replaces, Z
// and Y₁, h×k each, and s, h numbers. With s, row i of E is a multiple of w: E = s·w.
type state struct{ u, v, z, y, s []float64 }

func (l layout) stateWords() int { return 4*l.k + 1 }

func (l layout) viewState(rec []byte, h int) state {
	f := rows.ViewNumbers[float64](rec)
	hk := h * l.k
	return state{f[:hk], f[hk : 2*hk], f[2*hk : 3*hk], f[3*hk : 4*hk], f[4*hk : 4*hk+h]}
}

func (s state) rowRange(k, from, to int) state {
	return state{s.u[from*k : to*k], s.v[from*k : to*k], s.z[from*k : to*k], s.y[from*k : to*k], s.s[from:to]}
}
