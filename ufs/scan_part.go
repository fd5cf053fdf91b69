package ufs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// prepareShardScan prepares the scan of shard s of a plan. It refuses options that differ from the plan, because all
// parts must have statistics of the same shape.
func (r *run) prepareShardScan(q ScanRequest, s shard) error {
	if s.count == 0 {
		s = shard{1, 1}
	}
	r.shard = chunkio.Shard{Number: s.number, Of: s.count}
	if !r.planHeader.Footers {
		return chunkio.NoShards(r.Plan)
	}
	if q.SampleRows > 0 {
		return stream.Usagef("{rows} is a quick try, which takes one machine; a shard of a plan is scanned whole")
	}
	if q.namedCheckpoint() != "" {
		return stream.Usagef("{checkpoint} is for one long pass; a shard of a plan that is interrupted is scanned again, so take more shards")
	}
	requested := r.original.requestedShape()
	for _, option := range sortedKeys(requested) {
		recorded := r.planHeader.Options[option]
		if option == "method" {
			recorded = r.planHeader.Method
		}
		if requested[option] != recorded {
			return r.errFrozenOption(option, requested[option], recorded)
		}
	}
	return nil
}

// requestedShape lists, by option, the settings that shape statistics and that the request itself contains.
func (q *Request) requestedShape() map[string]string {
	s := q.statisticsShape()
	if q.Missing == "" {
		delete(s, "missing")
	}
	if q.Seed != 0 {
		s["seed"] = strconv.FormatUint(q.Seed, 10)
	}
	for option, text := range map[string]string{"method": q.Method, "scale": q.Scale} {
		if text != "" {
			s[option] = text
		}
	}
	for option := range q.Options {
		s[option] = q.Options.Text(option)
	}
	return s
}

func (r *run) errFrozenOption(option, requested, recorded string) error {
	with := stream.PlainText("without it")
	if recorded != "" {
		with = stream.Textf("with %v %s", stream.Option(option), recorded)
	}
	return stream.Usagef("%v %s: %s was made %v, and its parts must be alike; leave the option out, or make another plan", stream.Option(option), requested, place.DisplayName(r.Plan), with)
}

// partPath returns the path of the part of this shard. If output is a folder, the part is a file in it. The names of
// these files sort by shard number.
func (r *run) partPath(output string) (string, error) {
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
	return place.JoinBelow(output, partName(r.shard)), nil
}

func partName(s chunkio.Shard) string {
	digits := max(5, len(fmt.Sprint(s.Of)))
	return fmt.Sprintf("part-%0*d-of-%0*d.ufs", digits, s.Number, digits, s.Of)
}

// findFinishedPart looks for a finished part at path. It must belong to this plan, shard and round, and must have the
// statistics that methods of kind from need. Any other file at path is an error.
func (r *run) findFinishedPart(ctx context.Context, path string, from method.From) (*Gathered, error) {
	h, found, err := chunkio.FindStatsHeader(ctx, path, r.documentOptions())
	if err != nil || !found {
		return nil, r.errForLimit(err)
	}
	kind := map[method.From]string{method.FromGram: kindGram, method.FromGraph: kindGraph, method.FromProfile: kindProfile}[from]
	if r.sketchRows > 0 {
		if kind = kindSketch; from == method.FromGraph {
			kind = kindSketchedGraph
		}
	}
	var other stream.Text
	switch p := h.Part; {
	case p == nil:
		other = stream.Textf("belongs to no plan")
	case p.Plan != r.planHeader.ID:
		other = stream.Textf("belongs to another plan, %s", p.Plan)
	case p.Of != r.shard.Of || !slices.Equal(p.Shards, []stream.ShardRange{{From: r.shard.Number, To: r.shard.Number}}):
		other = stream.Textf("has shard %s of %d", stream.ShardList(p.Shards), p.Of)
	case h.Kind != kind:
		other = stream.Textf("is of kind %s, not %s", h.Kind, kind)
	case h.Options[optionSampleRows] != r.sampleRowsText():
		other = stream.Textf("was scanned with another number of {sample-rows}")
	case h.Options[optionSketch] != r.Sketch:
		other = stream.Textf("was scanned with another {sketch}")
	case p.Round != r.roundID():
		other = stream.Textf("was scanned with another {profile}")
	default:
		e := newBundle(h)
		return &Gathered{Features: len(e.columns), Inputs: len(e.inputs), Rows: e.coveredRows(), Path: place.DisplayName(path), There: true}, nil
	}
	return nil, stream.Usagef("%s is there already and %v; remove it, or choose another {o}", place.DisplayName(path), other)
}

func (r *run) roundID() string {
	if r.wholeProfile == nil {
		return ""
	}
	return r.wholeProfile.digest
}

// errNeedsProfileRound returns the error for a shard that cannot find out by itself which columns are useless because
// of missing values. If err names a place in the data, the new error names it too.
func (g *gatherer) errNeedsProfileRound(err error) error {
	remedy := stream.Textf("make a profile of all shards first (scan {profile-only}, merge) and scan with {profile}, or plan with {missing} mean or zero")
	if g.gatherKind == method.FromProfile {
		remedy = oneRoundRemedy()
	}
	var at *stream.DataError
	if !errors.As(err, &at) {
		return stream.Usagef("the footers show missing values, and a shard cannot know which columns these make useless; %v", remedy)
	}
	restated := *at
	restated.Remedy = remedy
	return &restated
}

// oneRoundRemedy returns advice for graph methods. Their profiles draw anchors from the rows that are kept, so no
// earlier round shows which columns would cause rows to be dropped.
func oneRoundRemedy() stream.Text {
	return stream.Textf("plan with {missing} mean or zero, leave out all columns with missing values by {exclude}, or select on one machine")
}

func (g *gatherer) rowsToGather(ds *chunkio.Dataset) (stream.Range, int64, error) {
	if g.shard.Of > 0 {
		rows, first := ds.ShardRows()
		return rows, first, nil
	}
	rows, err := g.scannedShard.rowRange(ds)
	return rows, 0, err
}

func (r *run) planPart(ds *chunkio.Dataset) *stream.Part {
	p := ds.Part()
	if p != nil {
		p.Round = r.roundID()
	}
	return p
}

func (r *run) checkProfileOfPlan(profile *bundle, path string) error {
	switch p := profile.part; {
	case p == nil || p.Plan != r.planHeader.ID:
		return stream.Usagef("{profile} %s is not of %s; scan its shards with {profile-only}, and merge them", path, place.DisplayName(r.Plan))
	case !p.Complete():
		return stream.Usagef("{profile} %s lacks shards %s of %d; merge all of them", path, stream.ShardList(p.Missing()), p.Of)
	}
	return nil
}
