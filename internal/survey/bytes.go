package survey

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
)

// SurveyBytes bounds the memory of Look in addition to a table of rows of numbers, including its result, with m anchors (0:
// DefaultAnchors) and neighbors (0: the default).
func SurveyBytes(rows, d, m, neighbors, threads int) int64 {
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
	// The points are made again without noise, while the first ones may still be garbage.
	bytes := 2*points + max(noise, compared)
	if m > judged { // then all points exist, and the judged ones may still be garbage
		bytes = max(bytes, 3*points+8*int64(m)*int64(d)+graph(m))
	}
	return bytes + kernel.TeamBytes(m, max(m, d)) + 160*int64(d) + 1<<16
}

// ThinBytes is Bytes for sparse rows with entries entries in all.
func ThinBytes(rows, d, m, neighbors, threads int, entries int64) int64 {
	m, neighbors = anchorsAndNeighbors(rows, m, neighbors)
	entries *= 2 // for the cosine
	// Points grow by doubling, so that two copies may exist at once.
	return 3*16*entries + anchor.AmongThinBytes(m, 2*d, neighbors, threads, entries) + spectral.ThinDiffusionBytes(m, 2*d) + 200*int64(d) + 1<<16
}

// mostDense is the most values of sparse rows that are surveyed as dense rows, with the same result as if they were
// dense.
const mostDense = 1 << 24

// StaysThin reports whether sparse rows are too many numbers for a survey as dense rows.
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
