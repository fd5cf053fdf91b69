package scanning

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func (q *ScanRequest) settleSince(ctx context.Context) error {
	if q.Since == "" {
		return nil
	}
	version, err := strconv.ParseInt(q.Since, 10, 64)
	if err == nil {
		q.Input.Since = &version
		return nil
	}
	h, found, err := chunkio.FindStatsHeader(ctx, q.Since, budget.DocumentOptions(&q.Request))
	switch name := place.DisplayName(q.Since); {
	case err != nil:
		return err
	case !found:
		return stream.Usagef("{since} %s: want a version, or a statistics file that is of one, and there is no such file", name)
	case h.Table == nil:
		return stream.Usagef("{since} %s: these statistics are of no version of a table; scan the whole table, and continue from that", name)
	}
	q.Input.Since, q.sinceTable = &h.Table.Version, h.Table
	return nil
}

func checkSinceRequest(r *settled.Run, q *ScanRequest) error {
	switch {
	case q.Since != "" && q.Input.Plan != "":
		return stream.Usagef("{since}: a plan has settled which rows are read; leave {plan} out, or plan the changes: ufs-iceberg TABLE {since} FILE.ufs {o} CHANGES.plan.json")
	case q.Input.Since == nil:
		return nil
	case request.NamedCheckpoint(&q.Request) != "":
		return stream.Usagef("{-checkpoint} is for one long pass; the changes {since} a version are short, and are scanned again")
	case q.SampleRows > 0:
		return stream.Usagef("{rows} and {since} do not go together: the changes are scanned whole")
	}
	return nil
}

func refuseLosses(plan planning.Planner, g *gathering.Gatherer) planning.Planner {
	return func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
		why := ""
		switch {
		case !ds.HasLosses():
		case g.GatherKind != method.FromGram:
			why = "profiles and anchor graphs"
		case r.SketchRows > 0:
			why = "sketches"
		case r.Choice.Stability > 0:
			why = "hash shards ({stability})"
		case r.ParsedScale == gram.ScaleRank:
			why = "ranks ({scale} rank)"
		}
		if why != "" {
			return budget.Budget{}, stream.Usagef("{since} %d: the table has lost rows since then, by deletes, updates or rewritten files, and "+why+" do not allow to subtract them; scan the whole table, without {-since}", *r.Input.Since)
		}
		return plan(r, ds)
	}
}

// scanLosses gathers the statistics of the rows that the table has lost since the version of {since}, in addition to
// gains, the statistics of those it has gained.
func scanLosses(ctx context.Context, r *settled.Run, q ScanRequest, piece gathering.Shard, gains *statistics.Bundle) error {
	heldBytes := statistics.MergedBytes(gains, nil, r.Limits.Threads)
	own := q.Request
	own.Limits, own.Hooks = r.Limits, r.Hooks
	own.Limits.Memory = max(own.Limits.Memory-heldBytes, 1)
	own.Input.AsOf, own.Input.Losses = time.Time{}, true
	if own.Input.Plan == "" {
		own.Input.Version = &gains.Table.Version
	}
	own.Columns.Categories, own.Columns.Frequencies = r.Columns.Categories, r.Columns.Frequencies
	lost, err := settled.NewGatheringRun(ctx, own)
	if err != nil {
		return err
	}
	lost.Choice.Reads, lost.WholeProfile = r.Choice.Reads, r.WholeProfile
	g := newScanGatherer(lost, false, piece)
	g.TakesSample = false // samples cannot be subtracted
	e, err := g.Gather(ctx)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) && m.OfMemory() {
		return &stream.MemoryError{What: m.What + " that the table has lost", Need: m.Need + heldBytes, Limit: r.Limits.Memory}
	}
	if err != nil {
		return err
	}
	gains.Losses = e
	if err := statistics.CheckSameColumns(gains.Columns, e.Columns); err != nil {
		return stream.Usagef("{since} %d: the rows gained and lost since then have different columns: %v; scan the whole table, without {-since}", *r.Input.Since, err)
	}
	return e.Close()
}
