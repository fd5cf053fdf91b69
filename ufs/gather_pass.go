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

// pass is one attempt's way of reading.
type pass struct {
	g     *gatherer
	opt   chunkio.Options
	plan  Budget
	rows  stream.Range
	first int64 // global position of the first row of the inputs
	count int   // of anchors, once they are there

	// Of scale rank, once the ranks are there.
	raw    *gram.Profile
	ranks  *gram.Histograms
	scores *gram.Scores
	sample *anchor.Sampler // of the values, for anchors

	facts *hygiene.Facts // of all rows, where an earlier pass has counted them; or nil

	drawn *gram.Rows // of a factor, where the pass that the anchors came from has left them
}

// useless makes a profile pass over the whole input, before as many others, and returns
// the columns with missing entries that can be no features, whatever fills them, and the suspicious ones
// that are to be left out.
func (p *pass) useless(ctx context.Context, ds *chunkio.Dataset, others int) ([]stream.LeftOut, error) {
	opt := p.opt
	opt.Missing, opt.LeaveOut = stream.MissingKeep, nil
	ds, err := ds.With(opt)
	if err != nil {
		return nil, err
	}
	p.g.expect(1+others, p.plan)
	return p.suspicious(ctx, ds)
}

// accumulate makes the pass that counts. Statistics of a graph, if any, are of no rows yet.
func (p *pass) accumulate(ctx context.Context, ds *chunkio.Dataset, graph *anchor.Statistics) (*gathered, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	g := p.g
	room.For(p.plan.Statistics) // which the passes before have left garbage in place of
	e := &gathered{columns: ds.Columns(), decided: p.opt.LeaveOut, source: p.source(ds), plan: p.plan, raw: p.raw}
	if e.facts, e.counted = p.facts, p.facts != nil; !e.counted && p.scores == nil { // what scores tell is of ranks
		e.facts = g.newFacts(len(e.columns))
	}
	fold := stream.FoldOptions{Range: p.rows}
	if p.profiles() {
		e.profile, e.graph = gram.NewProfile(len(e.columns)), graph
		if p.plan.Sketch > 0 {
			e.sketch = g.newSketch(len(e.columns), p.plan)
			if graph != nil {
				e.weights = g.newWeights(p.count)
				graph.SketchWeights(e.weights)
			}
		}
		if g.sample {
			e.sample = newSample(p, ds)
		}
		if g.keepRows > 0 {
			e.rows = p.keeper(ds)
		}
		if g.table {
			e.ranks = gram.NewRankHistograms(len(e.columns), p.opt.Threads)
		}
		err = p.read(ctx, ds, reading{name: statisticsPass, what: "profile", opt: p.opt, fold: fold, body: e.progress(), keeps: p.plan.OutOfCore || g.from == method.FromRows}, e.adders()...)
	} else {
		if err := p.prepare(ds, e, graph); err != nil {
			return nil, err
		}
		if p.drawn == nil {
			err = p.read(ctx, ds, reading{name: statisticsPass, what: "statistics", opt: p.opt, fold: fold, body: e.progress(), keeps: g.from == method.FromRows}, e.adders()...)
		}
		if err == nil && e.hashed != nil {
			err = e.settle()
		}
	}
	if err != nil {
		return nil, p.plan.explain(err)
	}
	if g.from == method.FromRows {
		p.settleKept(ds, nil)
	} else {
		p.opt.Keep.Drop()
	}
	e.passes = g.passes
	e.leftOut, e.places = ds.LeftOut(), ds.Positions()
	e.inputs, e.table = ds.Inputs(), ds.Table()
	e.covered = []stream.Range{{From: p.rows.From - p.first, To: p.rows.To - p.first}}
	if p.rows.All() {
		e.covered[0].To = e.profile.Seen
	}
	e.part = g.partOf(ds)
	e.options = g.shape()
	if e.graph != nil {
		g.graphShape(e.options)
		e.options["anchors"] = strconv.Itoa(p.count)
	}
	if e.rows != nil {
		g.sampleShape(e.options)
	}
	if p.ranks != nil {
		if e.options[optionRanks], err = digestOf(p.ranks); err != nil {
			return nil, err
		}
	}
	e.warnings = append(e.warnings, ds.Warnings()...)
	e.warnings = append(e.warnings, g.unmarked(e)...)
	e.warnings = append(e.warnings, warnSentinels(e, ds)...)
	if n := e.profile.Seen - e.profile.Rows; n > 0 && p.opt.Missing == stream.MissingDropRow && p.opt.Sample == 0 && p.opt.Where == "" {
		e.warnings = append(e.warnings, e.dropped())
	}
	return e, nil
}

// profiles says that a profile, with what is gathered beside it, is all that the pass that counts fills: what
// else there is to know comes from later passes.
func (p *pass) profiles() bool {
	switch p.g.from {
	case method.FromProfile:
		return true
	case method.FromRows:
		return !p.plan.gram
	}
	return p.plan.OutOfCore || p.plan.Sketch > 0
}

// prepare makes the empty statistics of a Gram pass, those of a graph from one of no rows.
func (p *pass) prepare(ds *chunkio.Dataset, e *gathered, graph *anchor.Statistics) (err error) {
	d, opt := len(e.columns), gram.Options{Threads: p.opt.Threads, Limit: p.plan.room(), Busy: &p.g.Meter.Busy}
	if p.g.spread && p.scores == nil { // those of scores are alike whatever the data
		e.spread = gram.NewHistograms(d, p.opt.Threads)
	}
	if p.plan.Factor > 0 {
		if e.wide, e.graph = p.drawn, graph; e.wide == nil {
			e.wide = gram.NewRows(d, p.plan.Factor, p.opt.Threads, p.g.narrowRows(ds))
		}
		e.profile = &e.wide.Profile
		return nil
	}
	if p.g.sample {
		e.sample = newSample(p, ds)
	}
	if p.g.Stability == 0 {
		e.moments, e.graph = gram.NewMoments(d, opt), graph
		e.profile = &e.moments.Profile
		return nil
	}
	e.profile = gram.NewProfile(d)
	if e.hashed, err = newHashed(p.g.Stability, d, opt, graph); err == nil {
		e.hashed.open(d, p.opt.Threads, p.g.Seed)
	}
	return err
}
