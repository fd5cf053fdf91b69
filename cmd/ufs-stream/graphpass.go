package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The way of the graph methods: a profile pass over the whole input, which also draws
// rows; anchors from those; and one pass that adds the graph's statistics to those of
// the Gram matrix. Distances need the scaling, and so the profile, beforehand.

// throughAnchors makes both passes, the second from where saved left off.
func (p *pass) throughAnchors(ctx context.Context, ds *chunkio.Dataset, saved *savedPass) (*evidence, error) {
	d, err := p.draw(ctx, ds)
	if err != nil {
		return nil, err
	}
	p.settled = true
	input := &evidence{inputs: ds.Inputs()}
	graph, err := p.anchors(ctx, d)
	if err != nil {
		return nil, place(err, input)
	}
	p.g.expect(1, p.plan, len(ds.Columns()))
	e, err := p.accumulate(ctx, ds, saved, graph)
	return e, place(err, input)
}

// drawn is what the profile pass leaves.
type drawn struct {
	columns []stream.Column
	profile *gram.Profile
	sample  *anchor.Sampler
}

// draw makes the profile pass, or takes that of --profile, and settles how the next
// pass reads.
func (p *pass) draw(ctx context.Context, ds *chunkio.Dataset) (*drawn, error) {
	policy := p.g.req.input.policy()
	p.opt.Missing = policy
	if p.g.req.by != nil {
		return p.drawnBefore(ds)
	}
	p.g.expect(2, p.plan, len(ds.Columns()))
	// Columns that are useless whatever fills them must neither fail nor drop rows.
	if policy != stream.MissingKeep && p.opt.Sparse == "" {
		if !promisesMissing(ds) {
			p.opt.Missing = stream.MissingError
			d, err := p.profile(ctx, ds)
			if p.opt.Missing = policy; !errors.Is(err, stream.ErrMissing) {
				return d, err
			}
		}
		p.g.expect(3, p.plan, len(ds.Columns()))
		var err error
		if p.opt.LeaveOut, err = p.useless(ctx, ds, 2); err != nil {
			return nil, err
		}
	}
	return p.profile(ctx, ds)
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
	d := &drawn{columns: ds.Columns(), profile: gram.NewProfile(len(ds.Columns()))}
	d.sample = p.g.req.sampler(p.g.req.expectedAnchors(ds.Rows()), len(d.columns), p.plan)
	return d, p.g.fold(ctx, ds, "profile", stream.FoldOptions{}, d.profile, d.sample)
}

// sampler keeps rows enough for m anchors in d columns.
func (r *request) sampler(m, d int, plan budget) *anchor.Sampler {
	return anchor.NewSampler(d, anchor.SamplerOptions{
		Rows: r.sampleRows(m, d), Seed: r.limits.seed, Limit: plan.Limit - plan.Program - plan.Reading,
	})
}

// kmeansSample bounds the rows that k-means sees, in bytes. It is no share of
// --memory-limit, which must not change the result.
const kmeansSample = 256 << 20

// sampleRows is the number of rows that a profile keeps for m anchors in d columns.
func (r *request) sampleRows(m, d int) int {
	if r.method.graph.drawn.value == "kmeans" {
		return anchor.SampleRows(m, d, kmeansSample)
	}
	return m
}

// expectedAnchors is the number of anchors for a table of so many rows, at most: before
// any row is dropped.
func (r *request) expectedAnchors(rows int64) int {
	if r.method.graph.file != "" {
		return r.method.graph.fileRows
	}
	m, err := anchor.Count(r.method.graph.anchors, rows, r.method.graph.neighbors)
	if err != nil { // the profile will tell; until then, most
		return r.mostAnchors()
	}
	return m
}

// mostAnchors is the number of anchors for a table of any number of rows, at most.
func (r *request) mostAnchors() int {
	if m := r.method.graph.anchors; m > 0 {
		return m
	}
	return anchor.MostAnchors
}

// anchors places the anchors and makes the statistics that refer to them.
func (p *pass) anchors(ctx context.Context, d *drawn) (*anchor.Statistics, error) {
	r := p.g.req
	std, err := gram.NewStandardizer(d.profile, d.columns, r.scale, r.fill())
	if err != nil {
		return nil, err
	}
	f := &r.method.graph
	var a *anchor.Anchors
	if f.file != "" {
		a, err = p.given(ctx, d, std)
	} else {
		var m int
		if m, err = anchor.Count(f.anchors, d.profile.Rows, f.neighbors); err != nil {
			return nil, err
		}
		if f.drawn.value == "kmeans" {
			p.g.c.note("placing %d anchors by k-means on %d rows", m, d.sample.Len())
			a, err = anchor.KMeans(ctx, d.sample, m, std, anchor.KMeansOptions{Seed: r.limits.seed, Threads: r.limits.threads})
		} else {
			a, err = anchor.Random(d.sample, m, std)
		}
	}
	if err != nil {
		return nil, err
	}
	p.count = a.M
	return anchor.NewStatistics(a, anchor.Options{Neighbors: f.neighbors, Threads: r.limits.threads, Limit: p.plan.Anchors})
}

// graphShape lists the settings that shape a graph's statistics, by flag.
func (r *request) graphShape(s map[string]string) {
	f := &r.method.graph
	s["scale"] = r.method.scale
	s["neighbors"] = fmt.Sprint(f.neighbors)
	if f.file != "" {
		s["anchors-file"] = f.file
		return
	}
	if f.anchors > 0 {
		s["anchors"] = fmt.Sprint(f.anchors)
	}
	s["anchor-method"] = f.drawn.value
	s["seed"] = fmt.Sprint(r.limits.seed)
}
