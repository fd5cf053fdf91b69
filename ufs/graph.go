package ufs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/trust"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Graph methods go this way: a profile pass over the whole input also draws rows; these
// place the anchors; a second pass gathers the graph beside the Gram matrix. Distances need
// the scaling, and so the profile, beforehand.

// throughAnchors makes both passes.
func (p *pass) throughAnchors(ctx context.Context, ds *chunkio.Dataset) (*bundle, error) {
	d, err := p.draw(ctx, ds)
	if err != nil {
		return nil, err
	}
	p.settleKept(ds, cmp.Or(p.rawProfile, d.profile))
	input := &bundle{inputs: ds.Inputs()}
	graph, err := p.anchors(ctx, d)
	if err != nil {
		return nil, placed(err, input)
	}
	p.g.expectPasses(1, p.plan)
	p.factorRows = d.rows
	e, err := p.accumulateStats(ctx, ds, graph)
	return e, placed(err, input)
}

// drawn is what the profile pass leaves.
type drawn struct {
	columns []stream.Column
	profile *gram.Profile
	sample  *anchor.Sampler
	rows    *gram.Rows   // all of them in place of a sample, where the Gram matrix will be a factor
	order   anchor.Drawn // of the rows
}

// from is what anchors are made of.
func (d *drawn) from() anchor.Drawn {
	if d.rows != nil {
		return d.order
	}
	return d.sample
}

// draw makes the profile pass, or takes Scan's profile in its place, and settles how the next
// pass reads.
func (p *pass) draw(ctx context.Context, ds *chunkio.Dataset) (*drawn, error) {
	p.opt.Missing = p.g.policy()
	if p.scores != nil {
		return p.drawScored(ds)
	}
	if p.g.profile != nil {
		return p.drawnBefore(ds)
	}
	p.keep(ds)
	p.g.expectPasses(2, p.plan)
	var d *drawn
	err := p.spareUseless(ctx, ds, func() (err error) {
		d, err = p.profile(ctx, ds)
		return err
	})
	return d, err
}

// spareUseless makes a pass that goes before another, so that columns which are useless whatever fills
// them neither fail nor drop rows: as if nothing were missing, where the metadata do not tell otherwise,
// and if something is, once more without the columns that a profile finds useless.
func (p *pass) spareUseless(ctx context.Context, ds *chunkio.Dataset, read func() error) error {
	policy := p.opt.Missing
	if (policy == stream.MissingKeep || p.opt.Sparse != "") && !p.g.excludes() {
		return read()
	}
	if !promisesMissing(ds) && !p.g.excludes() && !p.g.states.Has(uselessPass) {
		p.opt.Missing = stream.MissingError
		err := read()
		if p.opt.Missing = policy; !errors.Is(err, stream.ErrMissing) {
			return err
		}
	}
	var err error
	if p.opt.LeaveOut, err = p.findUseless(ctx, ds, 2); err != nil {
		return err
	}
	return read()
}

// profile folds a profile and a sample of the whole input, as p.opt reads it.
func (p *pass) profile(ctx context.Context, ds *chunkio.Dataset) (*drawn, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	if n := p.plan.Factor; n > 0 {
		rows := gram.NewRows(len(ds.Columns()), n, p.opt.Threads, p.g.narrowRows(ds))
		p.facts = p.g.newFacts(len(ds.Columns()))
		body := []chunkio.Section{{Name: keptSection, Body: rows}, {Name: factsSection, Body: p.facts}}
		if err := p.makePass(ctx, ds, passSetup{name: anchorsPass, title: "rows", opt: p.opt, body: body}, rows, p.facts); err != nil {
			return nil, err
		}
		most := p.g.anchorSample(p.g.expectedAnchors(ds.Rows()), len(ds.Columns()))
		return &drawn{columns: ds.Columns(), profile: &rows.Profile, rows: rows, order: anchor.DrawnOf(rows, most, p.g.Seed)}, nil
	}
	d := &drawn{columns: ds.Columns(), profile: gram.NewProfile(len(ds.Columns()))}
	d.sample = p.g.sampler(p.g.expectedAnchors(ds.Rows()), len(d.columns), p.plan, noBound)
	body := []chunkio.Section{{Name: profileSection, Body: d.profile}, {Name: sampleSection, Body: d.sample}}
	return d, p.makePass(ctx, ds, passSetup{name: anchorsPass, title: "profile", opt: p.opt, body: body, alwaysSave: true}, d.profile, d.sample)
}

// sampler keeps rows enough for m anchors in d columns. bound says which hash a number of rows
// will not go beyond.
func (r *run) sampler(m, d int, plan Budget, bound func(rows int) uint64) *anchor.Sampler {
	rows := r.anchorSample(m, d)
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: rows, Seed: r.Seed, Limit: plan.Limit - plan.Program - plan.Reading, Bound: bound(rows), Entries: plan.thin > 0,
	})
}

