package gathering

import (
	"cmp"
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/trust"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// For graph methods two passes gather the statistics. The first pass fills a profile of the whole input, and draws the
// rows from which the anchors are made. The second pass gathers the graph together with the Gram matrix. Two passes are
// necessary because distances depend on the scaling of the columns, which depends on the profile.

func gatherGraph(ctx context.Context, p *pass, ds *chunkio.Dataset) (*statistics.Bundle, error) {
	d, err := p.drawAnchorRows(ctx, ds)
	if err != nil {
		return nil, err
	}
	settleKeptData(p, ds, cmp.Or(p.rawProfile, d.profile))
	input := &statistics.Bundle{Inputs: ds.Inputs()}
	graph, err := p.newAnchorStatistics(ctx, d)
	if err != nil {
		return nil, statistics.WithPlace(err, input)
	}
	p.gatherer.setExpectedPasses(1, p.plan)
	p.factorRows = d.rows
	e, err := p.accumulateStats(ctx, ds, graph)
	return e, statistics.WithPlace(err, input)
}

// anchorData is the result of the profile pass, from which the anchors are made.
type anchorData struct {
	columns []stream.Column
	profile *gram.Profile
	sample  *anchor.Sampler
	rows    *gram.Rows   // if the Gram matrix will be a factor: all rows, which replace the sample
	order   anchor.Drawn // the order in which rows are drawn as anchors
}

func (d *anchorData) drawnRows() anchor.Drawn {
	if d.rows != nil {
		return d.order
	}
	return d.sample
}

// drawAnchorRows makes the profile pass, or uses the profile of a scan instead. It also sets the options with which the
// next pass reads.
func (p *pass) drawAnchorRows(ctx context.Context, ds *chunkio.Dataset) (*anchorData, error) {
	p.opt.Missing = request.MissingPolicy(&p.gatherer.Run.Request)
	if p.scores != nil {
		return p.drawScoredRows(ds)
	}
	if p.gatherer.Run.WholeProfile != nil {
		return anchorDataFromProfile(p, ds)
	}
	keepDecodedData(p, ds)
	p.gatherer.setExpectedPasses(2, p.plan)
	var d *anchorData
	err := p.readWithoutUseless(ctx, ds, func() (err error) {
		d, err = p.profileAndSampleRows(ctx, ds)
		return err
	})
	return d, err
}

// readWithoutUseless calls read, which makes a pass over the input. Missing values in useless columns, which cannot be
// features however they are filled, must neither cause an error nor drop rows. Unless the metadata announce missing
// values, the first attempt assumes that no value is missing. If one is missing, a profile pass finds the useless
// columns, and read is called again without them.
func (p *pass) readWithoutUseless(ctx context.Context, ds *chunkio.Dataset, read func() error) error {
	policy := p.opt.Missing
	if (policy == stream.MissingKeep || p.opt.Sparse != "") && !request.ExcludesSuspects(&p.gatherer.Run.Request) {
		return read()
	}
	if !settled.PromisesMissing(ds) && !request.ExcludesSuspects(&p.gatherer.Run.Request) && !p.gatherer.states.HasState(uselessPass) {
		p.opt.Missing = stream.MissingError
		err := read()
		if p.opt.Missing = policy; !errors.Is(err, stream.ErrMissing) {
			return err
		}
	}
	var err error
	if p.opt.LeaveOut, err = p.findUselessColumns(ctx, ds, 2); err != nil {
		return err
	}
	return read()
}

func (p *pass) profileAndSampleRows(ctx context.Context, ds *chunkio.Dataset) (*anchorData, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	if n := p.plan.Factor; n > 0 {
		rows := gram.NewRows(len(ds.Columns()), n, p.opt.Threads, planning.HasNarrowRows(p.gatherer.Run, ds))
		p.facts = settled.NewFacts(p.gatherer.Run, len(ds.Columns()))
		body := []chunkio.Section{{Name: statistics.KeptSection, Body: rows}, {Name: statistics.FactsSection, Body: p.facts}}
		if err := makePass(ctx, p, ds, passSetup{name: anchorsPass, title: "rows", opt: p.opt, sections: body}, rows, p.facts); err != nil {
			return nil, err
		}
		most := p.gatherer.Run.AnchorSampleRows(p.gatherer.Run.ExpectedAnchors(ds.Rows()), len(ds.Columns()))
		return &anchorData{columns: ds.Columns(), profile: &rows.Profile, rows: rows, order: anchor.DrawnOf(rows, most, p.gatherer.Run.Choice.Seed)}, nil
	}
	d := &anchorData{columns: ds.Columns(), profile: gram.NewProfile(len(ds.Columns()))}
	d.sample = newAnchorSampler(p.gatherer.Run, p.gatherer.Run.ExpectedAnchors(ds.Rows()), len(d.columns), p.plan, noHashBound)
	body := []chunkio.Section{{Name: statistics.ProfileSection, Body: d.profile}, {Name: statistics.SampleSection, Body: d.sample}}
	return d, makePass(ctx, p, ds, passSetup{name: anchorsPass, title: "profile", opt: p.opt, sections: body, alwaysSave: true}, d.profile, d.sample)
}

// newAnchorSampler makes a sampler that keeps enough rows of d columns to make m anchors. It keeps the rows of smallest
// hash. For a number of rows to keep, bound returns an upper bound on their hashes, or 0 for no bound.
func newAnchorSampler(r *settled.Run, m, d int, plan budget.Budget, bound func(rows int) uint64) *anchor.Sampler {
	rows := r.AnchorSampleRows(m, d)
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: rows, Seed: r.Choice.Seed, Limit: plan.Limit - plan.Program - plan.Reading, Bound: bound(rows), Entries: plan.ThinColumnBytes > 0,
	})
}

