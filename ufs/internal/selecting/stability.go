package selecting

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// HalfChoice is the method's choice from a half-sample, a random half of the rows.
type HalfChoice struct {
	Order    []int // columns of the bundle, best first
	Features int   // number of columns that can be features in the half-sample
	rose     bool  // the method's objective rose during the iteration, although it must fall
}

// SelectHalves selects by the method from half-samples: k features or, if a share is to be explained, as many as
// explain it. Each element of sets lists the hash shards of a half-sample. The features named by keep are chosen from
// the start, if they vary in the half-sample.
func SelectHalves(ctx context.Context, g *gathering.Gatherer, e *statistics.Bundle, sets [][]int, k int, keep []string, leftOut []stream.LeftOut) ([]HalfChoice, error) {
	out := make([]HalfChoice, len(sets))
	p := request.Progress{What: "selecting from half-samples", Pass: e.Passes, Passes: g.LeastPasses, Most: g.MostPasses, Rows: -1}
	err := request.TrackProgress(&g.Run.Request, p, func(func(request.Progress)) error {
		for i, set := range sets {
			err := ctx.Err()
			if err == nil {
				out[i], err = selectHalf(ctx, g, e, set, k, keep, leftOut)
			}
			if err != nil {
				return statistics.WithPlace(err, e)
			}
		}
		return nil
	})
	return out, err
}

func selectHalf(ctx context.Context, g *gathering.Gatherer, e *statistics.Bundle, shards []int, k int, kept []string, leftOut []stream.LeftOut) (HalfChoice, error) {
	moments, graph, err := e.ShardStats.SumShards(shards)
	if err != nil {
		return HalfChoice{}, e.Plan.ErrForLimit(err)
	}
	own := *e
	own.Moments, own.Graph, own.Profile, own.ShardStats = moments, graph, &moments.Profile, nil
	if g.Run.Bound.Takes.Sample {
		own.Sample = e.Sample.Where(func(row int64) bool {
			return slices.Contains(shards, halves.ShardOf(g.Run.Choice.Seed, row, len(e.ShardStats.Moments)))
		})
		if own.Survey, err = surveySample(ctx, g, &own, g.Run.Choice.Scale); err != nil {
			return HalfChoice{}, err
		}
	}
	t, err := NewUnboundTrial(g, &own, &stream.Selection{Options: make(map[string]any), LeftOut: slices.Clone(leftOut)})
	if err != nil {
		return HalfChoice{}, err
	}
	t.MinGain = 0 // a half chooses as many features as the whole
	// Unknown names are ignored: a column that is constant in the half-sample is not a feature of it.
	if err := t.setCandidates(leftOut, false); err != nil {
		return HalfChoice{}, err
	}
	if t.K = min(k, t.candidates.Choosable); g.Run.Choice.Variance > 0 {
		t.K = 0
	}
	t.Keep = nil
	for i, name := range t.candidates.Names() {
		if slices.Contains(kept, name) {
			t.Keep = append(t.Keep, i)
		}
	}
	t.candidates.Keep = t.Keep
	bound, err := methods.Bind(g.Run.Choice.Methods, g.Run.Bound.Name, g.Run.Choice.Options) // a bound method can be used only once
	if err != nil {
		return HalfChoice{}, err
	}
	r, err := t.rankByMethod(ctx, bound.Solver)
	if err != nil {
		return HalfChoice{}, err
	}
	h := HalfChoice{Features: len(t.Columns), rose: r.Rose != nil}
	n := countRankedCandidates(r)
	if t.K > 0 {
		n = min(n, t.K)
	}
	for _, j := range pickedFeatures(firstRankedPicks(t, r, n)) {
		h.Order = append(h.Order, t.Index[j])
	}
	return h, nil
}

// recordAgreement records in s the agreement of the selections from half-samples. index lists the bundle's
// columns that are the features of s, ascending.
func recordAgreement(ctx context.Context, g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection, index []int, keep []string) error {
	chosen, err := SelectHalves(ctx, g, e, halves.ChooseHalves(len(e.ShardStats.Moments), halves.MostSelected, g.Run.Choice.Seed), len(s.Selected), keep, s.LeftOut)
	if err != nil && ctx.Err() == nil {
		return stream.Errorf("stability, selecting from half of the rows: %w; leave out {stability}", err)
	}
	if err != nil {
		return err
	}
	sets, times, rose := make([][]int, len(chosen)), make([]int, len(index)), 0
	for i, h := range chosen {
		for _, column := range h.Order {
			if j, known := slices.BinarySearch(index, column); known { // it varies in a half, so in the whole
				sets[i] = append(sets[i], j)
				times[j]++
			}
		}
		if h.rose {
			rose++
		}
	}
	for j := range s.Columns {
		share := stream.Number(float64(times[j]) / float64(len(chosen)))
		s.Columns[j].Frequency = &share
	}
	a := judge.MeasureStability(sets, len(index))
	s.Stability = &stream.Agreement{
		Shards: len(e.ShardStats.Moments), Halves: len(chosen), Index: stream.Number(a.Nogueira), Low: stream.Number(a.Low), High: stream.Number(a.High),
	}
	if rose > 0 {
		s.Warnings = append(s.Warnings, stream.Textf("the objective rose in %d of %s: do not trust the stability", rose, wording.CountNoun(len(chosen), "half-sample")).Spell(g.Run.Hooks.Spelling))
	}
	return nil
}
