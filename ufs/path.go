package ufs

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Paths is what Path returns: one of the two.
type Paths struct {
	Curve *stream.Curve // of the error over k
	Grid  *stream.Grid  // of settings
}

// Path shows many settings from one gathering: a method whose options take several values
// solves every setting of their grid; one whose selections are nested gives the error over
// k. The errors are those of Select; Paths are there with a *stream.UnconvergedError as well.
func Path(ctx context.Context, q Request) (*Paths, error) {
	r, err := q.settleSelection(ctx)
	if err != nil {
		return nil, err
	}
	varied, ok := r.Solver.(method.Varied)
	switch {
	case q.Stability != 0:
		return nil, stream.Usagef("{stability} is of one selection; path shows many, so leave it out")
	case ok && q.MinGain > 0:
		return nil, stream.Usagef("path: {min-gain} is for one selection, and method %s shows a grid of them; use {k}", r.Name)
	case ok:
		return r.grid(ctx, varied)
	case r.Takes.Nested:
		if one, ok := r.Solver.(method.Unnested); ok && one.Unnested().Format != "" {
			return nil, stream.Usagef("path: method %s %s", r.Name, one.Unnested())
		}
		return r.curve(ctx)
	case r.PathAdvice.Format != "":
		return nil, stream.Usagef("path: method %s %s", r.Name, r.PathAdvice)
	}
	var able []method.Spec
	for _, spec := range r.Methods {
		if _, varied := spec.New().(method.Varied); varied || spec.Takes.Nested {
			able = append(able, spec)
		}
	}
	list := strings.Join(methods.Names(able), ", ")
	if i := strings.LastIndex(list, ", "); i >= 0 {
		list = list[:i] + " and" + list[i+1:]
	}
	return nil, stream.Usagef("path: method %s has no curve over k and no weights to vary; %s have", r.Name, list)
}

// Curved says whether the path of a request is a curve over k rather than a grid.
func Curved(ctx context.Context, q Request) bool {
	r, err := q.settleSelection(ctx)
	if err != nil {
		return false
	}
	_, varied := r.Solver.(method.Varied)
	return !varied && r.Takes.Nested
}

func (r *run) curve(ctx context.Context) (*Paths, error) {
	r.sizes = true
	if r.plain != nil {
		r.plain.sizes = true
	}
	s, err := r.selectFeatures(ctx)
	if s == nil {
		return nil, err
	}
	c := &stream.Curve{
		Method: s.Method, Seed: s.Seed, Version: s.Version, Rows: s.Rows, RowsUsed: s.RowsUsed, Features: s.Features, Options: s.Options, Inputs: s.Inputs,
		Passes: s.Passes, Warnings: s.Warnings, Timing: s.Timing, Memory: s.Memory, Size: s.Size, Transfer: s.Transfer, Points: []stream.CurvePoint{},
	}
	for _, f := range s.Selected {
		c.Points = append(c.Points, stream.CurvePoint{K: f.Rank, Name: f.Name, Score: f.Score, Error: f.Error, Explained: 1 - f.Error, Least: f.Least, Layer: f.Layer})
	}
	return &Paths{Curve: c}, err
}

// grid solves every setting.
func (r *run) grid(ctx context.Context, varied method.Varied) (*Paths, error) {
	r.many = true
	out := new(stream.Grid)
	s, err := r.choose(ctx, func(g *gatherer, e *gathered, s *stream.Selection) error {
		t, err := g.evidence(e, s)
		if err != nil {
			return placed(err, e)
		}
		if err := t.sizeUp(ctx); err != nil {
			return errors.Join(err, t.close(s))
		}
		var found *method.Grid
		err = t.solve(ctx, varied.Settings(), func(ctx context.Context) (err error) {
			found, err = varied.Path(ctx, t.Evidence)
			if err == nil {
				for i := range found.Settings {
					found.Settings[i].Ranking = t.ranked(found.Settings[i].Ranking)
				}
			}
			return err
		})
		if err == nil {
			s.K = t.K
			e.passes += found.Passes
			err = t.writeUpGrid(found, out)
		}
		return errors.Join(err, t.close(s))
	})
	if s == nil {
		return nil, err
	}
	out.Method, out.Seed, out.Version, out.Rows, out.RowsUsed, out.Features, out.K = s.Method, s.Seed, s.Version, s.Rows, s.RowsUsed, s.Features, s.K
	out.Options, out.Inputs, out.Passes, out.Warnings, out.Timing, out.Memory, out.Transfer = s.Options, s.Inputs, s.Passes, s.Warnings, s.Timing, s.Memory, s.Transfer
	return &Paths{Grid: out}, err
}

// writeUpGrid puts the settings into out. The error is a *stream.UnconvergedError for the
// first setting whose iteration did not end as it must.
func (t *trial) writeUpGrid(found *method.Grid, out *stream.Grid) error {
	s := t.s
	for option, value := range found.Used {
		s.Options[option] = value
	}
	out.Recommended, out.Why = found.Recommended, found.Why
	s.Warnings = append(s.Warnings, spelled(found.Warnings, t.Spelling)...)
	if len(found.Settings) > 0 {
		t.sayEstimated(featuresOf(t.picks(found.Settings[max(found.Recommended, 0)].Ranking, t.K)), false)
	}
	var first error
	short := 0
	for _, set := range found.Settings {
		r := set.Ranking
		if err := t.fits(r); err != nil {
			return err
		}
		one := stream.GridSetting{
			Alpha: stream.Number(set.Alpha), Gamma: stream.Number(set.Gamma),
			Objective:  stream.Number(math.NaN()),
			Iterations: len(r.Trace), Converged: !r.Unsettled && r.Rose == nil,
			Agreement: stream.Number(set.Agreement), Warnings: spelled(r.Warnings, t.Spelling),
		}
		if n := len(r.Trace); n > 0 {
			one.Objective = r.Trace[n-1].Objective
		}
		if beta := stream.Number(set.Beta); !math.IsNaN(set.Beta) {
			one.Beta = &beta
		}
		if set.Flags.Format != "" {
			one.Flags = set.Flags.Spell(t.Spelling)
		}
		for _, p := range t.picks(r, t.K) {
			one.Selected = append(one.Selected, t.candidates.names[p.candidate])
		}
		out.Settings = append(out.Settings, one)
		if !one.Converged {
			short++
		}
		at := set.Name.Spell(t.Spelling)
		switch {
		case r.Rose != nil:
			t.warn("the objective rose at %s, which it must not: do not trust that setting", at)
			first = &stream.UnconvergedError{What: "the objective rose at " + at}
		case t.RequireConverged && r.Unsettled && first == nil:
			first = &stream.UnconvergedError{What: "not converged at " + at}
		}
	}
	if short > 0 {
		t.warn("%d of %s did not converge; raise {max-iter}", short, plural(len(out.Settings), "setting"))
	}
	return first
}