func newAnchorOrSurveySample(p *pass, ds *chunkio.Dataset) *anchor.Sampler {
	g, d := p.gatherer, len(ds.Columns())
	if g.GatherKind != method.FromGram {
		return newAnchorSampler(g.Run, g.Run.MaxAnchors(), d, p.plan, hashBound(p, ds))
	}
	rows := settled.SurveyRows(g.Run, d)
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: rows, Seed: g.Run.Choice.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading, Bound: hashBound(p, ds)(rows), Entries: g.Run.Columns.Sparse != "",
	})
}

func (p *pass) newAnchorStatistics(ctx context.Context, d *anchorData) (*anchor.Statistics, error) {
	r := p.gatherer.Run
	anchors, known, err := p.placeAnchors(ctx, d)
	if err != nil {
		return nil, err
	}
	p.anchorCount = anchors.M
	opt := anchor.Options{Neighbors: r.Bound.Anchors.Neighbors, Threads: r.Limits.Threads, Limit: p.plan.Anchors, Later: p.plan.Factor > 0, NoCross: r.Bound.Takes.NoCross, Busy: &r.Hooks.Meter.Busy}
	if p.plan.ThinColumnBytes > 0 {
		opt.Entries, opt.Limit = d.profile.Present, p.plan.ThinRoom(len(d.columns))
	}
	s, err := anchor.NewStatistics(anchors, opt)
	if err == nil {
		s.SetTrust(known)
	}
	return s, p.plan.ErrForLimit(err)
}

func (p *pass) placeAnchors(ctx context.Context, d *anchorData) (a *anchor.Anchors, known anchor.Trust, err error) {
	r := p.gatherer.Run
	std, err := gram.NewStandardizer(d.profile, d.columns, r.ParsedScale, request.MissingFill(&r.Request))
	if err != nil {
		return nil, known, err
	}
	f := &r.Bound.Anchors
	if f.File != "" {
		a, err = readAnchorsFile(ctx, p, d, std)
	} else {
		var m int
		if m, err = anchor.Count(f.Count, d.profile.Rows, f.Neighbors); err != nil {
			return nil, known, err
		}
		if f.KMeans() {
			p.gatherer.Run.Notef("placing %d anchors by k-means on %d rows", m, d.drawnRows().Len())
			a, err = anchor.KMeans(ctx, d.drawnRows(), m, std, anchor.KMeansOptions{Balanced: f.IsBalanced(), Seed: r.Choice.Seed, Threads: r.Limits.Threads})
		} else {
			a, err = anchor.Random(d.drawnRows(), m, std, r.Limits.Threads)
		}
	}
	if err != nil {
		return nil, known, err
	}
	if p.plan.ThinColumnBytes > 0 {
		if err := planning.CheckThinFits(r, p.plan, a); err != nil {
			return nil, known, err
		}
	}
	p.gatherer.Run.Notef("comparing the graph of the %d anchors with that of a permuted copy", a.M)
	known, err = trust.CompareGraph(ctx, a, f.Neighbors, r.Limits.Threads, p.plan.JudgesAtOnce)
	return a, known, err
}
