package ufs

import (
	"context"
	"strings"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Paths is the result of Path. Either Curve or Grid is set.
type Paths struct {
	Curve *stream.Curve // the error for each number of features k
	Grid  *stream.Grid  // the selection for each setting of the method
}

// Path solves many settings after gathering statistics once. For a method whose options have several values, it solves
// every combination of these values. For a method whose selections are nested, it returns the error for each k. Its
// errors are the errors of Select; a *stream.UnconvergedError comes with Paths.
func Path(ctx context.Context, q Request) (*Paths, error) {
	r, err := q.newSelectionRun(ctx)
	if err != nil {
		return nil, err
	}
	varied, ok := r.Solver.(method.Varied)
	switch {
	case q.Stability != 0:
		return nil, stream.Usagef("{stability} measures one selection; path shows many, so leave it out")
	case ok && q.MinGain > 0:
		return nil, stream.Usagef("path: {min-gain} is for one selection, and method %s shows a grid of them; use {k}", r.Name)
	case ok:
		return r.solveGrid(ctx, varied)
	case r.Takes.Nested:
		if one, ok := r.Solver.(method.Unnested); ok && one.Unnested().Format != "" {
			return nil, stream.Usagef("path: method %s %s", r.Name, one.Unnested())
		}
		return r.selectCurve(ctx)
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

// HasCurve reports whether Path returns a curve over k for the request, not a grid. The result is false for a request
// that Path refuses.
func HasCurve(ctx context.Context, q Request) bool {
	r, err := q.newSelectionRun(ctx)
	if err != nil {
		return false
	}
	_, varied := r.Solver.(method.Varied)
	return !varied && r.Takes.Nested
}

func (r *run) selectCurve(ctx context.Context) (*Paths, error) {
	r.reportsSizes = true
	if r.fallback != nil {
		r.fallback.reportsSizes = true
	}
	s, err := r.selectFeatures(ctx)
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
	return &Paths{Curve: c}, err
}
