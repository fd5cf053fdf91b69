package gathering

import (
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// errNeedsProfileRound returns the error for a shard that cannot find out by itself which columns are useless because
// of missing values. If err names a place in the data, the new error names it too.
func errNeedsProfileRound(g *Gatherer, err error) error {
	remedy := stream.Textf("make a profile of all shards first (scan {profile-only}, merge) and scan with {profile}, or plan with {missing} mean or zero")
	if g.GatherKind == method.FromProfile {
		remedy = OneRoundRemedy()
	}
	var at *stream.DataError
	if !errors.As(err, &at) {
		return stream.Usagef("the footers show missing values, and a shard cannot know which columns these make useless; %v", remedy)
	}
	restated := *at
	restated.Remedy = remedy
	return &restated
}

// OneRoundRemedy returns advice for graph methods. Their profiles draw anchors from the rows that are kept, so no
// earlier round shows which columns would cause rows to be dropped.
func OneRoundRemedy() stream.Text {
	return stream.Textf("plan with {missing} mean or zero, leave out all columns with missing values by {exclude}, or select on one machine")
}

func rowsToGather(g *Gatherer, ds *chunkio.Dataset) (stream.Range, int64, error) {
	if g.Run.Shard.Of > 0 {
		rows, first := ds.ShardRows()
		return rows, first, nil
	}
	rows, err := g.ScannedShard.rowRange(ds)
	return rows, 0, err
}

func planPart(r *settled.Run, ds *chunkio.Dataset) *stream.Part {
	p := ds.Part()
	if p != nil {
		p.Round = r.RoundID()
	}
	return p
}

func newKeptSample(p *pass, ds *chunkio.Dataset) *rowsample.Sample {
	g := p.gatherer
	starts := slices.Clone(ds.Cuts())
	slices.Sort(starts) // in a shard, the boundaries of row groups are not in order
	return new(rowsample.New(len(ds.Columns()), anchor.SamplerOptions{
		Rows: g.Run.KeepRows, Seed: g.Run.Choice.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading,
		Starts: starts, Bound: hashBound(p, ds)(g.Run.KeepRows),
	}))
}

// hashBound returns a function. For a number of rows to sample from the whole input, this function returns an upper
// bound on the hashes of these rows, or 0 for no bound. A shard keeps only rows below it. If rows may be dropped,
// there is no bound, because the number of rows left in the whole is unknown.
func hashBound(p *pass, ds *chunkio.Dataset) func(rows int) uint64 {
	if shards := max(p.gatherer.ScannedShard.Count, p.gatherer.Run.Shard.Of); shards < 2 || p.gatherer.Run.Input.Where != "" || p.gatherer.Run.Columns.Weight != "" || p.opt.Missing == stream.MissingDropRow {
		return noHashBound
	}
	return func(rows int) uint64 { return anchor.HashBound(rows, ds.Rows()) }
}

func noHashBound(int) uint64 { return 0 }
