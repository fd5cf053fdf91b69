package ufs

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gatherer makes the passes over the input that fill a gathered.
type gatherer struct {
	*run
	from   method.From // what is gathered
	plan   func(*chunkio.Dataset) (Budget, error)
	piece  shard       // the part of the rows to accumulate
	sample bool        // a profile takes a sample of rows along, for anchors
	spread bool        // moments take histograms along
	table  bool        // a profile takes histograms for ranks along
	check  *checkpoint // nil without a checkpoint

	inputs []string // of the request, or those left after bad files were skipped
	names  []string // of inputs, as errors name them, once they are files
	passes int      // made so far
	last   int      // passes expected in all, at least
	most   int      // at most
}

// gather reads the input as often as the missing policy asks for:
//
//   - mean, zero: one pass; the statistics fill missing entries in the end.
//   - error, drop-row: one pass where nothing is missing, which is tried first
//     unless the metadata tells otherwise. Else columns that are useless whatever
//     fills them (no value, constant, overflow) must neither fail nor drop rows: a
//     profile pass over the whole input finds them, and the last pass does without.
//
// Under SkipBad a file that turns out bad is left out, and everything
// starts again without it: sums cannot be taken back. That its store is down does not
// make a file bad.
func (g *gatherer) gather(ctx context.Context) (*gathered, error) {
	g.inputs, g.names = g.Inputs, g.Inputs
	var skipped []stream.Text
	for {
		e, err := g.attempt(ctx)
		if err == nil {
			e.warnings = append(skipped, e.warnings...)
			return e, nil
		}
		var bad *stream.DataError
		if !g.SkipBad || ctx.Err() != nil || !errors.As(err, &bad) || errors.Is(err, stream.ErrMissing) || stream.Temporary(err) {
			return nil, err
		}
		at := slices.Index(g.names, bad.Path)
		if at < 0 || len(g.inputs) == 1 {
			return nil, err
		}
		g.inputs = slices.Delete(slices.Clone(g.inputs), at, at+1)
		skipped = append(skipped, stream.Textf("skipped: %v", err))
		g.note("starting again without %s", bad.Path)
	}
}

// start opens the checkpoint and gathers.
func (g *gatherer) start(ctx context.Context) (*gathered, error) {
	if g.Checkpoint != "" && g.SkipBad {
		return nil, stream.Usagef("{checkpoint} does not go with {on-error} skip-file: leaving out a file changes everything saved")
	}
	var err error
	if g.check, err = g.openCheckpoint(); err != nil {
		return nil, err
	}
	return g.gather(ctx)
}

// attempt makes all passes once. It leaves the files in g.inputs.
func (g *gatherer) attempt(ctx context.Context) (*gathered, error) {
	opt := g.reading()
	policy := opt.Missing
	// On a grid no column may leave, so that missing values are what the policy says.
	cells := g.from == method.FromRows && g.Takes.Cells
	try := policy == stream.MissingDropRow && opt.Sparse == "" && !cells
	if try {
		opt.Missing = stream.MissingError
	}
	ds, err := openDataset(ctx, g.inputs, opt)
	if err != nil {
		return nil, g.leastMemory(ctx, g.inputs, opt, g.plan, err)
	}
	defer ds.Close()
	if ds.Replayable() {
		if ds.Table() == nil && g.Plan == "" { // whose files, one by one, would be no table
			g.inputs, g.names = ds.Paths(), paths(ds.Inputs())
		}
	}
	if err := atomicfile.NotInput(g.Output, ds.Paths()...); err != nil {
		return nil, err
	}
	p := &pass{g: g, opt: opt}
	if p.plan, err = g.plan(ds); err != nil {
		return nil, err
	}
	p.opt.Memory = p.plan.Reading
	p.plan.enforce(policy == stream.MissingKeep)
	if p.plan.Kept > 0 { // for the passes of the method
		p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
	}
	if p.rows, p.first, err = g.rowsOf(ds); err != nil {
		return nil, err
	}
	saved, err := g.check.load(ctx, p, ds)
	if err != nil {
		return nil, err
	}
	if g.scale == gram.ScaleRank && !g.table {
		if err := p.rank(ctx, ds, saved); err != nil {
			return nil, err
		}
		if g.from != method.FromGraph {
			if g.from != method.FromRows {
				p.settleKept(ds, p.raw)
			}
			g.expect(1, p.plan)
			return p.accumulate(ctx, ds, saved, nil)
		}
	}
	if g.from == method.FromGraph {
		return p.throughAnchors(ctx, ds, saved)
	}
	switch {
	case saved != nil && saved.settled:
		p.opt.Missing, p.opt.LeaveOut = policy, saved.decided
	case g.profile != nil:
		p.opt.Missing = policy
		if p.opt.LeaveOut, err = g.decisions(ds); err != nil {
			return nil, err
		}
	case policy == stream.MissingKeep || opt.Sparse != "" || cells:
	case g.shard.Of > 0 && promisesMissing(ds):
		return nil, g.needsRound(stream.ErrMissing)
	case !promisesMissing(ds):
		g.expect(1, p.plan)
		e, err := p.accumulate(ctx, ds, saved, nil)
		if !errors.Is(err, stream.ErrMissing) {
			return e, err
		}
		if !ds.Replayable() {
			return nil, onlyOnce(err)
		}
		if g.shard.Of > 0 {
			return nil, g.needsRound(err)
		}
		fallthrough
	default:
		saved = nil
		p.keep(ds)
		if p.opt.LeaveOut, err = p.useless(ctx, ds, 1); err != nil {
			return nil, err
		}
		p.settleKept(ds, nil)
		p.opt.Missing = policy
	}
	p.settled = true
	g.expect(1, p.plan)
	return p.accumulate(ctx, ds, saved, nil)
}

