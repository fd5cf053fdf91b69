package ufs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/trust"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Graph methods go this way: a profile pass over the whole input also draws rows; these
// place the anchors; a second pass gathers the graph beside the Gram matrix. Distances need
// the scaling, and so the profile, beforehand.

// throughAnchors makes both passes.
func (p *pass) throughAnchors(ctx context.Context, ds *chunkio.Dataset) (*gathered, error) {
	d, err := p.draw(ctx, ds)
	if err != nil {
		return nil, err
	}
	p.settleKept(ds, cmp.Or(p.raw, d.profile))
	input := &gathered{inputs: ds.Inputs()}
	graph, err := p.anchors(ctx, d)
	if err != nil {
		return nil, placed(err, input)
	}
	p.g.expect(1, p.plan)
	p.drawn = d.rows
	e, err := p.accumulate(ctx, ds, graph)
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
	p.g.expect(2, p.plan)
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
	if p.opt.LeaveOut, err = p.useless(ctx, ds, 2); err != nil {
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
		if err := p.read(ctx, ds, reading{name: anchorsPass, what: "rows", opt: p.opt, body: body}, rows, p.facts); err != nil {
			return nil, err
		}
		most := p.g.anchorSample(p.g.expectedAnchors(ds.Rows()), len(ds.Columns()))
		return &drawn{columns: ds.Columns(), profile: &rows.Profile, rows: rows, order: anchor.DrawnOf(rows, most, p.g.Seed)}, nil
	}
	d := &drawn{columns: ds.Columns(), profile: gram.NewProfile(len(ds.Columns()))}
	d.sample = p.g.sampler(p.g.expectedAnchors(ds.Rows()), len(d.columns), p.plan, noBound)
	body := []chunkio.Section{{Name: profileSection, Body: d.profile}, {Name: sampleSection, Body: d.sample}}
	return d, p.read(ctx, ds, reading{name: anchorsPass, what: "profile", opt: p.opt, body: body, keeps: true}, d.profile, d.sample)
}

// sampler keeps rows enough for m anchors in d columns. bound says which hash a number of rows
// will not go beyond.
func (r *run) sampler(m, d int, plan Budget, bound func(rows int) uint64) *anchor.Sampler {
	rows := r.anchorSample(m, d)
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: rows, Seed: r.Seed, Limit: plan.Limit - plan.Program - plan.Reading, Bound: bound(rows), Entries: plan.thin > 0,
	})
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

// placement is anchors in a scale, and how far their graph can be trusted.
type placement struct {
	*anchor.Anchors
	scale gram.Scale
	trust anchor.Trust
}

// anchors places the anchors and makes the statistics that refer to them. Where the run may choose
// the scale, it takes the first of which the graph can be trusted, else the method's own.
func (p *pass) anchors(ctx context.Context, d *drawn) (*anchor.Statistics, error) {
	r := p.g.run
	var best *placement
	for _, scale := range r.graphScales() {
		one, err := p.place(ctx, d, scale)
		switch {
		case err != nil && best != nil && errors.As(err, new(*stream.DataError)):
			continue // a scale that is only tried, and that the data do not allow
		case err != nil:
			return nil, err
		}
		if best == nil || one.trust.Trusted() {
			best = one
		}
		if one.trust.Trusted() {
			break
		}
	}
	if own := r.Spec.Scale; r.scaleOpen() { // said anew in every attempt
		r.scale, r.Scale, r.why = best.scale, best.scale.String(), recommendedOne()
		if best.scale != own {
			r.why = stream.Textf("the recommended one, with {scale} %v: there the graph of the rows can be trusted, and with {scale} %v it cannot", best.scale, own)
		}
	}
	p.count = best.M
	opt := anchor.Options{Neighbors: r.Anchors.Neighbors, Threads: r.Threads, Limit: p.plan.Anchors, Later: p.plan.Factor > 0, NoCross: r.Takes.NoCross, Busy: &r.Meter.Busy}
	if p.plan.thin > 0 {
		opt.Entries, opt.Limit = d.profile.Present, p.plan.thinRoom(len(d.columns))
	}
	s, err := anchor.NewStatistics(best.Anchors, opt)
	if err == nil {
		s.SetTrust(best.trust)
	}
	return s, p.plan.explain(err)
}

// graphScales are the scales to try for the graph, the method's own first. The run may choose where
// the request names neither method nor scale: on counts of words the values themselves make a graph of
// topics where scaled ones make none, and on pixels standard values, which blow up the border, make
// none where others do (bench/results/quality).
func (r *run) graphScales() []gram.Scale {
	if !r.scaleOpen() {
		return []gram.Scale{r.scale}
	}
	return append([]gram.Scale{r.Spec.Scale}, scalesBeside(r.Spec.Scale)...)
}

// scalesBeside are the scales to try where the graph in one shows nothing.
func scalesBeside(scale gram.Scale) []gram.Scale {
	all := []gram.Scale{gram.ScalePareto, gram.ScaleNone, gram.ScaleStandard}
	return slices.DeleteFunc(all, func(s gram.Scale) bool { return s == scale })
}

// otherScales names scalesBeside in a sentence.
func otherScales(scale gram.Scale) string {
	var names []string
	for _, s := range scalesBeside(scale) {
		names = append(names, s.String())
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// scaleOpen says that the run may choose the scale.
func (r *run) scaleOpen() bool { return r.plain != nil && r.asked.Scale == "" && r.profile == nil }

// place places the anchors in a scale, and compares their graph with chance.
func (p *pass) place(ctx context.Context, d *drawn, scale gram.Scale) (*placement, error) {
	r := p.g.run
	std, err := gram.NewStandardizer(d.profile, d.columns, scale, r.fill())
	if err != nil {
		return nil, err
	}
	f, one := &r.Anchors, &placement{scale: scale}
	if f.File != "" {
		one.Anchors, err = p.anchorsOf(ctx, d, std)
	} else {
		var m int
		if m, err = anchor.Count(f.Count, d.profile.Rows, f.Neighbors); err != nil {
			return nil, err
		}
		if f.KMeans() {
			p.g.note("placing %d anchors by k-means on %d rows", m, d.from().Len())
			one.Anchors, err = anchor.KMeans(ctx, d.from(), m, std, anchor.KMeansOptions{Seed: r.Seed, Threads: r.Threads})
		} else {
			one.Anchors, err = anchor.Random(d.from(), m, std, r.Threads)
		}
	}
	if err != nil {
		return nil, err
	}
	if p.plan.thin > 0 {
		if err := r.thinFits(p.plan, one.Anchors); err != nil {
			return nil, err
		}
	}
	p.g.note("comparing the graph of the %d anchors, {scale} %v, with that of a permuted copy", one.M, scale)
	one.trust, err = trust.Graph(ctx, one.Anchors, f.Neighbors, r.Threads, p.plan.atOnce)
	return one, err
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
