package survey

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
)

// MemoryBytes bounds the memory of Examine in addition to a table of rows of numbers, including its result, for m
// anchors (0 means DefaultAnchors) and the given number of neighbors (0 means the default).
func MemoryBytes(rows, d, m, neighbors, threads int) int64 {
	m, neighbors = anchorsAndNeighbors(rows, m, neighbors)
	graph := func(m int) int64 {
		return anchor.AmongUpToBytes(m, d, neighbors, threads) + spectral.DiffusionBytes(m, d)
	}
	judged := min(m, mostJudged)
	points := 8 * int64(judged) * int64(d)
	noise := 16 * int64(min(judged, d)) * int64(min(judged, d)) // the smaller of XᵀX and XXᵀ, and its square
	if d > judged {
		noise += 8 * int64(judged) * panelColumns
	}
	compared := points + 8*int64(judged)*int64(judged) + graph(judged) // a surrogate and W
	// The points are computed again without noise, while the memory of the first points may not yet be freed.
	bytes := 2*points + max(noise, compared)
	if m > judged { // then all points exist, and the memory of the judged points may not yet be freed
		bytes = max(bytes, 3*points+8*int64(m)*int64(d)+graph(m))
	}
	return bytes + kernel.TeamBytes(m, max(m, d)) + 160*int64(d) + 1<<16
}

// ThinBytes bounds the memory as MemoryBytes does, for sparse rows with the given total number of entries.
func ThinBytes(rows, d, m, neighbors, threads int, entries int64) int64 {
	m, neighbors = anchorsAndNeighbors(rows, m, neighbors)
	entries *= 2 // for the cosine
	// Points grow by doubling, so that two copies may exist at once.
	return 3*16*entries + anchor.AmongThinBytes(m, 2*d, neighbors, threads, entries) + spectral.ThinDiffusionBytes(m, 2*d) + 200*int64(d) + 1<<16
}

// mostDense is the largest number of values of sparse rows that are surveyed as dense rows, with equal results as
// dense rows.
const mostDense = 1 << 24

// StaysThin reports whether sparse rows have too many values to be surveyed as dense rows.
func StaysThin(rows, d int) bool { return int64(rows)*int64(d) > mostDense }

func anchorsAndNeighbors(rows, m, neighbors int) (int, int) {
	if m == 0 {
		m = DefaultAnchors
	}
	if neighbors == 0 {
		neighbors = anchor.DefaultNeighbors
	}
	return min(m, rows), neighbors
}
