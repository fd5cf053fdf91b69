package ufs

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
)

// pass holds the settings and results of one attempt to read the input.
type pass struct {
	gatherer    *gatherer
	opt         chunkio.Options
	plan        Budget
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
	return p.profileUseless(ctx, ds)
}

// accumulateStats makes the pass that fills the statistics. graph is an empty anchor graph to fill, or nil.
func (p *pass) accumulateStats(ctx context.Context, ds *chunkio.Dataset, graph *anchor.Statistics) (*bundle, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	g := p.gatherer
	room.EnsureFree(p.plan.Statistics) // earlier passes left garbage in the memory that the statistics need
	e := &bundle{columns: ds.Columns(), useless: p.opt.LeaveOut, source: p.readableRows(ds), plan: p.plan, rawProfile: p.rawProfile}
	if e.facts, e.hasAllFacts = p.facts, p.facts != nil; !e.hasAllFacts && p.scores == nil { // scores hide the values
		e.facts = g.newFacts(len(e.columns))
	}
	fold := stream.FoldOptions{Range: p.rowRange}
	if p.needsProfileOnly() {
		e.profile, e.graph = gram.NewProfile(len(e.columns)), graph
		if p.plan.Sketch > 0 {
			e.sketch = g.newSketch(len(e.columns), p.plan)
			if graph != nil {
				e.weights = g.newWeightSketch(p.anchorCount)
				graph.SketchWeights(e.weights)
			}
		}
		if g.takesSample {
			e.sample = newRowSample(p, ds)
		}
		if g.keepRows > 0 {
			e.rowSample = p.newKeptSample(ds)
		}
		if g.takesRanks {
			e.ranks = gram.NewRankHistograms(len(e.columns), p.opt.Threads)
		}
		err = p.makePass(ctx, ds, passSetup{name: statisticsPass, title: "profile", opt: p.opt, fold: fold, sections: e.checkpointSections(), alwaysSave: p.plan.OutOfCore || g.gatherKind == method.FromRows}, e.adders()...)
	} else {
		if err := p.prepareGram(ds, e, graph); err != nil {
			return nil, err
		}
		if p.factorRows == nil {
			err = p.makePass(ctx, ds, passSetup{name: statisticsPass, title: "statistics", opt: p.opt, fold: fold, sections: e.checkpointSections(), alwaysSave: g.gatherKind == method.FromRows}, e.adders()...)
		}
		if err == nil && e.shardStats != nil {
			err = e.finishShards()
		}
	}
	if err != nil {
		return nil, p.plan.errForLimit(err)
	}
	if g.gatherKind == method.FromRows {
		p.settleKept(ds, nil)
	} else {
		p.opt.Keep.Drop()
	}
	e.passes = g.passes
	e.leftOut, e.positionCount = ds.LeftOut(), ds.Positions()
	e.inputs, e.table = ds.Inputs(), ds.Table()
	e.covered = []stream.Range{{From: p.rowRange.From - p.firstRow, To: p.rowRange.To - p.firstRow}}
	if p.rowRange.All() {
		e.covered[0].To = e.profile.Seen
	}
	e.part = g.planPart(ds)
	e.options = g.statisticsShape()
	if e.graph != nil {
		g.addGraphShape(e.options)
		e.options["anchors"] = strconv.Itoa(p.anchorCount)
	}
	if e.rowSample != nil {
		g.addSampleShape(e.options)
	}
	if p.ranks != nil {
		if e.options[optionRanks], err = ranksDigest(p.ranks); err != nil {
			return nil, err
		}
	}
	e.warnings = append(e.warnings, ds.Warnings()...)
	e.warnings = append(e.warnings, g.indicatorWarnings(e)...)
	e.warnings = append(e.warnings, sentinelWarnings(e, ds)...)
	if n := e.profile.Seen - e.profile.Rows; n > 0 && p.opt.Missing == stream.MissingDropRow && p.opt.Sample == 0 && p.opt.Where == "" {
		e.warnings = append(e.warnings, e.droppedWarning())
	}
	return e, nil
}

// needsProfileOnly reports whether this pass fills a profile, but neither moments nor a factor. This is so if the
// method does not need them, if it reads the rows again, or if a sketch replaces them.
func (p *pass) needsProfileOnly() bool {
	switch p.gatherer.gatherKind {
	case method.FromProfile:
		return true
	case method.FromRows:
		return !p.plan.gathersMoments
	}
	return p.plan.OutOfCore || p.plan.Sketch > 0
}

// prepareGram adds to e the empty statistics for a pass that gathers a Gram matrix. graph is an empty graph, or nil.
func (p *pass) prepareGram(ds *chunkio.Dataset, e *bundle, graph *anchor.Statistics) (err error) {
	d, opt := len(e.columns), gram.Options{Threads: p.opt.Threads, Limit: p.plan.statisticsRoom(), Busy: &p.gatherer.Meter.Busy}
	if p.gatherer.takesHistograms && p.scores == nil { // histograms of normal scores would not depend on the data
		e.histograms = gram.NewHistograms(d, p.opt.Threads)
	}
	if p.plan.Factor > 0 {
		if e.factor, e.graph = p.factorRows, graph; e.factor == nil {
			e.factor = gram.NewRows(d, p.plan.Factor, p.opt.Threads, p.gatherer.hasNarrowRows(ds))
		}
		e.profile = &e.factor.Profile
		return nil
	}
	if p.gatherer.takesSample {
		e.sample = newRowSample(p, ds)
	}
	if p.gatherer.Stability == 0 {
		e.moments, e.graph = gram.NewMoments(d, opt), graph
		e.profile = &e.moments.Profile
		return nil
	}
	e.profile = gram.NewProfile(d)
	if e.shardStats, err = newShardStats(p.gatherer.Stability, d, opt, graph); err == nil {
		e.shardStats.openSplitter(d, p.opt.Threads, p.gatherer.Seed)
	}
	return err
}