// newSample is an empty sample of the rows of ds: for anchors, or to look at.
func newSample(p *pass, ds *chunkio.Dataset) *anchor.Sampler {
	g, d := p.g, len(ds.Columns())
	if g.gatherKind != method.FromGram {
		return g.sampler(g.mostAnchors(), d, p.plan, p.bound(ds))
	}
	rows := surveyRows(g.run, d)
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: rows, Seed: g.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading, Bound: p.bound(ds)(rows), Entries: g.Sparse != "",
	})
}

// optionGraphRows is the number of rows that methods look at, as a checkpoint records it.
const optionGraphRows = "graph-rows"

// surveyRows is the number of rows that a method on the Gram matrix looks at, of d columns.
func surveyRows(r *run, d int) int { return cmp.Or(r.GraphRows, method.SurveyRows(d)) }

// surveyBytes is what the sample of rows takes that a method on the Gram matrix looks at; 0 where it takes none, or
// finds the rows in a Gram matrix that is a factor of so many.
func surveyBytes(r *run, ds *chunkio.Dataset, rank int) int64 {
	d := len(ds.Columns())
	rows := atMostRows(surveyRows(r, d), ds)
	switch {
	case !r.Takes.Sample || rank > 0:
		return 0
	case r.Sparse != "":
		return anchor.EntriesBytes(rows, ds.RowEntries()*int64(rows))
	}
	return anchor.SamplerBytes(rows, d)
}

// kmeansSample bounds the rows that k-means sees, in bytes. It is no share of
// the memory limit, which must not change the result.
const kmeansSample = 256 << 20

// anchorSample is the number of rows that a profile keeps for m anchors in d columns.
func (r *run) anchorSample(m, d int) int {
	if r.Anchors.KMeans() {
		return anchor.SampleRows(m, d, kmeansSample)
	}
	return m
}

// expectedAnchors is the number of anchors for a table of so many rows, at most: before
// any row is dropped.
func (r *run) expectedAnchors(rows int64) int {
	if r.Anchors.File != "" {
		return r.anchorRows
	}
	m, err := anchor.Count(r.Anchors.Count, rows, r.Anchors.Neighbors)
	if err != nil { // the profile will tell; until then, most
		return r.mostAnchors()
	}
	return m
}

// mostAnchors is the number of anchors for a table of any number of rows, at most.
func (r *run) mostAnchors() int {
	if m := r.Anchors.Count; m > 0 {
		return m
	}
	return anchor.MostAnchors
}

// anchors places the anchors, and makes the statistics that refer to them.
func (p *pass) anchors(ctx context.Context, d *drawn) (*anchor.Statistics, error) {
	r := p.g.run
	placed, known, err := p.place(ctx, d)
	if err != nil {
		return nil, err
	}
	p.anchorCount = placed.M
	opt := anchor.Options{Neighbors: r.Anchors.Neighbors, Threads: r.Threads, Limit: p.plan.Anchors, Later: p.plan.Factor > 0, NoCross: r.Takes.NoCross, Busy: &r.Meter.Busy}
	if p.plan.thin > 0 {
		opt.Entries, opt.Limit = d.profile.Present, p.plan.thinRoom(len(d.columns))
	}
	s, err := anchor.NewStatistics(placed, opt)
	if err == nil {
		s.SetTrust(known)
	}
	return s, p.plan.explain(err)
}

// place places the anchors, and compares their graph with chance.
func (p *pass) place(ctx context.Context, d *drawn) (a *anchor.Anchors, known anchor.Trust, err error) {
	r := p.g.run
	std, err := gram.NewStandardizer(d.profile, d.columns, r.scale, r.fill())
	if err != nil {
		return nil, known, err
	}
	f := &r.Anchors
	if f.File != "" {
		a, err = p.readAnchorsFile(ctx, d, std)
	} else {
		var m int
		if m, err = anchor.Count(f.Count, d.profile.Rows, f.Neighbors); err != nil {
			return nil, known, err
		}
		if f.KMeans() {
			p.g.note("placing %d anchors by k-means on %d rows", m, d.from().Len())
			a, err = anchor.KMeans(ctx, d.from(), m, std, anchor.KMeansOptions{Seed: r.Seed, Threads: r.Threads})
		} else {
			a, err = anchor.Random(d.from(), m, std, r.Threads)
		}
	}
	if err != nil {
		return nil, known, err
	}
	if p.plan.thin > 0 {
		if err := r.thinFits(p.plan, a); err != nil {
			return nil, known, err
		}
	}
	p.g.note("comparing the graph of the %d anchors with that of a permuted copy", a.M)
	known, err = trust.Graph(ctx, a, f.Neighbors, r.Threads, p.plan.atOnce)
	return a, known, err
}

// graphShape lists the settings that shape a graph's statistics, by option.
func (r *run) graphShape(s map[string]string) {
	f := &r.Anchors
	s["scale"] = r.Scale
	s["neighbors"] = fmt.Sprint(f.Neighbors)
	if f.File != "" {
		s["anchors-file"] = place.Name(f.File)
		return
	}
	if f.Count > 0 {
		s["anchors"] = fmt.Sprint(f.Count)
	}
	s["anchor-method"] = f.Placing
	s["seed"] = fmt.Sprint(r.Seed)
}