// onlyOnce says what helps where a stream has missing values.
func onlyOnce(err error) error {
	var place *stream.DataError
	if !errors.As(err, &place) {
		return err
	}
	again := *place
	again.Remedy = stream.Textf("a stream is read once, and {missing} error and drop-row need a second look; use {missing} mean or zero, or save it to a file")
	return &again
}

// pass is one attempt's way of reading.
type pass struct {
	g       *gatherer
	opt     chunkio.Options
	plan    Budget
	rows    stream.Range
	first   int64 // global position of the first row of the inputs
	settled bool  // opt is what the result is of; else it is the hopeful first try
	count   int   // of anchors, once they are there

	// Of scale rank, once the ranks are there.
	raw    *gram.Profile
	ranks  *gram.Histograms
	scores *gram.Scores
	sample *anchor.Sampler // of the values, for anchors

	drawn *gram.Rows // of a factor, where the pass that the anchors came from has left them
}

// useless makes a profile pass over the whole input, before as many others, and returns
// the columns with missing entries that can be no features, whatever fills them.
func (p *pass) useless(ctx context.Context, ds *chunkio.Dataset, others int) ([]stream.LeftOut, error) {
	opt := p.opt
	opt.Missing, opt.LeaveOut = stream.MissingKeep, nil
	ds, err := ds.With(opt)
	if err != nil {
		return nil, err
	}
	profile := gram.NewProfile(len(ds.Columns()))
	p.g.expect(1+others, p.plan)
	if err := p.g.fold(ctx, ds, "profile", stream.FoldOptions{}, profile); err != nil {
		return nil, err
	}
	return p.g.uselessWithMissing(profile, ds.Columns()), nil
}

// uselessWithMissing lists the columns with missing entries that can be no features.
// Those without leave themselves out in the end.
func (r *run) uselessWithMissing(profile *gram.Profile, cols []stream.Column) []stream.LeftOut {
	at := make(map[string]int, len(cols))
	for j, c := range cols {
		at[c.Name] = j
	}
	left := profile.LeftOut(cols)
	if r.scale == gram.ScaleRank { // values too far apart for sums have ranks
		left = profile.Empty(cols)
	}
	return slices.DeleteFunc(left, func(l stream.LeftOut) bool {
		return profile.Columns[at[l.Name]].Missing.Total() == 0
	})
}

// decisions takes from the profile of the whole what is left out.
func (g *gatherer) decisions(ds *chunkio.Dataset) ([]stream.LeftOut, error) {
	whole := g.profile
	left := slices.DeleteFunc(slices.Clone(ds.Columns()), func(c stream.Column) bool {
		return slices.ContainsFunc(whole.decided, func(l stream.LeftOut) bool { return l.Name == c.Name })
	})
	if err := sameColumns(whole.columns, left); err != nil {
		return nil, stream.Usagef("{profile} is of other columns: %v", err)
	}
	return g.decidedBefore(), nil
}

