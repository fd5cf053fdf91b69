package selecting

import (
	"context"
	"strings"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// SolvePath implements ufs.Path: it selects features for many settings of the method after gathering statistics once.
func SolvePath(ctx context.Context, q request.Request) (*result.Paths, error) {
	attempts, err := settled.NewAttempts(ctx, q)
	if err != nil {
		return nil, err
	}
	r := attempts[0]
	varied, ok := r.Bound.Solver.(method.Varied)
	switch {
	case q.Choice.Stability != 0:
		return nil, stream.Usagef("{stability} measures one selection; path shows many, so leave it out")
	case ok && q.Choice.MinGain > 0:
		return nil, stream.Usagef("path: {min-gain} is for one selection, and method %s shows a grid of them; use {k}", r.Bound.Name)
	case ok:
		return solveGrid(ctx, attempts, varied)
	case r.Bound.Takes.Nested:
		if one, ok := r.Bound.Solver.(method.Unnested); ok && one.Unnested().Format != "" {
			return nil, stream.Usagef("path: method %s %s", r.Bound.Name, one.Unnested())
		}
		return selectCurve(ctx, attempts)
	case r.Bound.PathAdvice.Format != "":
		return nil, stream.Usagef("path: method %s %s", r.Bound.Name, r.Bound.PathAdvice)
	}
	var able []method.Spec
	for _, spec := range r.Choice.Methods {
		if _, varied := spec.New().(method.Varied); varied || spec.Takes.Nested {
			able = append(able, spec)
		}
	}
	list := strings.Join(methods.Names(able), ", ")
	if i := strings.LastIndex(list, ", "); i >= 0 {
		list = list[:i] + " and" + list[i+1:]
	}
	return nil, stream.Usagef("path: method %s has no curve over k and no weights to vary; %s have", r.Bound.Name, list)
}

// HasCurve implements ufs.HasCurve: it reports whether Path returns a curve over k for the request, not a grid.
func HasCurve(ctx context.Context, q request.Request) bool {
	q.Input.Stdin = nil // the run reads standard input, and nothing before it
	attempts, err := settled.NewAttempts(ctx, q)
	if err != nil {
		return false
	}
	_, varied := attempts[0].Bound.Solver.(method.Varied)
	return !varied && attempts[0].Bound.Takes.Nested
}

func selectCurve(ctx context.Context, attempts settled.Attempts) (*result.Paths, error) {
	for _, r := range attempts {
		r.ReportsSizes = true
	}
	s, err := SelectFeatures(ctx, attempts)
	if s == nil {
		return nil, err
	}
	c := &stream.Curve{
		Method: s.Method, Seed: s.Seed, Version: s.Version, Rows: s.Rows, RowsUsed: s.RowsUsed, Features: s.Features, Options: s.Options, Inputs: s.Inputs,
		Passes: s.Passes, Warnings: s.Warnings, Timing: s.Timing, Memory: s.Memory, Size: s.Size, Transfer: s.Transfer, Points: []stream.CurvePoint{},
	}
	total := stream.Number(0)
	for _, f := range s.Selected {
		point := stream.CurvePoint{
			K: f.Rank, Name: f.Name, Members: f.Members, Cost: f.Cost,
			Score: f.Score, Error: f.Error, Explained: 1 - f.Error, Least: f.Least, Layer: f.Layer,
		}
		if f.Cost != nil {
			total += *f.Cost
			together := total
			point.Total = &together
		}
		c.Points = append(c.Points, point)
	}
	return &result.Paths{Curve: c}, err
}
