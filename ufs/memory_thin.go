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
	// commonShare is the number of columns whose centre is not 0, so that absent entries have a coordinate, that is
	// planned with for each entry of a row. They are there in a seventeenth of the rows at least, or their mean were below
	// a quarter of their deviation, and so may be 17; of words a tenth of that are.
	commonShare = 4
	// thinColumns is the number of columns from which on that pays.
	thinColumns = 1024
	// sparserColumns is the number of columns from which on sparse rows do not become a factor, which has them in
	// full: 64 times the bytes of 100 entries of 20. 20,000 × 100,000 are 16 GB so. Little is not minded, as
	// there are more reports with a factor, or with the matrix in full. Of 5,000 × 20,000 with 500 entries a row greedy
	// took 48 s of cpu with a factor, and 2.3 s without.
	sparserColumns = 16_000
	largeMatrix    = 256 << 20
)

// sparserThanMatrix says that the rows are better read again than made a Gram matrix of order d, in full or for n > 0 as
// so many rows. A graph, which has as many reports either way, is so from fewer columns on: of 20,000 × 10,000 with 50
// entries a row graphgreedy took 27 s of cpu and 2.4 GB with the matrix, and 5.3 s and 0.4 GB without.
func (r *run) sparserThanMatrix(n int64, d int) bool {
	if n == 0 {
		n = int64(d)
	}
	return r.Sparse != "" && 8*n*int64(d) >= largeMatrix && (d >= sparserColumns || r.From == method.FromGraph && r.thinGraph(d))
}

// samplesAlone reports whether a method that looks at a sample of sparse rows makes do with the Gram matrix of the
// sample.
func samplesAlone(r *run, ds *chunkio.Dataset) bool {
	d := len(ds.Columns())
	n := r.factorRows(ds)
	if n >= int64(d) {
		n = 0
	}
	return r.Takes.Sample && r.Stability == 0 && r.sparserThanMatrix(n, d)
}

// thinGraph says that a graph without the Gram matrix, of sparse rows of d columns, has its anchors and C
// by their entries.
func (r *run) thinGraph(d int) bool {
	return r.Sparse != "" && d >= thinColumns && r.Anchors.File == "" && !r.Anchors.KMeans() && r.profile == nil && r.scale != gram.ScaleRank
}

// planThin is [run.planGraph] for such a graph of m anchors, of so many rows.
func (r *run) planThin(ds *chunkio.Dataset, shape method.Shape, m int, rows int64) (Budget, error) {
	d, k := len(ds.Columns()), r.Anchors.Neighbors
	// Rows of more entries take more than planned, as far as the limit allows.
	entries, sampled := ds.RowEntries()*rows, ds.RowEntries()*int64(m)
	coordinates := min((1+commonShare)*sampled, int64(m)*int64(d))
	statistics := anchor.ThinBytes(m, d, k, r.Threads, coordinates, entries)
	sampler := profileColumn*int64(d) + anchor.EntriesBytes(m, sampled)
	// The lists of anchors grow by a quarter.
	placing := sampler + 2*12*coordinates + trust.ThinGraphBytes(m, d, k, r.Threads, coordinates)
	c := anchor.ColumnsBytes(m, d, k, entries)
	return r.planGraphOutOfCore(ds, shape, m, statistics, c, max(placing, profileColumn*int64(d)+statistics))
}

// thinFits fails where judging the anchors takes more than there is, which the plan did not know.
func (r *run) thinFits(b Budget, a *anchor.Anchors) error {
	need := trust.ThinGraphBytes(a.M, a.D, r.Anchors.Neighbors, r.Threads, int64(len(a.Thin.Index)))
	if room := b.thinRoom(a.D) - anchor.EntriesBytes(a.M, int64(len(a.Thin.Index))); need > room {
		return b.explain(&stream.MemoryError{What: "the graph of the anchors", Need: need, Limit: room})
	}
	return nil
}

// thinRoom is what statistics of a thin graph may grow to.
func (b Budget) thinRoom(d int) int64 {
	return b.Limit - b.Program - b.Reading - profileColumn*int64(d)
}