// decidedBefore is what the profile of the whole leaves out.
func (g *gatherer) decidedBefore() []stream.LeftOut {
	whole := g.profile
	switch {
	case whole == nil:
		return nil
	case whole.options["missing"] == missingDropRow: // its profile is without the rows that showed it
		return whole.decided
	}
	return g.uselessWithMissing(whole.profile, whole.columns)
}

// accumulate makes the pass that counts, from where saved left off if it is not nil.
// Statistics of a graph, if any, are of no rows yet.
func (p *pass) accumulate(ctx context.Context, ds *chunkio.Dataset, saved *savedPass, graph *anchor.Statistics) (*gathered, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	g := p.g
	e := &gathered{columns: ds.Columns(), decided: p.opt.LeaveOut, source: p.source(ds), plan: p.plan, raw: p.raw}
	fold := stream.FoldOptions{Range: p.rows}
	if g.from == method.FromProfile || (p.plan.OutOfCore || p.plan.Sketch > 0) && g.from != method.FromRows || g.from == method.FromRows && !p.plan.gram {
		e.profile, e.graph = gram.NewProfile(len(e.columns)), graph
		if p.plan.Sketch > 0 {
			e.sketch = g.newSketch(len(e.columns), p.plan)
			if graph != nil {
				e.weights = g.newWeights(p.count)
				graph.SketchWeights(e.weights)
			}
		}
		if g.sample {
			e.sample = g.sampler(g.mostAnchors(), len(e.columns), p.plan, p.bound(ds))
		}
		if g.keepRows > 0 {
			e.rows = p.keeper(ds)
		}
		if g.table {
			e.ranks = gram.NewRankHistograms(len(e.columns), p.opt.Threads)
		}
		if g.check == nil || p.profiles() {
			err = g.check.fold(ctx, p, ds, "profile", fold, e, saved)
		} else {
			err = g.fold(ctx, p.source(ds), "profile", fold, e.adders()...)
			e.warnings = append(e.warnings, stream.Textf("{checkpoint} saves the statistics of one pass, and this run reads the rows again and again: nothing was saved"))
		}
	} else {
		if err := p.prepare(ds, e, graph); err != nil {
			return nil, err
		}
		if p.drawn == nil {
			err = g.check.fold(ctx, p, ds, "statistics", fold, e, saved)
		}
		if err == nil && e.hashed != nil {
			err = e.settle()
		}
		if g.check != nil && e.wide != nil {
			e.warnings = append(e.warnings, stream.Textf("{checkpoint} saves statistics that are smaller than the data; features outnumber rows here, and the rows themselves are kept: nothing was saved, and an interrupted run reads them again"))
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
	e.leftOut = ds.LeftOut()
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
	if n := e.profile.Seen - e.profile.Rows; n > 0 && p.opt.Missing == stream.MissingDropRow && p.opt.Sample == 0 && p.opt.Where == "" {
		e.warnings = append(e.warnings, e.dropped())
	}
	return e, nil
}

// profiles says that a profile, with what is gathered beside it, is all that the run reads the whole input
// for: a checkpoint can save that. Else it is the least of many passes.
func (p *pass) profiles() bool {
	return p.g.from == method.FromProfile || p.plan.Sketch > 0 && p.g.from != method.FromGraph
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

// expect says how many passes are ahead before the method begins; its own come on top.
func (g *gatherer) expect(ahead int, b Budget) {
	g.last = g.passes + ahead + b.method.Least
	g.most = g.passes + ahead + b.method.Most
}

// fold makes one pass and shows its progress.
func (g *gatherer) fold(ctx context.Context, ds stream.Source, what string, opt stream.FoldOptions, adders ...stream.Adder) error {
	g.passes++
	opt.Meter = g.Meter
	rows := ds.Rows()
	if !opt.Range.All() {
		rows = opt.Range.To - opt.Range.From
	}
	return g.track(Progress{What: what, Pass: g.passes, Passes: g.last, Most: g.most, Rows: rows}, func(func(Progress)) error {
		return stream.Fold(ctx, ds, opt, adders...)
	})
}

// sameColumns compares names and order.
func sameColumns(a, b []stream.Column) error {
	if len(a) != len(b) {
		return stream.Errorf("%d features against %d", len(a), len(b))
	}
	for j := range a {
		if a[j].Name != b[j].Name {
			return stream.Errorf("feature %d is %q against %q", j, a[j].Name, b[j].Name)
		}
	}
	return nil
}
