package selecting

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// appraiseChoice compares the gains of the chosen features with the gains of noise, if the Gram matrix of their columns
// is still in memory and exact. It does not compare groups, because noise has no groups.
func appraiseChoice(t *Trial, order []int) {
	if t.run.SkipsTrust || t.run.ManySettings || t.Blocks != nil || len(order) == 0 || len(order) > subset.MaxAppraised(len(t.Columns)) {
		return
	}
	c := subset.Choice{Chosen: order, Keep: min(len(t.Keep), len(order)), Threads: t.Threads}
	switch {
	case t.run.Bound.From == method.FromGraph && t.ExplainGram != nil && t.Graph.Held == nil:
		c.Matrix, c.Rows = t.ExplainGram, t.Graph.Rows
	// Other methods may have used their Gram matrix up.
	case t.run.Bound.From == method.FromGram && (t.run.Bound.Takes.Reconstructs || t.run.Bound.Takes.Sample) && t.Gram != nil && t.Gram.Held == nil:
		c.Matrix, c.Rows, c.Mean, c.Weight = &t.Gram.Matrix, t.Gram.Rows, t.ColumnOffsets(), t.Gram.Weight
	default:
		return
	}
	t.Selection.Worth = subset.Appraise(c)
}

// cutAtMinGain keeps the picks up to the last one that adds at least the share {min-gain} to the explained variance of
// the centred columns. It is for methods that do not stop by themselves.
func cutAtMinGain(t *Trial, picks []pick) ([]pick, error) {
	c := subset.NewCurve(t.ExplainGram, len(pickedFeatures(picks)), t.Threads)
	least, most, keep, at := t.MinGain*c.Total, 0.0, 0, 0
	for i, p := range picks {
		gain := 0.0
		for _, j := range p.features {
			c.TakeColumn(j)
			gain += c.Gain(at)
			at++
		}
		if most = max(most, gain); gain >= least {
			keep = i + 1
		}
	}
	if keep = max(keep, len(t.Keep)); keep == 0 {
		return nil, stream.Usagef("{min-gain} %v: none of the first %s gains as much; the most is %.2g", t.MinGain, wording.Plural(len(picks), "feature"), most/c.Total)
	}
	return picks[:keep], nil
}

// recordGreedyError records the error of the greedy choice of as many features, if the selection is not this choice. It
// does so only if the plan has memory for the rules for the number of features, because it needs as much.
func recordGreedyError(ctx context.Context, t *Trial, order []int) error {
	isGreedy := t.run.Bound.Name == methods.Fallback && !t.candidates.IsConstrained && t.Blocks == nil
	if isGreedy || t.ExplainGram == nil || t.explainFeatures != nil || !t.bundle.Plan.HasSizeRules && !t.run.Choice.AutoK || len(order) == 0 || len(order) > subset.MaxFeatures(t.ExplainGram.D) {
		return nil
	}
	keep := t.Keep[:min(len(t.Keep), len(order))]
	if t.Blocks != nil { // t.Keep holds groups, but the greedy choice is of single features
		keep = nil
	}
	fresh, err := judge.ChooseGreedily(ctx, t.ExplainGram, len(order), keep, t.Threads)
	if err != nil {
		return err
	}
	least := stream.Number(fresh.Error[len(fresh.Error)-1])
	t.Selection.GreedyError = &least
	return nil
}
