package gathering

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// ReopenedBytes is the memory for opening an input a second time. This is done if the first opening exceeded the limit,
// to plan how much memory the run would need. ReopenedBytes equals ProgramBytes: a refusal needs at most twice the
// memory of any run. It suffices for 20,000 Parquet columns in few row groups, or the names of 250,000 list elements.
const ReopenedBytes = budget.ProgramBytes

// ErrLeastMemory turns a memory error of opening the input into the memory error of the whole plan, which names the
// smallest sufficient limit. To make the plan, it opens the input again with ReopenedBytes of memory. If that does not
// suffice, or if the first opening had as much memory, the error names only a lower bound of the limit. Opening without
// a limit is not an option: once it used 740 MB under a limit of 128 MiB.
func ErrLeastMemory(ctx context.Context, r *settled.Run, inputs []string, opt chunkio.Options, plan planning.Planner, err error) error {
	if !errors.As(err, new(*stream.MemoryError)) {
		return err
	}
	if opt.Memory >= ReopenedBytes {
		return budget.ErrLowerBound(&r.Request, err)
	}
	opt.Memory = ReopenedBytes
	return ErrOfPlan(ctx, r, inputs, opt, plan, err)
}

// ErrOfPlan opens the input and returns the memory error of its plan. If the plan fits into memory, ErrOfPlan returns
// err, restated in terms of the whole limit.
func ErrOfPlan(ctx context.Context, r *settled.Run, inputs []string, opt chunkio.Options, plan planning.Planner, err error) error {
	ds, openErr := settled.OpenDataset(ctx, inputs, opt)
	switch {
	case ctx.Err() != nil:
		if openErr == nil {
			ds.Close()
		}
		return ctx.Err()
	case errors.As(openErr, new(*stream.MemoryError)):
		return budget.ErrLowerBound(&r.Request, openErr)
	case openErr != nil:
		return budget.ErrForLimit(&r.Request, err)
	}
	defer ds.Close()
	if _, planErr := plan(r, ds); planErr != nil {
		return planErr
	}
	return budget.ErrForLimit(&r.Request, err)
}

// BlameStats does the work of BlameStatsFile for the statistics file of q, if there is one.
func BlameStats(q *request.Request, err error) error {
	if q.Stats == "" {
		return err
	}
	return BlameStatsFile(q.Stats, err)
}

// BlameStatsFile adds the path of the statistics file to an error that does not name a file. Such an error arises, for
// example, if numbers in the file were forged, and a solver fails because its matrix cannot come from rows.
func BlameStatsFile(path string, err error) error {
	var unplaced *stream.DataError
	hasPlace := !errors.As(err, &unplaced) || unplaced.Path != ""
	if err == nil || statistics.IsSelfExplanatory(err) && hasPlace {
		return err
	}
	e := stream.Dataf(place.DisplayName(path), "its numbers do not belong together: %w", err)
	e.Remedy = stream.Textf("remove it, and scan or merge again; if that makes the same file, please report it")
	return e
}

// errNeedsProfileRound returns the error of scanning one shard if only a profile of all shards can show which columns
// are useless because of missing values. If err names a place in the data, the new error names it too.
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
