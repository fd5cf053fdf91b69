package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/ufs/internal/merging"
	"github.com/ufs-stream/ufs-stream/ufs/internal/scanning"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

type (
	// ScanRequest describes the statistics to gather into the file Request.Output.
	ScanRequest = scanning.ScanRequest
	// Gathered describes the contents of a new statistics file.
	Gathered = result.Gathered
	// MergeRequest names statistics files to add up.
	MergeRequest = merging.MergeRequest
)

// Scan gathers mergeable statistics of the input, or of a shard, into a file: the profile, the Gram matrix and the
// histograms. The file also has a sample of rows if the method surveys one, as the default method does, and the anchor
// graph if the method needs one. Later selections from the file (Request.Stats) may use any scale, k and method of the
// Gram matrix.
func Scan(ctx context.Context, q ScanRequest) (done *Gathered, err error) {
	return scanning.ScanInput(ctx, q)
}

// ScanSums makes the statistics file q.Output of the sums of all pairs of columns in the file at path, CSV or Parquet,
// which another program has computed: see the query of ufs-stream matrix --format sql. It checks that they are possible.
// Everything that needs no rows works from the result as from that of Scan, but without histograms and samples.
func ScanSums(ctx context.Context, q Request, path string) (*Gathered, error) {
	return scanning.ScanSums(ctx, q, path)
}

// Merge adds up statistics files of parts of the data. The result equals the result of one Scan over all the data.
// Merge refuses files with different columns or options, and files that cover the same rows. Of a plan, every shard
// must be present exactly once. With Window the result is as from a Scan of the newest files, and with Decay as from a
// Scan in which older rows have smaller weights. The result records both options, and selections from it show them.
//
// The headers are checked first, before any statistics are read. The files are then added up in a tree, a few
// at a time, in memory that does not grow with their number.
func Merge(ctx context.Context, m MergeRequest) (*Gathered, error) {
	return merging.MergeFiles(ctx, m)
}
