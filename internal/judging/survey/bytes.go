package survey

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
)

// MemoryBytes returns an upper bound of the memory of [ExamineTable], including its result, in addition to the table of
// dense rows. m is the number of anchors (0 means DefaultAnchors), and neighbors the number of neighbors (0 means the
// default).
func MemoryBytes(rows, d, m, neighbors, threads int) int64 {
	m, neighbors = resolveAnchorsAndNeighbors(rows, m, neighbors)
	graph := func(m int) int64 {
		return anchor.AmongUpToBytes(m, d, neighbors, threads) + spectral.DiffusionBytes(m, d)
	}
	judged := min(m, maxTestAnchors)
	points := 8 * int64(judged) * int64(d)
	noise := 16 * int64(min(judged, d)) * int64(min(judged, d)) // the smaller of XᵀX and XXᵀ, and its square
	if d > judged {
		noise += 8 * int64(judged) * panelColumns
	}
	compared := points + 8*int64(judged)*int64(judged) + graph(judged) // points of the surrogate and the matrix W
	// The points are computed again without the noise columns, and the memory of the first points may not yet be freed.
	bytes := 2*points + max(noise, compared)
	if m > judged { // then all points exist, and the memory of the judged points may not yet be freed
		bytes = max(bytes, 3*points+8*int64(m)*int64(d)+graph(m))
	}
	return bytes + kernel.TeamBytes(m, max(m, d)) + 160*int64(d) + 1<<16
}

// ThinBytes returns the same bound as MemoryBytes for sparse rows, entries being the number of all their entries.
func ThinBytes(rows, d, m, neighbors, threads int, entries int64) int64 {
	m, neighbors = resolveAnchorsAndNeighbors(rows, m, neighbors)
	entries *= 2 // each entry becomes two: its normalized value for the cosine, and its original value
	// The slices of points grow by doubling, so that the old and the new slice may exist at once.
	return 3*16*entries + anchor.AmongThinBytes(m, 2*d, neighbors, threads, entries) + spectral.ThinDiffusionBytes(m, 2*d) + 200*int64(d) + 1<<16
}

// maxDenseValues is the largest number of values (rows times columns) for which sparse rows are converted to dense
// rows before they are surveyed.
const maxDenseValues = 1 << 24

// StaysThin reports whether a table of rows×d values is too large to be converted to dense rows.
func StaysThin(rows, d int) bool { return int64(rows)*int64(d) > maxDenseValues }

func resolveAnchorsAndNeighbors(rows, m, neighbors int) (int, int) {
	if m == 0 {
		m = DefaultAnchors
	}
	if neighbors == 0 {
		neighbors = anchor.DefaultNeighbors
	}
	return min(m, rows), neighbors
}
