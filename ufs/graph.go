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

// For graph methods two passes gather the statistics. The first pass fills a profile of the whole input, and draws the
// rows from which the anchors are made. The second pass gathers the graph together with the Gram matrix. Two passes are
// necessary because distances depend on the scaling of the columns, which depends on the profile.

func (p *pass) gatherGraph(ctx context.Context, ds *chunkio.Dataset) (*bundle, error) {
	d, err := p.drawAnchorRows(ctx, ds)
	if err != nil {
		return nil, err
	}
	p.settleKept(ds, cmp.Or(p.rawProfile, d.profile))
	input := &bundle{inputs: ds.Inputs()}
	graph, err := p.newAnchorStatistics(ctx, d)
	if err != nil {
		return nil, withPlace(err, input)
	}
	p.gatherer.expectPasses(1, p.plan)
	p.factorRows = d.rows
	e, err := p.accumulateStats(ctx, ds, graph)
	return e, withPlace(err, input)
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
	p.opt.Missing = p.gatherer.missingPolicy()
	if p.scores != nil {
		return p.drawScoredRows(ds)
	}
	if p.gatherer.wholeProfile != nil {
		return p.anchorDataFromProfile(ds)
	}
	p.keepDecoded(ds)
	p.gatherer.expectPasses(2, p.plan)
	var d *anchorData
	err := p.readWithoutUseless(ctx, ds, func() (err error) {
		d, err = p.profileAndSample(ctx, ds)
		return err
	})
	return d, err
}

// readWithoutUseless calls read, which makes a pass. Missing values in useless columns, which cannot be features
// however they are filled, must neither cause an error nor drop rows. Unless the metadata announce missing values, the
// first attempt assumes that no value is missing. If one is missing, a profile pass finds the useless columns, and read
// is called again without them.
func (p *pass) readWithoutUseless(ctx context.Context, ds *chunkio.Dataset, read func() error) error {
	policy := p.opt.Missing
	if (policy == stream.MissingKeep || p.opt.Sparse != "") && !p.gatherer.excludesSuspects() {
		return read()
	}
	if !promisesMissing(ds) && !p.gatherer.excludesSuspects() && !p.gatherer.states.HasState(uselessPass) {
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

func (p *pass) profileAndSample(ctx context.Context, ds *chunkio.Dataset) (*anchorData, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	if n := p.plan.Factor; n > 0 {
		rows := gram.NewRows(len(ds.Columns()), n, p.opt.Threads, p.gatherer.hasNarrowRows(ds))
		p.facts = p.gatherer.newFacts(len(ds.Columns()))
		body := []chunkio.Section{{Name: keptSection, Body: rows}, {Name: factsSection, Body: p.facts}}
		if err := p.makePass(ctx, ds, passSetup{name: anchorsPass, title: "rows", opt: p.opt, sections: body}, rows, p.facts); err != nil {
			return nil, err
		}
		most := p.gatherer.anchorSampleRows(p.gatherer.expectedAnchors(ds.Rows()), len(ds.Columns()))
		return &anchorData{columns: ds.Columns(), profile: &rows.Profile, rows: rows, order: anchor.DrawnOf(rows, most, p.gatherer.Seed)}, nil
	}
	d := &anchorData{columns: ds.Columns(), profile: gram.NewProfile(len(ds.Columns()))}
	d.sample = p.gatherer.newAnchorSampler(p.gatherer.expectedAnchors(ds.Rows()), len(d.columns), p.plan, noHashBound)
	body := []chunkio.Section{{Name: profileSection, Body: d.profile}, {Name: sampleSection, Body: d.sample}}
	return d, p.makePass(ctx, ds, passSetup{name: anchorsPass, title: "profile", opt: p.opt, sections: body, alwaysSave: true}, d.profile, d.sample)
}

// newAnchorSampler makes a sampler that keeps enough rows of d columns to make m anchors. It keeps the rows of smallest
// hash. For a number of rows to keep, bound returns an upper bound on their hashes, or 0 for no bound.
func (r *run) newAnchorSampler(m, d int, plan Budget, bound func(rows int) uint64) *anchor.Sampler {
	rows := r.anchorSampleRows(m, d)
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: rows, Seed: r.Seed, Limit: plan.Limit - plan.Program - plan.Reading, Bound: bound(rows), Entries: plan.thinColumnBytes > 0,
	})
}

