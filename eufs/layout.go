package eufs

import (
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

const (
	// laneCount is the number of lanes, which are parts of a block. Each lane has an accumulator of sums over rows,
	// which adds up the same rows for any number of workers, and at the end the accumulators are added up in order. So
	// the bits of a sum do not depend on the number of workers. A pass uses at most laneCount workers.
	laneCount = 16
	// stripBytes is the largest number of bytes of a strip of rows as float64. Pass A has four matrices of this size for
	// each worker, which together fit in a level-2 cache of 2 MiB.
	stripBytes                 = 384 << 10
	minStripRows, maxStripRows = 8, 256
	stripsPerLane              = 2
	sumCount                   = 3    // number of sums over rows that a pass computes
	wordBytes, singleBytes     = 8, 4 // of a float64 and of a float32
)

// layout divides n rows of d features into blocks. A block is one record of each scratch file. The rows of a block are
// divided into laneCount lanes, and a lane into strips: the rows that a worker processes at a time. The numbers of rows
// of a strip, a lane and a block depend only on d, never on workers or memory. k is the number of clusters.
type layout struct {
	n                   int64
	d, k                int
	stripRows, laneRows int // rows of a strip and of a lane
	block               int // rows of a block
	blocks              int // number of blocks
}

func newLayout(n int64, d, k, blockRows int) layout {
	l := layout{n: n, d: d, k: k, stripRows: maxStripRows}
	for l.stripRows > minStripRows && l.stripRows*d*wordBytes > stripBytes {
		l.stripRows /= 2
	}
	l.laneRows = l.stripRows * stripsPerLane
	l.block = l.laneRows * laneCount
	if blockRows > 0 {
		l.block = blockRows
		l.laneRows = (blockRows + laneCount - 1) / laneCount
	}
	l.blocks = int((n + int64(l.block) - 1) / int64(l.block))
	return l
}

func (l layout) rowsOfBlock(b int) int { return int(min(int64(l.block), l.n-int64(b)*int64(l.block))) }

func (l layout) newRecord(memory *room.Layout, valueBytes int) []byte {
	return room.Slice[byte](memory, l.rowsOfBlock(0)*l.d*valueBytes) // aligned to the size of a value
}

// rowState is a view of the numbers of the h rows of a block. See the package comment for the matrices. The fields u, z
// and y have these rows of U, Z and Y₁, h×k. v has rows of N from pass B on, and later rows of the previous U. s has
// one number for each row: row i of E is sᵢ·w, w being the vector w that passA computes for this row.
type rowState struct{ u, v, z, y, s []float64 }

func (l layout) stateNumbersPerRow() int { return 4*l.k + 1 }

func (l layout) viewState(record []byte, rowCount int) rowState {
	f := rows.ViewNumbers[float64](record)
	hk := rowCount * l.k
	return rowState{f[:hk], f[hk : 2*hk], f[2*hk : 3*hk], f[3*hk : 4*hk], f[4*hk : 4*hk+rowCount]}
}

func (s rowState) viewRows(k, from, to int) rowState {
	return rowState{s.u[from*k : to*k], s.v[from*k : to*k], s.z[from*k : to*k], s.y[from*k : to*k], s.s[from:to]}
}
