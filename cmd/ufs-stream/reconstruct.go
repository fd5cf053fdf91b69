package main

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/stream"
)

// reconstruct runs the greedy family: from G in memory, or out of core.
func (r *request) reconstruct(ctx context.Context, g *gatherer, e *evidence, s *stream.Selection) error {
	if e.moments == nil {
		return r.reconstructOutOfCore(ctx, g, e, s)
	}
	m, err := e.moments.Finish(e.columns, gram.FinishOptions{Scale: r.scale, Fill: r.fill()})
	if err != nil {
		return place(err, e)
	}
	if e.wanted != nil {
		m.Keep(e.wanted)
	}
	used := usedColumns{index: m.Columns, mean: m.Mean, std: m.Std, filled: m.Filled}
	s.LeftOut = append(s.LeftOut, e.unlisted(m.LeftOut)...)
	s.Warnings = append(s.Warnings, m.Warnings...)
	opt, err := r.greedyOptions(used.columns(e), s.LeftOut)
	if err != nil {
		return err
	}
	res, err := greedy.Select(ctx, m.Sym, m.D, opt)
	if err != nil {
		return err
	}
	r.writeUp(e, used, res, s)
	return nil
}

// reconstructOutOfCore reads the rows again and again in place of G.
func (r *request) reconstructOutOfCore(ctx context.Context, g *gatherer, e *evidence, s *stream.Selection) error {
	opt, err := r.greedyOptions(e.columns, e.leftOut)
	if err != nil {
		return err
	}
	var res *greedy.Result
	var std *gram.Standardizer
	before := g.passes
	p := passInfo{What: "selecting", Pass: before + 1, Passes: g.last, Most: g.most, Rows: e.source.Rows()}
	err = g.c.track(p, g.meter, func(next func(passInfo)) (err error) {
		res, std, err = greedy.SelectStream(ctx, e.source, greedy.StreamOptions{
			Options: opt, Scale: r.scale, Fill: r.fill(), Profile: e.profile, Memory: e.plan.Solver, Meter: g.meter,
			Pass: func(pass int, what string) {
				p.Pass, p.What = before+pass, what
				next(p)
			},
		})
		return err
	})
	if err != nil {
		return e.plan.explain(place(err, e))
	}
	e.passes += res.Passes
	s.LeftOut = append(s.LeftOut, std.LeftOut...)
	s.Warnings = append(s.Warnings, std.Warnings...)
	r.writeUp(e, usedColumns{index: std.Columns, mean: std.Mean, std: std.Std, filled: std.Filled}, res, s)
	return nil
}

// laterPasses is about how often selecting from d features itself reads the rows.
func (r *request) laterPasses(b budget, d int) (least, most int) {
	switch {
	case r.chosen.pixels:
		return b.Later.Least, b.Later.Most
	case r.chosen.need == needRows:
		return 1, mostLoads
	case b.OutOfCore:
		return r.outOfCorePasses(b, d)
	}
	return 0, 0
}

// outOfCorePasses is about how often SelectStream reads the rows: at least for f⁰
// and a batch of candidates, at most for f⁰ and two passes for every feature.
func (r *request) outOfCorePasses(b budget, d int) (least, most int) {
	k := r.expectedK(d)
	start, err := greedy.StreamPasses(d, k, r.expectedGroups(d), b.Solver)
	if err != nil {
		return 0, 0
	}
	start-- // the profile, which is there already
	return start + 2, start + 2*k
}

// greedyOptions are those of the flags, for the features cols.
func (r *request) greedyOptions(cols []stream.Column, leftOut []stream.LeftOut) (greedy.Options, error) {
	opt := greedy.Options{
		K: r.method.k, Variance: r.method.variance, Partitioned: r.chosen.name == "partgreedy",
		Partitions: r.method.partitions, Seed: r.limits.seed, Threads: r.limits.threads,
	}
	if err := atMost(opt.K, len(cols), leftOut); err != nil {
		return opt, err
	}
	var err error
	opt.Keep, err = matchFeatures("keep", r.method.keep, cols, leftOut)
	return opt, err
}

// writeUp puts a result of the greedy family into s.
func (r *request) writeUp(e *evidence, used usedColumns, res *greedy.Result, s *stream.Selection) {
	cols := used.columns(e)
	s.Features = len(cols)
	s.K = r.method.k
	if s.K == 0 {
		s.K = len(res.Order)
	}
	s.Objective = append(s.Objective, 1)
	for t, j := range res.Order {
		s.Selected = append(s.Selected, stream.Selected{
			Rank: t + 1, Name: cols[j].Name, Column: j,
			Score: stream.Number(res.Scores[t]), Error: stream.Number(res.Error[t]),
		})
		s.Objective = append(s.Objective, stream.Number(res.Error[t]))
	}
	for j := range cols {
		c := reportColumn(e, used, j)
		c.Explained = stream.Number(res.Explained[j])
		if n := res.Nearest[j]; n >= 0 {
			c.Nearest = cols[n].Name
		}
		s.Columns = append(s.Columns, c)
	}
	if r.chosen.name == "partgreedy" {
		groups := 0
		for _, g := range res.Groups {
			groups = max(groups, g+1)
		}
		s.Options["partitions"] = groups
	}
	for _, t := range res.Ties {
		s.Warnings = append(s.Warnings, fmt.Sprintf("rank %d: %s was taken before %s with an equal score, the first being %s: the first in column order wins",
			t.Turn+1, cols[res.Order[t.Turn]].Name, plural(len(t.Columns), "feature"), cols[t.Columns[0]].Name))
	}
	s.Warnings = append(s.Warnings, spelled(res.Warnings)...)
}
