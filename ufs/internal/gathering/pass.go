package gathering

import (
	"context"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// pass holds the settings and results of one attempt to read the input.
type pass struct {
	gatherer    *Gatherer
	opt         chunkio.Options
	plan        budget.Budget
	rowRange    stream.Range
	firstRow    int64 // global number of the first row of the inputs
	anchorCount int   // number of anchors, once they are placed

	// These fields are used with scale rank, and are set when the ranks are known.
	rawProfile *gram.Profile
	ranks      *gram.Histograms
	scores     *gram.Scores
	sample     *anchor.Sampler // sample of the values, for anchors

	facts *hygiene.Facts // facts of all rows from an earlier pass, or nil

	factorRows *gram.Rows // rows of a factor, if the pass that drew rows for anchors has kept them
}

// findUseless makes a profile pass over the whole input. laterPasses is the number of passes that will follow it.
// findUseless returns the columns to leave out: columns with missing entries that cannot be features, however the
// entries are filled, and suspicious columns.
func (p *pass) findUseless(ctx context.Context, ds *chunkio.Dataset, laterPasses int) ([]stream.LeftOut, error) {
	opt := p.opt
	opt.Missing, opt.LeaveOut = stream.MissingKeep, nil
	ds, err := ds.With(opt)
	if err != nil {
		return nil, err
	}
	p.gatherer.expectPasses(1+laterPasses, p.plan)
	return profileUseless(ctx, p, ds)
}

// accumulateStats makes the pass that fills the statistics. graph is an empty anchor graph to fill, or nil.
func (p *pass) accumulateStats(ctx context.Context, ds *chunkio.Dataset, graph *anchor.Statistics) (*statistics.Bundle, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	g := p.gatherer
	room.EnsureFree(p.plan.Statistics) // earlier passes left garbage in the memory that the statistics need
	e := &statistics.Bundle{Columns: ds.Columns(), Useless: p.opt.LeaveOut, Source: p.readableRows(ds), Plan: p.plan, RawProfile: p.rawProfile}
	if e.Facts, e.HasAllFacts = p.facts, p.facts != nil; !e.HasAllFacts && p.scores == nil { // scores hide the values
		e.Facts = settled.NewFacts(g.Run, len(e.Columns))
	}
	fold := stream.FoldOptions{Range: p.rowRange}
	if p.needsProfileOnly() {
		e.Profile, e.Graph = gram.NewProfile(len(e.Columns)), graph
		if p.plan.Sketch > 0 {
			e.Sketch = newSketch(g, len(e.Columns), p.plan)
			if graph != nil {
				e.Weights = newWeightSketch(g, p.anchorCount)
				graph.SketchWeights(e.Weights)
			}
		}
		if g.TakesSample {
			e.Sample = newRowSample(p, ds)
		}
		if g.Run.KeepRows > 0 {
			e.RowSample = newKeptSample(p, ds)
		}
		if g.TakesRanks {
			e.Ranks = gram.NewRankHistograms(len(e.Columns), p.opt.Threads)
		}
		err = makePass(ctx, p, ds, passSetup{name: statisticsPass, title: "profile", opt: p.opt, fold: fold, sections: e.CheckpointSections(), alwaysSave: p.plan.OutOfCore || g.GatherKind == method.FromRows}, e.Adders()...)
	} else {
		if err := p.prepareGram(ds, e, graph); err != nil {
			return nil, err
		}
		if p.factorRows == nil {
			err = makePass(ctx, p, ds, passSetup{name: statisticsPass, title: "statistics", opt: p.opt, fold: fold, sections: e.CheckpointSections(), alwaysSave: g.GatherKind == method.FromRows}, e.Adders()...)
		}
		if err == nil && e.ShardStats != nil {
			err = e.FinishShards()
		}
	}
	if err != nil {
		return nil, p.plan.ErrForLimit(err)
	}
	if g.GatherKind == method.FromRows {
		settleKept(p, ds, nil)
	} else {
		p.opt.Keep.Drop()
	}
	e.Passes = g.Passes
	e.LeftOut, e.PositionCount = ds.LeftOut(), ds.Positions()
	e.Inputs, e.Table = ds.Inputs(), ds.Table()
	e.Covered = []stream.Range{{From: p.rowRange.From - p.firstRow, To: p.rowRange.To - p.firstRow}}
	if p.rowRange.All() {
		e.Covered[0].To = e.Profile.Seen
	}
	e.Part = planPart(g.Run, ds)
	e.Options = request.StatisticsShape(&g.Run.Request)
	if e.Graph != nil {
		g.Run.AddGraphShape(e.Options)
		e.Options["anchors"] = strconv.Itoa(p.anchorCount)
	}
	if e.RowSample != nil {
		g.Run.AddSampleShape(e.Options)
	}
	if p.ranks != nil {
		if e.Options[request.OptionRanks], err = ranksDigest(p.ranks); err != nil {
			return nil, err
		}
	}
	e.Warnings = append(e.Warnings, ds.Warnings()...)
	e.Warnings = append(e.Warnings, indicatorWarnings(g, e)...)
	e.Warnings = append(e.Warnings, sentinelWarnings(e, ds)...)
	if n := e.Profile.Seen - e.Profile.Rows; n > 0 && p.opt.Missing == stream.MissingDropRow && p.opt.Sample == 0 && p.opt.Where == "" {
		e.Warnings = append(e.Warnings, e.DroppedWarning())
	}
	return e, nil
}

// needsProfileOnly reports whether this pass fills a profile, but neither moments nor a factor. This is so if the
// method does not need them, if it reads the rows again, or if a sketch replaces them.
func (p *pass) needsProfileOnly() bool {
	switch p.gatherer.GatherKind {
	case method.FromProfile:
		return true
	case method.FromRows:
		return !p.plan.GathersMoments
	}
	return p.plan.OutOfCore || p.plan.Sketch > 0
}

// prepareGram adds to e the empty statistics for a pass that gathers a Gram matrix. graph is an empty graph, or nil.
func (p *pass) prepareGram(ds *chunkio.Dataset, e *statistics.Bundle, graph *anchor.Statistics) (err error) {
	d, opt := len(e.Columns), gram.Options{Threads: p.opt.Threads, Limit: p.plan.StatisticsRoom(), Busy: &p.gatherer.Run.Hooks.Meter.Busy}
	if p.gatherer.TakesHistograms && p.scores == nil { // histograms of normal scores would not depend on the data
		e.Histograms = gram.NewHistograms(d, p.opt.Threads)
	}
	if p.plan.Factor > 0 {
		if e.Factor, e.Graph = p.factorRows, graph; e.Factor == nil {
			e.Factor = gram.NewRows(d, p.plan.Factor, p.opt.Threads, planning.HasNarrowRows(p.gatherer.Run, ds))
		}
		e.Profile = &e.Factor.Profile
		return nil
	}
	if p.gatherer.TakesSample {
		e.Sample = newRowSample(p, ds)
	}
	if p.gatherer.Run.Choice.Stability == 0 {
		e.Moments, e.Graph = gram.NewMoments(d, opt), graph
		e.Profile = &e.Moments.Profile
		return nil
	}
	e.Profile = gram.NewProfile(d)
	if e.ShardStats, err = statistics.NewShardStats(p.gatherer.Run.Choice.Stability, d, opt, graph); err == nil {
		e.ShardStats.OpenSplitter(d, p.opt.Threads, p.gatherer.Run.Choice.Seed)
	}
	return err
}
