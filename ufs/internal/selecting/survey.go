package selecting

import (
	"context"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// DecideBySurvey surveys the sample of rows, if the method uses one. The survey determines the scale, if the request
// leaves it open, and the method. If the sample has no more clusters than the covariances explain, the fallback selects
// from the same statistics, because their moments allow any scale.
func DecideBySurvey(ctx context.Context, g *gathering.Gatherer, e *statistics.Bundle) (err error) {
	if !g.Run.Bound.Takes.Sample {
		return nil
	}
	g.Run.Notef("looking at a sample of the rows")
	scale := g.Run.Choice.Scale
	if settled.IsScaleOpen(g.Run) {
		scale = ""
	}
	if e.Survey, err = surveySample(ctx, g, e, scale); err != nil {
		return statistics.WithPlace(err, e)
	}
	if settled.IsScaleOpen(g.Run) {
		g.Run.ParsedScale, g.Run.Choice.Scale = e.Survey.Scale, e.Survey.Scale.String()
	}
	if len(g.Later) == 0 {
		return nil
	}
	g.Run.MethodReason = stream.Textf("the recommended one; %v", e.Survey.Why)
	if !e.Survey.Greedy {
		return nil
	}
	from := g.Run
	g.Run, g.Later = g.Later[0], g.Later[1:]
	g.Run.Choice.Stability, g.Run.Stats, g.Run.Choice.Seed = from.Choice.Stability, from.Stats, from.Choice.Seed
	g.Run.MethodReason = e.Survey.WhyGreedy
	if g.Run.Stats == "" {
		return nil
	}
	return gathering.CheckRecordedOptions(g.Run, e)
}

// surveySample surveys the sample of rows in e under the given scale. If scale is "", the survey chooses the scale that
// fits the columns.
func surveySample(ctx context.Context, g *gathering.Gatherer, e *statistics.Bundle, scale string) (*survey.Survey, error) {
	std, err := gram.NewStandardizer(e.Profile, e.Columns, gram.ScaleStandard, request.MissingFill(&g.Run.Request))
	if err != nil {
		return nil, err
	}
	if e.TakesPart != nil {
		std.Keep(e.TakesPart)
	}
	drawn := anchor.Drawn(e.Sample)
	if e.Sample == nil {
		drawn = anchor.DrawnOf(e.Factor, settled.SurveyRows(g.Run, len(e.Columns)), g.Run.Choice.Seed)
	}
	sampled := anchor.TableOf(drawn, settled.SurveyedRows(g.Run, drawn), std.Columns, g.Run.Limits.Threads)
	t := &survey.Table{Rows: sampled.Rows, Cols: sampled.Cols, Values: sampled.Values, Thin: sampled.CSR}
	if t.Thin != nil && !survey.StaysThin(t.Rows, t.Cols) {
		t.MakeDense()
	}
	for k, j := range std.Columns {
		c := &e.Profile.Columns[j]
		t.Columns = append(t.Columns, survey.Column{Mean: std.Mean[k], Std: std.Std[k], Min: c.Min, Max: c.Max, Category: e.Columns[j].Type == stream.CategoryType})
		for i := k; i < len(t.Values); i += t.Cols {
			if t.Values[i] != t.Values[i] {
				t.Values[i] = std.Fill[k]
			}
		}
	}
	if t.Thin != nil {
		for e, k := range t.Thin.Index {
			if v := t.Thin.Value[e]; v != v {
				t.Thin.Value[e] = std.Fill[k]
			}
		}
	}
	options := g.Run.Bound.Solver.(method.Surveyor).SurveyOptions()
	s, err := survey.ExamineTable(ctx, t, survey.Options{
		Scale: scale, Diffusion: options.Diffusion, Neighbors: options.Neighbors, Anchors: t.Rows,
		Seed: g.Run.Choice.Seed, Threads: g.Run.Limits.Threads, Limit: e.Plan.Solver,
	})
	if err != nil {
		return nil, err
	}
	if e.Moments == nil && e.Factor == nil {
		e.ThinColumns = s.ThinColumnsOf(t)
	}
	// The shares are indexed by gathered column, because a half-sample may lack columns that are constant in it.
	shares := make([]float64, len(e.Columns))
	for k, j := range std.Columns {
		shares[j] = s.Shares[k]
	}
	s.Shares = shares
	return s, nil
}
