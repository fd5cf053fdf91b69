package ufs

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/halves"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// AnyShards is the value of Request.Stability for the default number of hash shards or, with Stats, for the number of
// shards in the file.
const AnyShards = -1

// optionStability is the option in which a statistics file records the number of its hash shards.
const optionStability = "stability"

func (r *run) settleStability() error {
	switch {
	case r.Stability == 0:
		return nil
	case r.From != method.FromGram && r.From != method.FromGraph:
		return stream.Usagef("{stability} is not for method %s, whose statistics are no sums that halves of the rows can be made of; leave it out, or let eval select again from other rows ({resamples})", r.Name)
	case r.Stability == AnyShards && r.Stats == "":
		r.Stability = halves.DefaultShards
	}
	if r.Stability == AnyShards {
		return nil
	}
	return halves.CheckShards(r.Stability)
}

// hashSeed returns the seed of the hash shards, or 0 if there are none.
func (r *run) hashSeed() uint64 {
	if r.Stability == 0 {
		return 0
	}
	return r.Seed
}

// halfChoice is the method's choice from a half-sample.
type halfChoice struct {
	order    []int // columns of the bundle, best first
	features int   // number of columns that can be features in the half-sample
	rose     bool  // the objective rose, although it must fall
}

// selectHalves selects by the method from half-samples: k features or, if a share is to be explained, as many as
// explain it. Each element of sets lists the hash shards of a half-sample. The features named by keep are chosen from
// the start, if they vary in the half-sample.
func (g *gatherer) selectHalves(ctx context.Context, e *bundle, sets [][]int, k int, keep []string, leftOut []stream.LeftOut) ([]halfChoice, error) {
	out := make([]halfChoice, len(sets))
	p := Progress{What: "selecting from half-samples", Pass: e.passes, Passes: g.leastPasses, Most: g.mostPasses, Rows: -1}
	err := g.trackProgress(p, func(func(Progress)) error {
		for i, set := range sets {
			err := ctx.Err()
			if err == nil {
				out[i], err = g.selectHalf(ctx, e, set, k, keep, leftOut)
			}
			if err != nil {
				return withPlace(err, e)
			}
		}
		return nil
	})
	return out, err
}

func (g *gatherer) selectHalf(ctx context.Context, e *bundle, set []int, k int, keep []string, leftOut []stream.LeftOut) (halfChoice, error) {
	moments, graph, err := e.shardStats.sumShards(set)
	if err != nil {
		return halfChoice{}, e.plan.errForLimit(err)
	}
	own := *e
	own.moments, own.graph, own.profile, own.shardStats = moments, graph, &moments.Profile, nil
	if g.Takes.Sample {
		own.sample = e.sample.Where(func(row int64) bool {
			return slices.Contains(set, halves.ShardOf(g.Seed, row, len(e.shardStats.moments)))
		})
		if own.survey, err = surveySample(ctx, g, &own, g.Scale); err != nil {
			return halfChoice{}, err
		}
	}
	t, err := g.newUnboundTrial(&own, &stream.Selection{Options: make(map[string]any), LeftOut: slices.Clone(leftOut)})
	if err != nil {
		return halfChoice{}, err
	}
	t.MinGain = 0 // a half chooses as many features as the whole
	// Unknown names are ignored: a column that is constant in the half-sample is not a feature of it.
	if err := t.setCandidates(leftOut, false); err != nil {
		return halfChoice{}, err
	}
	if t.K = min(k, t.candidates.choosable); g.Variance > 0 {
		t.K = 0
	}
	t.Keep = nil
	for i, name := range t.candidates.names() {
		if slices.Contains(keep, name) {
			t.Keep = append(t.Keep, i)
		}
	}
	t.candidates.keep = t.Keep
	bound, err := methods.Bind(g.Methods, g.Name, g.Request.Options) // a bound method can be used only once
	if err != nil {
		return halfChoice{}, err
	}
	r, err := t.rankByMethod(ctx, bound.Solver)
	if err != nil {
		return halfChoice{}, err
	}
	h := halfChoice{features: len(t.Columns), rose: r.Rose != nil}
	n := countCandidates(r)
	if t.K > 0 {
		n = min(n, t.K)
	}
	for _, j := range pickedFeatures(t.firstPicks(r, n)) {
		h.order = append(h.order, t.index[j])
	}
	return h, nil
}

// recordAgreement records in s the agreement of the selections from half-samples. index lists the bundle's
// columns that are the features of s, ascending.
func (g *gatherer) recordAgreement(ctx context.Context, e *bundle, s *stream.Selection, index []int, keep []string) error {
	chosen, err := g.selectHalves(ctx, e, halves.ChooseHalves(len(e.shardStats.moments), halves.MostSelected, g.Seed), len(s.Selected), keep, s.LeftOut)
	if err != nil && ctx.Err() == nil {
		return stream.Errorf("stability, selecting from half of the rows: %w; leave out {stability}", err)
	}
	if err != nil {
		return err
	}
	sets, times, rose := make([][]int, len(chosen)), make([]int, len(index)), 0
	for i, h := range chosen {
		for _, column := range h.order {
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
		Shards: len(e.shardStats.moments), Halves: len(chosen), Index: stream.Number(a.Nogueira), Low: stream.Number(a.Low), High: stream.Number(a.High),
	}
	if rose > 0 {
		s.Warnings = append(s.Warnings, stream.Textf("the objective rose in %d of %s: do not trust the stability", rose, plural(len(chosen), "half-sample")).Spell(g.Spelling))
	}
	return nil
}