func newRowSample(p *pass, ds *chunkio.Dataset) *anchor.Sampler {
	g, d := p.gatherer, len(ds.Columns())
	if g.gatherKind != method.FromGram {
		return g.newAnchorSampler(g.maxAnchors(), d, p.plan, p.hashBound(ds))
	}
	rows := surveyRows(g.run, d)
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: rows, Seed: g.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading, Bound: p.hashBound(ds)(rows), Entries: g.Sparse != "",
	})
}

// optionGraphRows is the option under which the number of sampled rows for a survey is recorded.
const optionGraphRows = "graph-rows"

func surveyRows(r *run, d int) int { return cmp.Or(r.GraphRows, method.SurveyRows(d)) }

// surveyBytes returns the memory of the sample of rows for a survey. It is 0 if the method does not use a sample. It is
// also 0 if rank is not 0: the Gram matrix is then a factor of rank rows, and the sample is a part of these rows.
func surveyBytes(r *run, ds *chunkio.Dataset, rank int) int64 {
	d := len(ds.Columns())
	rows := limitRows(surveyRows(r, d), ds)
	switch {
	case !r.Takes.Sample || rank > 0:
		return 0
	case r.Sparse != "":
		return anchor.EntriesBytes(rows, ds.RowEntries()*int64(rows))
	}
	return anchor.SamplerBytes(rows, d)
}

// kmeansSampleBytes bounds the memory of the sampled rows that k-means clusters. It does not depend on the memory
// limit, because the limit must not change the result.
const kmeansSampleBytes = 256 << 20

func (r *run) anchorSampleRows(m, d int) int {
	if r.Anchors.KMeans() {
		return anchor.SampleRows(m, d, kmeansSampleBytes)
	}
	return m
}

// expectedAnchors returns the largest number of anchors for a table of the given number of rows, before rows are
// dropped.
func (r *run) expectedAnchors(rows int64) int {
	if r.Anchors.File != "" {
		return r.anchorRows
	}
	m, err := anchor.Count(r.Anchors.Count, rows, r.Anchors.Neighbors)
	if err != nil { // the pass for the profile will report the error; until then plan for the maximum
		return r.maxAnchors()
	}
	return m
}

func (r *run) maxAnchors() int {
	if m := r.Anchors.Count; m > 0 {
		return m
	}
	return anchor.MostAnchors
}

func (p *pass) newAnchorStatistics(ctx context.Context, d *anchorData) (*anchor.Statistics, error) {
	r := p.gatherer.run
	anchors, known, err := p.placeAnchors(ctx, d)
	if err != nil {
		return nil, err
	}
	p.anchorCount = anchors.M
	opt := anchor.Options{Neighbors: r.Anchors.Neighbors, Threads: r.Threads, Limit: p.plan.Anchors, Later: p.plan.Factor > 0, NoCross: r.Takes.NoCross, Busy: &r.Meter.Busy}
	if p.plan.thinColumnBytes > 0 {
		opt.Entries, opt.Limit = d.profile.Present, p.plan.thinRoom(len(d.columns))
	}
	s, err := anchor.NewStatistics(anchors, opt)
	if err == nil {
		s.SetTrust(known)
	}
	return s, p.plan.errForLimit(err)
}

func (p *pass) placeAnchors(ctx context.Context, d *anchorData) (a *anchor.Anchors, known anchor.Trust, err error) {
	r := p.gatherer.run
	std, err := gram.NewStandardizer(d.profile, d.columns, r.scale, r.missingFill())
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
			p.gatherer.note("placing %d anchors by k-means on %d rows", m, d.drawnRows().Len())
			a, err = anchor.KMeans(ctx, d.drawnRows(), m, std, anchor.KMeansOptions{Seed: r.Seed, Threads: r.Threads})
		} else {
			a, err = anchor.Random(d.drawnRows(), m, std, r.Threads)
		}
	}
	if err != nil {
		return nil, known, err
	}
	if p.plan.thinColumnBytes > 0 {
		if err := r.checkThinFits(p.plan, a); err != nil {
			return nil, known, err
		}
	}
	p.gatherer.note("comparing the graph of the %d anchors with that of a permuted copy", a.M)
	known, err = trust.CompareGraph(ctx, a, f.Neighbors, r.Threads, p.plan.judgesAtOnce)
	return a, known, err
}

func (r *run) addGraphShape(s map[string]string) {
	f := &r.Anchors
	s["scale"] = r.Scale
	s["neighbors"] = fmt.Sprint(f.Neighbors)
	if f.File != "" {
		s["anchors-file"] = place.DisplayName(f.File)
		return
	}
	if f.Count > 0 {
		s["anchors"] = fmt.Sprint(f.Count)
	}
	s["anchor-method"] = f.Placing
	s["seed"] = fmt.Sprint(r.Seed)
}
