package selecting

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// useSketch estimates the Gram matrix from the sketch, and puts it into the evidence for the method. The evidence
// includes the rows if the method may read them again.
func useSketch(t *Trial) error {
	m, err := t.bundle.Sketch.Finish(t.bundle.Profile, t.bundle.Columns, gram.FinishOptions{Scale: t.run.ParsedScale, Fill: t.Fill})
	if err != nil {
		return err
	}
	if t.Std, err = gram.NewStandardizer(t.bundle.Profile, t.bundle.Columns, t.run.ParsedScale, t.Fill); err != nil {
		return err
	}
	if t.bundle.TakesPart != nil {
		m.Keep(t.bundle.TakesPart)
		t.Std.Keep(t.bundle.TakesPart)
	}
	t.Gram, t.Reads = m, t.run.Choice.Reads
	if t.Reads > 1 {
		t.Source, t.Memory = t.bundle.Source, t.bundle.Plan.Solver
	}
	t.setFeatures(m.Columns, m.Mean, m.Std, m.Filled, m.LeftOut, m.Warnings)
	return nil
}

// describeEstimate warns which parts of the choice of a graph method rest on a sketch. It returns a description of the
// estimate, or nil if everything is exact. explained means that the errors of the selection rest on the estimate too.
func describeEstimate(t *Trial, chosen []int, explained bool) *stream.Estimate {
	if t.Graph == nil || t.Graph.Held == nil {
		return nil
	}
	off, nan := stream.Number(t.Graph.Deviation(t.Threads, chosen)), stream.Number(math.NaN())
	e := &stream.Estimate{
		SketchRows: t.run.SketchRows - t.Graph.Held.Rank, HeldRows: t.Graph.Held.Rank, Deviation: nan, Outside: nan, CosineDeviation: &off,
	}
	basis, deviation, left := "the choice rests on it", "", ""
	if t.run.Bound.Takes.Diagonal {
		basis = "the scores and the choice are exact"
	}
	if !math.IsNaN(float64(off)) {
		deviation = " (those of the chosen ones by " + wording.FormatPercent(float64(off)) + ")"
	}
	if explained {
		for _, v := range t.Graph.HeldErrors(t.Threads, chosen) {
			e.HeldError = append(e.HeldError, stream.Number(v))
		}
		if n := len(e.HeldError); n > 0 {
			left = "; on rows kept out of it " + wording.FormatPercent(float64(e.HeldError[n-1])) + " of the sum of squares is left, not " + wording.FormatPercent(float64(t.Selection.Selected[n-1].Error))
		}
	}
	t.warn("the scores from the graph and the variances are exact; other correlations of the features are estimated by a sketch of %d rows, which puts their cosines off%s: %s%s", e.SketchRows, deviation, basis, left)
	return e
}
