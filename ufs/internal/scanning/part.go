package scanning

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

func settlePlan(r *settled.Run, q *ScanRequest, s gathering.Shard) error {
	switch h := r.PlanHeader; {
	case h == nil:
		return nil
	case h.Footers:
		return prepareShardScan(r, *q, s)
	case s.Count > 1 && h.Since == nil:
		return chunkio.NoShards(r.Input.Plan)
	default: // the files are read like named files, also in shards
		q.Input.Since, r.Input.Since, r.PlanHeader = h.Since, h.Since, nil
		return nil
	}
}

// prepareShardScan prepares the scan of shard s of a plan. It refuses options that differ from the plan, because all
// parts must have statistics of the same shape.
func prepareShardScan(r *settled.Run, q ScanRequest, s gathering.Shard) error {
	if s.Count == 0 {
		s = gathering.Shard{Number: 1, Count: 1}
	}
	r.Shard = chunkio.Shard{Number: s.Number, Of: s.Count}
	if q.SampleRows > 0 {
		return stream.Usagef("{rows} is a quick try, which takes one machine; a shard of a plan is scanned whole")
	}
	if request.NamedCheckpoint(&q.Request) != "" {
		return stream.Usagef("{checkpoint} is for one long pass; a shard of a plan that is interrupted is scanned again, so take more shards")
	}
	requested := requestedShape(&r.Original)
	for _, option := range request.SortedKeys(requested) {
		recorded := r.PlanHeader.Options[option]
		if option == "method" {
			recorded = r.PlanHeader.Method
		}
		if requested[option] != recorded {
			return r.ErrFrozenOption(option, requested[option], recorded)
		}
	}
	return nil
}

// requestedShape lists, by option, the settings that shape statistics and that the request itself contains.
func requestedShape(q *request.Request) map[string]string {
	s := request.ListOptions(q, request.ShapesStatistics)
	if q.Choice.Method != "" {
		s["method"] = q.Choice.Method
	}
	for option := range q.Choice.Options {
		s[option] = q.Choice.Options.Text(option)
	}
	return s
}

// partPath returns the path of the part of this shard. If output is a folder, the part is a file in it. The names of
// these files sort by shard number.
func partPath(r *settled.Run, output string) (string, error) {
	if !place.IsFolder(output) {
		return output, nil
	}
	if !place.IsURL(output) {
		local, err := place.LocalPath(output)
		if err == nil {
			err = os.MkdirAll(filepath.Clean(local), 0o777) // Clean, so that a/../b/ makes only b
		}
		if err != nil {
			return "", &stream.OutputError{Path: output, Err: err, Remedy: stream.Textf("choose another {o} folder")}
		}
	}
	digits := max(5, len(fmt.Sprint(r.Shard.Of)))
	return place.JoinBelow(output, fmt.Sprintf("part-%0*d-of-%0*d.ufs", digits, r.Shard.Number, digits, r.Shard.Of)), nil
}

// findFinishedPart looks for a finished part at path. It must belong to this plan, shard and round, and must have the
// statistics that methods of kind from need. Any other file at path is an error.
func findFinishedPart(ctx context.Context, r *settled.Run, path string, from method.From) (*result.Gathered, error) {
	h, found, err := chunkio.FindStatsHeader(ctx, path, budget.DocumentOptions(&r.Request))
	if err != nil || !found {
		return nil, budget.ErrForLimit(&r.Request, err)
	}
	kind := map[method.From]string{method.FromGram: statistics.KindGram, method.FromGraph: statistics.KindGraph, method.FromProfile: statistics.KindProfile}[from]
	if r.SketchRows > 0 {
		if kind = statistics.KindSketch; from == method.FromGraph {
			kind = statistics.KindSketchedGraph
		}
	}
	var other stream.Text
	switch p := h.Part; {
	case p == nil:
		other = stream.Textf("belongs to no plan")
	case p.Plan != r.PlanHeader.ID:
		other = stream.Textf("belongs to another plan, %s", p.Plan)
	case p.Of != r.Shard.Of || !slices.Equal(p.Shards, []stream.ShardRange{{From: r.Shard.Number, To: r.Shard.Number}}):
		other = stream.Textf("has shard %s of %d", stream.ShardList(p.Shards), p.Of)
	case h.Kind != kind:
		other = stream.Textf("is of kind %s, not %s", h.Kind, kind)
	case h.Options[request.OptionSampleRows] != r.SampleRowsText():
		other = stream.Textf("was scanned with another number of {sample-rows}")
	case h.Options[request.OptionSketch] != r.Choice.Sketch:
		other = stream.Textf("was scanned with another {sketch}")
	case p.Round != r.RoundID():
		other = stream.Textf("was scanned with another {profile}")
	default:
		e := statistics.NewBundle(h)
		return &result.Gathered{Features: len(e.Columns), Inputs: len(e.Inputs), Rows: e.CoveredRows(), Path: place.DisplayName(path), There: true}, nil
	}
	return nil, stream.Usagef("%s is there already and %v; remove it, or choose another {o}", place.DisplayName(path), other)
}

func checkProfileOfPlan(r *settled.Run, profile *statistics.Bundle, path string) error {
	switch p := profile.Part; {
	case p == nil || p.Plan != r.PlanHeader.ID:
		return stream.Usagef("{profile} %s is not of %s; scan its shards with {profile-only}, and merge them", path, place.DisplayName(r.Input.Plan))
	case !p.Complete():
		return stream.Usagef("{profile} %s lacks shards %s of %d; merge all of them", path, stream.ShardList(p.Missing()), p.Of)
	}
	return nil
}
