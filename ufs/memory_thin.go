package ufs

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/trust"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// commonColumns is the number of columns with a centre other than 0 for which the plan reserves memory, per
	// entry of a row. Absent entries of such a column have a coordinate. Such a column has entries in at least a
	// seventeenth of the rows, because otherwise its mean would be below a quarter of its standard deviation. So
	// there may be 17 such columns per entry; for words there is a tenth of that.
	commonColumns = 4
	// minThinColumns is the number of columns from which it is cheaper to store only the nonzero entries of a
	// graph's anchors.
	minThinColumns = 1024
	// unfactoredColumns is the number of columns from which sparse rows do not become a factor. A factor stores
	// full rows: a row of 16,000 columns needs 64 times the memory of 100 entries of 20 bytes, and 20,000 × 100,000
	// values need 16 GB. Small matrices are exempt, because a factor or a full matrix allows more reports. For
	// 5,000 rows of 20,000 columns with 500 entries a row, greedy took 48 s of CPU time with a factor, and 2.3 s
	// without.
	unfactoredColumns = 16_000
	largeMatrixBytes  = 256 << 20
)

// isRereadingBetter reports whether rereading the rows is better than making a Gram matrix of order d. The matrix
// is full or, for n > 0, a factor of n rows. Graph methods give the same reports either way, so rereading is better
// from fewer columns on. For 20,000 rows of 10,000 columns with 50 entries a row, graphgreedy took 27 s of CPU time
// and 2.4 GB with the matrix, and 5.3 s and 0.4 GB without.
func (r *run) isRereadingBetter(n int64, d int) bool {
	if n == 0 {
		n = int64(d)
	}
	return r.Sparse != "" && 8*n*int64(d) >= largeMatrixBytes && (d >= unfactoredColumns || r.From == method.FromGraph && r.isThinGraph(d))
}

func usesSampleGramOnly(r *run, ds *chunkio.Dataset) bool {
	d := len(ds.Columns())
	n := r.factorRows(ds)
	if n >= int64(d) {
		n = 0
	}
	return r.Takes.Sample && r.Stability == 0 && r.isRereadingBetter(n, d)
}

// isThinGraph reports whether a graph without the Gram matrix, of sparse rows of d columns, stores its anchors
// and C by their entries.
func (r *run) isThinGraph(d int) bool {
	return r.Sparse != "" && d >= minThinColumns && r.Anchors.File == "" && !r.Anchors.KMeans() && r.wholeProfile == nil && r.scale != gram.ScaleRank
}

func (r *run) planThinGraph(ds *chunkio.Dataset, shape method.Shape, m int, rows int64) (Budget, error) {
	d, k := len(ds.Columns()), r.Anchors.Neighbors
	// If rows have more entries, the graph uses more memory than planned, as far as the limit allows.
	entries, sampled := ds.RowEntries()*rows, ds.RowEntries()*int64(m)
	coordinates := min((1+commonColumns)*sampled, int64(m)*int64(d))
	statistics := anchor.ThinBytes(m, d, k, r.Threads, coordinates, entries)
	sampler := profileColumnBytes*int64(d) + anchor.EntriesBytes(m, sampled)
	// Lists of anchors are reallocated with a quarter more capacity.
	placing := sampler + 2*12*coordinates + trust.ThinGraphBytes(m, d, k, r.Threads, coordinates)
	c := anchor.ColumnsBytes(m, d, k, entries)
	return r.planGraphOutOfCore(ds, shape, m, statistics, c, max(placing, profileColumnBytes*int64(d)+statistics))
}

// checkThinFits fails if judging the anchors needs more memory than is left. The number of entries of the anchors
// was not known when the plan was made.
func (r *run) checkThinFits(b Budget, a *anchor.Anchors) error {
	need := trust.ThinGraphBytes(a.M, a.D, r.Anchors.Neighbors, r.Threads, int64(len(a.Thin.Index)))
	if room := b.thinRoom(a.D) - anchor.EntriesBytes(a.M, int64(len(a.Thin.Index))); need > room {
		return b.errForLimit(&stream.MemoryError{What: "the graph of the anchors", Need: need, Limit: room})
	}
	return nil
}

func (b Budget) thinRoom(d int) int64 {
	return b.Limit - b.Program - b.Reading - profileColumnBytes*int64(d)
}
