package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/baseline"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/stream"
)

// choose asks the selector for its choice and writes it up. e is used up.
func (r *request) choose(ctx context.Context, g *gatherer, e *evidence) (*stream.Selection, error) {
	s := &stream.Selection{
		Method: r.chosen.name, Seed: r.limits.seed, Version: release,
		Rows: e.profile.Seen, RowsUsed: e.profile.Rows,
		Options: r.record(e), Inputs: e.inputs, Converged: true,
		LeftOut: slices.Clone(e.leftOut), Warnings: slices.Clone(e.warnings),
	}
	begin := time.Now()
	var err error
	if r.chosen.need == needProfile {
		err = r.rank(e, s)
	} else {
		err = r.reconstruct(ctx, g, e, s)
	}
	if err != nil {
		return nil, err
	}
	s.Passes = e.passes
	s.Timing.Solve = time.Since(begin).Seconds()
	s.Iterations = len(s.Selected)
	if s.LeftOut == nil {
		s.LeftOut = []stream.LeftOut{}
	}
	if s.Warnings == nil {
		s.Warnings = []string{}
	}
	return s, nil
}

// record lists every setting that shapes the answer.
func (r *request) record(e *evidence) map[string]any {
	o := make(map[string]any)
	for flag, value := range e.options {
		if flag != "seed" { // it has a place of its own
			o[flag] = value
		}
	}
	o["missing"] = r.input.missing.value
	o["scale"] = r.method.scale
	for flag, value := range map[string]string{"columns": strings.Join(r.input.columns, ","), "exclude": strings.Join(r.input.exclude, ","), "keep": strings.Join(r.method.keep, ",")} {
		if value != "" {
			o[flag] = value
		}
	}
	if r.method.variance > 0 {
		o["variance"] = r.method.variance
	}
	return o
}

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
	p := passInfo{What: "selecting", Pass: before + 1, Rows: e.source.Rows()}
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

// place names the input in a selector's complaint about the data.
func place(err error, e *evidence) error {
	var bad *stream.DataError
	if !errors.As(err, &bad) || bad.Path != "" || len(e.inputs) == 0 {
		return err
	}
	placed := *bad
	if placed.Path = e.inputs[0].Path; len(e.inputs) > 1 {
		placed.Path += fmt.Sprintf(" and %s", plural(len(e.inputs)-1, "file"))
	}
	return &placed
}

// unlisted is found less what the user has left out already.
func (e *evidence) unlisted(found []stream.LeftOut) []stream.LeftOut {
	return slices.DeleteFunc(slices.Clone(found), func(l stream.LeftOut) bool {
		return slices.ContainsFunc(e.leftOut, func(own stream.LeftOut) bool { return own.Name == l.Name })
	})
}

// usedColumns are the features that take part: those of the evidence that are not
// left out in the end. The slices are parallel.
type usedColumns struct {
	index     []int // among the evidence's columns
	mean, std []float64
	filled    []int64
}

func (u usedColumns) columns(e *evidence) []stream.Column {
	cols := make([]stream.Column, len(u.index))
	for k, j := range u.index {
		cols[k] = e.columns[j]
	}
	return cols
}

// keep is the part of u, and of the scores beside it, that is wanted.
func (u usedColumns) keep(wanted []bool, scores []float64) (usedColumns, []float64) {
	var kept usedColumns
	var keptScores []float64
	for k, j := range u.index {
		if wanted[j] {
			kept.index = append(kept.index, j)
			kept.mean, kept.std = append(kept.mean, u.mean[k]), append(kept.std, u.std[k])
			kept.filled = append(kept.filled, u.filled[k])
			keptScores = append(keptScores, scores[k])
		}
	}
	return kept, keptScores
}

// atMost makes sure that k features can be selected from d.
func atMost(k, d int, leftOut []stream.LeftOut) error {
	if k <= d {
		return nil
	}
	why := ""
	if n := len(leftOut); n > 0 {
		why = fmt.Sprintf("; %s left out, the first %q: %s", plural(n, "column"), leftOut[0].Name, leftOut[0].Why)
	}
	return stream.Usagef("-k %d is more than the %s that can be selected%s", k, plural(d, "feature"), why)
}

func (r *request) greedyOptions(cols []stream.Column, leftOut []stream.LeftOut) (greedy.Options, error) {
	opt := greedy.Options{
		K: r.method.k, Variance: r.method.variance, Partitioned: r.chosen.name == "partgreedy",
		Partitions: r.method.partitions, Seed: r.limits.seed, Workers: r.limits.threads,
	}
	if err := atMost(opt.K, len(cols), leftOut); err != nil {
		return opt, err
	}
	var err error
	opt.Keep, err = matchFeatures("--keep", r.method.keep, cols, leftOut)
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
			Score: stream.Number(res.Score[t]), Error: stream.Number(res.Error[t]),
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
	s.Warnings = append(s.Warnings, res.Warnings...)
}

// reportColumn says what used feature k held.
func reportColumn(e *evidence, used usedColumns, k int) stream.ColumnReport {
	j := used.index[k]
	missing := e.profile.Columns[j].Missing
	return stream.ColumnReport{
		Name: e.columns[j].Name, Mean: stream.Number(used.mean[k]), Std: stream.Number(used.std[k]),
		Nulls: missing.Nulls, NaNs: missing.NaNs, Infs: missing.Infs, Filled: used.filled[k],
		Explained: stream.Number(math.NaN()),
	}
}

// rank runs the baselines, which need the profile only.
func (r *request) rank(e *evidence, s *stream.Selection) error {
	std, err := gram.NewStandardizer(e.profile, e.columns, r.scale, r.fill())
	if err != nil {
		return place(err, e)
	}
	used := usedColumns{index: std.Columns, mean: std.Mean, std: std.Std, filled: std.Filled}
	scores := baseline.Variance(std)
	if e.wanted != nil {
		used, scores = used.keep(e.wanted, scores)
	}
	cols := used.columns(e)
	s.LeftOut = append(s.LeftOut, e.unlisted(std.LeftOut)...)
	s.Warnings = append(s.Warnings, std.Warnings...)
	s.Features = len(cols)
	s.K = r.method.k
	if s.K == 0 {
		s.K = min(defaultK, len(cols))
	}
	if err := atMost(s.K, len(cols), s.LeftOut); err != nil {
		return err
	}
	if r.chosen.name == "random" {
		scores = baseline.Random(cols, r.limits.seed)
	}
	order, warnings := baseline.Rank(scores, cols, s.K)
	s.Warnings = append(s.Warnings, warnings...)
	for t, j := range order {
		s.Selected = append(s.Selected, stream.Selected{
			Rank: t + 1, Name: cols[j].Name, Column: j,
			Score: stream.Number(scores[j]), Error: stream.Number(math.NaN()),
		})
	}
	for j, c := range cols {
		s.Scores = append(s.Scores, stream.Score{Name: c.Name, Score: stream.Number(scores[j])})
		s.Columns = append(s.Columns, reportColumn(e, used, j))
	}
	return nil
}
