package planning

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/trust"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

const (
	// offCentreColumnsPerEntry is the number of columns with a centre other than 0 for which memory is planned, per
	// entry of a row. In such a column, absent entries differ from the centre and must be stored too. The column has
	// entries in at least 1/17 of the rows, because otherwise its mean would be below a quarter of its standard
	// deviation. So there are at most 17 such columns per entry of a row. Counts of words have a tenth of that.
	offCentreColumnsPerEntry = 4
	// minThinColumns is the number of columns from which it is cheaper to store only nonzero entries of the anchors.
	minThinColumns = 1024
	// minUnfactoredColumns is the number of columns from which the Gram matrix of sparse rows is not a factor. A factor
	// stores full rows: a row of 16,000 values needs 64 times the memory of a row of 100 entries of 20 bytes, and
	// 20,000 rows of 100,000 values need 16 GB. Matrices up to largeMatrixBytes are exempt, because more can be
	// reported with a factor or a full matrix. For 5,000 rows of 20,000 columns with 500 entries a row, greedy took 48
	// s of CPU time with a factor, and 2.3 s without.
	minUnfactoredColumns = 16_000
	largeMatrixBytes     = 256 << 20
)

// isThinGraph reports whether the anchor graph of sparse rows is thin, i.e. stores its anchors and its matrix C by
// their entries if the run does not make a Gram matrix.
func isThinGraph(w Workload, columns int) bool {
	return w.Run.Columns.Sparse != "" && columns >= minThinColumns && w.Run.Bound.Anchors.File == "" && !w.Run.Bound.Anchors.KMeans() && w.Run.WholeProfile == nil && w.Run.ParsedScale != gram.ScaleRank
}

func planThinGraph(w Workload, shape method.Shape, anchors int, rows int64) (budget.Budget, error) {
	d, k := len(w.Table.Columns()), w.Run.Bound.Anchors.Neighbors
	// If the rows have more entries than expected here, the graph may use the rest of the limit.
	entries, sampled := w.Table.RowEntries()*rows, w.Table.RowEntries()*int64(anchors)
	coordinates := min((1+offCentreColumnsPerEntry)*sampled, int64(anchors)*int64(d))
	statistics := anchor.ThinBytes(anchors, d, k, w.Run.Limits.Threads, coordinates, entries)
	sampler := budget.ProfileColumnBytes*int64(d) + anchor.EntriesBytes(anchors, sampled)
	// Lists of anchors are reallocated with a quarter more capacity.
	placing := sampler + 2*12*coordinates + trust.ThinGraphBytes(anchors, d, k, w.Run.Limits.Threads, coordinates)
	c := anchor.ColumnsBytes(anchors, d, k, entries)
	return planGraphOutOfCore(w, shape, anchors, statistics, c, max(placing, budget.ProfileColumnBytes*int64(d)+statistics))
}

// CheckThinFits returns an error if judging the anchors needs more memory than is left. This cannot be checked earlier,
// because the plan does not know the number of entries of the anchors.
func CheckThinFits(r *settled.Run, b budget.Budget, a *anchor.Anchors) error {
	need := trust.ThinGraphBytes(a.M, a.D, r.Bound.Anchors.Neighbors, r.Limits.Threads, int64(len(a.Thin.Index)))
	if room := b.ThinRoom(a.D) - anchor.EntriesBytes(a.M, int64(len(a.Thin.Index))); need > room {
		return b.ErrForLimit(&stream.MemoryError{What: "the graph of the anchors", Need: need, Limit: room})
	}
	return nil
}
