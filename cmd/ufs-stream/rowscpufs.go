package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cpufs"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// cpufs and cpufsnn go through the source themselves, in passes, rather than through rows
// loaded before, and want every cell of the grid: constant pixels too. So their way
// parts from that of rows.go after the pass for the statistics.

// pixelOptions are those of the flags.
func (r *request) pixelOptions() cpufs.Options {
	f, rows := &r.method.graph, &r.method.rows
	opt := cpufs.Options{
		Nonnegative: r.chosen.name == "cpufsnn", Clusters: f.clusters, Nu: rows.nu, Eta: rows.eta,
		MaxIter: f.maxIter, Tol: f.tol, Neighbors: f.neighbors, Anchors: f.anchors, AnchorKMeans: f.drawn.value == "kmeans",
		Graph: map[string]cpufs.GraphKind{"knn": cpufs.GraphKNN, "anchor": cpufs.GraphAnchors}[rows.graph.value],
		Seed:  r.limits.seed, Threads: r.limits.threads,
	}
	for _, w := range []struct {
		to   *float64
		list numbers
	}{{&opt.Alpha, f.alpha}, {&opt.Beta, rows.beta}} {
		if len(w.list) > 0 {
			*w.to = w.list[0].value
		}
	}
	return opt
}

// pixelGrid places the features.
func (r *request) pixelGrid(cols []stream.Column) (cpufs.Grid, error) {
	var shape []int
	if s := r.method.rows.shape; s != "" {
		var err error
		if shape, err = cpufs.ParseShape(s); err != nil {
			return cpufs.Grid{}, err
		}
	}
	return cpufs.NewGrid(columnNames(cols), shape)
}

// pixelSource is what the passes read: ds, or the rows drawn of it in full blocks.
func (r *request) pixelSource(ds *chunkio.Dataset) stream.Source {
	if n := r.input.drawn(); n > 0 && n < ds.Rows() {
		return &packed{ds, n}
	}
	return ds
}

// pixelScaling brings values to [0, 1], or leaves them, with what is missing filled in.
func (r *request) pixelScaling(p *gram.Profile) *cpufs.Scaling {
	s := cpufs.MinMax(p, r.fill())
	if r.scale == gram.ScaleMinMax {
		return s
	}
	if r.input.policy() != stream.MissingKeep {
		return nil
	}
	return &cpufs.Scaling{Fill: s.Fill}
}

// onPixels runs the methods whose features lie on a grid.
func (r *request) onPixels(ctx context.Context, g *gatherer, e *evidence, s *stream.Selection) (err error) {
	std, err := gram.NewStandardizer(e.profile, e.columns, r.scale, r.fill())
	if err != nil {
		return place(err, e)
	}
	for j := range e.profile.Columns {
		if c := &e.profile.Columns[j]; c.Observed > 0 && math.IsInf(c.Max-c.Min, 0) {
			return place(&stream.DataError{RowGroup: -1, Row: -1, Column: e.columns[j].Name, Err: errors.New("the range of its values overflows")}, e)
		}
	}
	used := everyColumn(e.profile, std)
	s.Warnings = append(s.Warnings, std.Warnings...)
	if s.Features, s.K = len(e.columns), r.method.k; s.K == 0 {
		s.K = min(defaultK, s.Features)
	}
	if err := atMost(s.K, s.Features, s.LeftOut); err != nil {
		return err
	}
	r.noteSample(s)
	sym, err := r.centred(e, std)
	if err != nil {
		return place(err, e)
	}
	grid, err := r.pixelGrid(e.columns)
	if err != nil {
		return err
	}
	scratch := chunkio.NewScratch(r.temp.options())
	defer func() {
		err = errors.Join(err, scratch.Close())
		s.Memory.Scratch = scratch.Most()
	}()
	if err := scratch.Reserve(e.plan.Scratch); err != nil {
		return err
	}
	opt := r.pixelOptions()
	if g := opt.WithDefaults(r.pixelSource(e.source).Rows()).Graph; g == cpufs.GraphAnchors && opt.Anchors == 0 {
		// By the rows that are left: at most as many as planned.
		if opt.Anchors, err = anchor.Count(0, e.profile.Rows, opt.Neighbors); err != nil {
			return err
		}
	}
	opt.Scaling, opt.Memory, opt.Scratch = r.pixelScaling(e.profile), e.plan.Solver-r.packing(e.source), scratch
	res, err := r.solvePixels(ctx, g, e, grid, opt)
	if err != nil {
		return e.plan.explain(place(err, e))
	}
	if err := e.source.Close(); err != nil {
		return err
	}
	rankUp(e, used, res.Order[:s.K], res.Scores, s)
	if sym != nil {
		if err := r.explainAmong(ctx, sym, std.Columns, s); err != nil {
			return err
		}
	} else {
		g.c.note("%d features are too many to say what the selection explains: that takes a Gram matrix, up to %d", s.Features, mostExplained)
	}
	if n := len(res.Constant); n > 0 {
		g.c.note("%s constant: they stay in the grid and rank last", are(n, "pixel"))
	}
	r.recordPixels(s, grid, opt.WithDefaults(e.profile.Rows), res)
	return r.judgePixels(s, res)
}

