package planning

import (
	"cmp"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// RowsToKeep returns the number of rows that the profiles of shards keep for a method that iterates over rows. The
// method itself would draw the same number.
func RowsToKeep(r *settled.Run, ds *chunkio.Dataset) int {
	return int(min(cmp.Or(r.Bound.Sample, ds.Rows()), rowsample.MostRows))
}

// PlanShard plans the scan of one shard. For a graph method it returns the plan of the second round, with a memory
// limit that suffices for both rounds.
func PlanShard(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
	shardRun := *r
	switch r.Bound.From {
	case method.FromRows:
		shardRun.KeepRows = RowsToKeep(r, ds)
		return PlanScan(method.FromProfile, false)(&shardRun, ds)
	case method.FromGraph:
		// The first round keeps a sample; the second holds the merged sample in addition to the statistics.
		sampled := r.Bound.Anchors.File == ""
		first, err := PlanScan(method.FromProfile, sampled)(r, ds)
		if err != nil {
			return first, err
		}
		if d := len(ds.Columns()); sampled {
			shardRun.SampleBytes = anchor.SamplerBytes(budget.LimitRows(r.AnchorSampleRows(r.MaxAnchors(), d), ds), d)
		}
		second, err := PlanScan(method.FromGraph, false)(&shardRun, ds)
		second.Smallest = max(first.Smallest, second.Smallest)
		return second, err
	}
	return PlanScan(method.FromGram, false)(r, ds)
}

func ProfileReason(r *settled.Run, ds *chunkio.Dataset) stream.Text {
	switch {
	case r.Bound.From == method.FromGraph:
		return stream.Textf("method %s needs the scaling and the anchors of all rows", r.Bound.Name)
	case r.Bound.From == method.FromRows:
		return stream.Textf("method %s iterates over rows, and a profile takes a sample of them along", r.Bound.Name)
	case request.MissingPolicy(&r.Request) != stream.MissingKeep && r.Columns.Sparse == "" && settled.PromisesMissing(ds):
		return stream.Textf("values are missing, and {missing} %s needs to know which columns are left out", r.Columns.Missing)
	}
	return stream.Text{}
}

// MissingWarnings warns about columns that have missing values by the footers, if the missing policy refuses missing
// values. Without the warning only the last round of scans would report these columns.
func MissingWarnings(r *settled.Run, ds *chunkio.Dataset) []stream.Text {
	if request.MissingPolicy(&r.Request) != stream.MissingError || r.Bound.From == method.FromRows {
		return nil
	}
	var names []string
	for _, c := range settled.ListPromisedMissing(r, ds) {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return nil
	}
	text := request.JoinNames(names[:min(len(names), 10)])
	if len(names) > 10 {
		text += ", …"
	}
	return []stream.Text{stream.Textf("values are missing in %s (%s), and scans with {missing} error will fail, but for columns that the profile leaves out as useless: plan with {missing} mean, zero or drop-row, or with {exclude}", wording.Plural(len(names), "column"), text)}
}