// solvePixels makes the passes and shows them.
func (r *request) solvePixels(ctx context.Context, g *gatherer, e *evidence, grid cpufs.Grid, opt cpufs.Options) (res *cpufs.Result, err error) {
	src := r.pixelSource(e.source)
	before, most := g.passes, opt.WithDefaults(src.Rows()).MaxIter
	iteration := 0
	info := passInfo{What: "scanning", Pass: before + 1, Passes: g.last, Most: g.most, Rows: src.Rows()}
	err = g.c.track(info, g.meter, func(next func(passInfo)) (err error) {
		said := func(what string) {
			if info.What = what; iteration > 0 {
				info.What = fmt.Sprintf("iteration %d of at most %d", min(iteration, most), most)
			}
			next(info)
		}
		opt.Meter = g.meter
		opt.Pass = func(pass int, what string) {
			info.Pass = before + pass
			said(what)
		}
		opt.Progress = func(done int, _ float64) {
			iteration = done + 1
			said("")
		}
		res, err = cpufs.Select(ctx, src, grid, opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	g.passes += res.Passes
	e.passes += res.Passes
	return res, nil
}

// recordPixels notes what shaped the answer.
func (r *request) recordPixels(s *stream.Selection, grid cpufs.Grid, opt cpufs.Options, res *cpufs.Result) {
	for flag, value := range map[string]any{
		"sample": r.input.sample, "shape": fmt.Sprintf("%dx%d", grid.Shape[0], grid.Shape[1]), "clusters": opt.Clusters,
		"nu": opt.Nu, "alpha": opt.Alpha, "beta": opt.Beta, "eta": opt.Eta,
		"max-iter": opt.MaxIter, "tol": opt.Tol, "graph": res.Graph, "neighbors": opt.Neighbors,
	} {
		s.Options[flag] = value
	}
	if res.Graph == "anchor" {
		s.Options["anchors"], s.Options["anchor-method"] = res.Plan.Anchors, r.method.graph.drawn.value
	}
}

// judgePixels says how the iteration went, and what the ranking does not tell.
func (r *request) judgePixels(s *stream.Selection, res *cpufs.Result) error {
	s.Iterations, s.Converged = res.Iterations(), res.Converged
	for t, v := range res.Objective[1:] {
		s.Objective = append(s.Objective, stream.Number(v))
		s.Trace = append(s.Trace, stream.TraceStep{Iteration: t + 1, Objective: stream.Number(v)})
	}
	warn := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	s.Warnings = append(s.Warnings, spelled(res.Warnings)...)
	switch from, to := res.TiedAt(s.K); {
	case s.K > res.Nonzero:
		warn("ranks %d to %d have a score of 0: column order decides which are selected; -k %d takes those that the method chose", res.Nonzero+1, s.K, max(res.Nonzero, 1))
	case from < to:
		warn("ranks %d to %d have equal scores: column order decides which are selected", from+1, to)
	}
	if rose := res.Rose; rose != nil {
		s.Converged = false
		warn("the objective rose in iteration %d, from %v to %v, which it must not: do not trust the result", rose.Iteration, rose.From, rose.To)
		return &unconverged{fmt.Sprintf("the objective rose in iteration %d", rose.Iteration)}
	}
	return r.ended(s)
}

// everyColumn is what all columns held; those that std leaves out do not vary.
func everyColumn(p *gram.Profile, std *gram.Standardizer) usedColumns {
	var u usedColumns
	for j := range p.Columns {
		c := &p.Columns[j]
		mean, spread := 0.0, 0.0
		if k, varies := slices.BinarySearch(std.Columns, j); varies {
			mean, spread = std.Mean[k], std.Std[k]
		} else if c.Observed > 0 {
			mean = c.Min
		}
		u.index = append(u.index, j)
		u.mean, u.std = append(u.mean, mean), append(u.std, spread)
		u.filled = append(u.filled, p.Rows-c.Observed)
	}
	return u
}

// explainAmong is explain where sym is of some of the features only, ascending: the
// others are constant, and explain nothing.
func (r *request) explainAmong(ctx context.Context, sym []float64, among []int, s *stream.Selection) error {
	varying := new(stream.Selection)
	var ranks []int
	for t, f := range s.Selected {
		s.Selected[t].Error = stream.Number(math.NaN())
		if k, varies := slices.BinarySearch(among, f.Column); varies {
			f.Column = k
			varying.Selected = append(varying.Selected, f)
			ranks = append(ranks, t)
		}
	}
	for _, j := range among {
		varying.Columns = append(varying.Columns, s.Columns[j])
	}
	if len(ranks) == 0 {
		return nil
	}
	if err := r.explain(ctx, sym, len(among), varying); err != nil {
		return err
	}
	for i, f := range varying.Selected {
		s.Selected[ranks[i]].Error = f.Error
	}
	for t := ranks[len(ranks)-1] + 1; t < len(s.Selected); t++ { // constant ones leave as much
		s.Selected[t].Error = s.Selected[t-1].Error
	}
	for k, j := range among {
		s.Columns[j] = varying.Columns[k]
	}
	return nil
}

// are is "1 pixel is", "2 pixels are".
func are(n int, what string) string {
	if n == 1 {
		return plural(n, what) + " is"
	}
	return plural(n, what) + " are"
}
