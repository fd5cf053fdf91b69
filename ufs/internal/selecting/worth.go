package selecting

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/judging/subset"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// appraiseChoice compares the gain of each chosen feature (the explained share that it adds) with the gains of noise,
// if the Gram matrix of the columns is still in memory and exact. It compares no groups, because noise has none, and
// no choice that explains given columns, of which a chosen one does not explain itself.
func appraiseChoice(t *Trial, order []int) {
	if t.run.SkipsTrust || t.run.ManySettings || t.Blocks != nil || len(t.Explain) > 0 || len(order) == 0 || len(order) > subset.MaxAppraised(len(t.Columns)) {
		return
	}
	c := subset.Choice{Chosen: order, Keep: min(len(t.Keep), len(order)), Threads: t.Threads}
	switch {
	case t.run.Bound.From.UsesGraph() && t.ExplainGram != nil && t.Graph.Held == nil:
		c.Matrix, c.Rows = t.ExplainGram, t.Graph.Rows
	// Other methods may have used their Gram matrix up.
	case t.run.Bound.From.UsesGramOnly() && (t.run.Bound.Takes.Reconstructs || t.run.Bound.Takes.Sample) && t.Gram != nil && t.Gram.Held == nil:
		c.Matrix, c.Rows, c.Mean, c.Weight = &t.Gram.Matrix, t.Gram.Rows, t.ColumnOffsets(), t.Gram.Weight
	default:
		return
	}
	t.Selection.Worth = subset.Appraise(c)
}

// cutAtMinGain keeps the picks up to the last one that adds at least the share of option {min-gain} to the explained
// variance of the centred columns. It is for methods that do not stop by themselves.
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
		return nil, stream.Usagef("{min-gain} %v: none of the first %s gains as much; the most is %.2g", t.MinGain, wording.CountNoun(len(picks), "feature"), most/c.Total)
	}
	return picks[:keep], nil
}

// recordGreedyError records the error of the greedy choice of as many features, if the selection is not this choice. It
// does so only if the plan has memory for the rules for the number of features, because it needs as much.
func recordGreedyError(ctx context.Context, t *Trial, order []int) error {
	isGreedy := t.run.Bound.Name == methods.Fallback && !t.candidates.IsConstrained && t.Blocks == nil
	if isGreedy || len(t.Explain) > 0 || t.ExplainGram == nil || t.explainFeatures != nil || !t.bundle.Plan.HasSizeRules && !t.run.Choice.AutoK || len(order) == 0 || len(order) > subset.MaxFeatures(t.ExplainGram.D) {
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

// recordGroupCount records the number of groups that option {k} auto chooses. For ufs.Path it derives this number from
// the shares that the groups of the path explain.
func (t *Trial) recordGroupCount() {
	size, selected := t.Selection.Size, t.Selection.Selected
	if size == nil || t.Blocks == nil {
		return
	}
	switch most := t.maxAutoCandidates(size); {
	case t.run.Choice.AutoK:
		size.Groups = len(selected)
	case !t.run.ReportsSizes:
	case !t.stopsAtShare():
		size.Groups = most
	default:
		enough := func(f stream.Selected) bool {
			return f.Rank >= len(t.Keep) && (f.Rank == most || 1-f.Error >= size.Explained)
		}
		size.Groups = slices.IndexFunc(selected, enough) + 1 // 0 if the path ends earlier
	}
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

func recordClusterAlignment(t *Trial, chance *stream.Chance) {
	if chance == nil || t.run.ManySettings || t.run.SkipsTrust || t.candidates.IsConstrained {
		return
	}
	t.Selection.Trust = cmp.Or(t.Selection.Trust, new(stream.Trust))
	if t.Selection.Trust.Choice = chance; !chance.Trusted {
		t.warn("the chosen features reach an alignment of %.2f with the clusters, and random ones %.2f (better than %s of them): the choice is no better than chance; do not rely on it, or choose {method} %s",
			float64(chance.Value), float64(chance.Chance), wording.FormatPercent(float64(*chance.Beats)), methods.Fallback)
	}
}

func recordChoiceTrust(ctx context.Context, t *Trial, order []int) error {
	// A choice that is constrained by groups, costs or forbidden features cannot be compared with random features.
	if !settled.ComparesWithChance(t.run) || t.candidates.IsConstrained || t.Gram == nil || t.Gram.Held != nil {
		return nil
	}
	c := subset.Choice{
		Matrix: &t.Gram.Matrix, Rows: t.Gram.Rows, Chosen: order, Keep: len(t.Keep),
		Mean: t.ColumnOffsets(), Weight: t.Gram.Weight, Seed: t.Seed, Threads: t.Threads,
	}
	for _, column := range t.Columns {
		c.Keys = append(c.Keys, splitmix.HashName(column.Name))
	}
	found, err := subset.Compare(ctx, c)
	if found == nil || err != nil {
		return err
	}
	suffix, these, verb := "", "the chosen features", "explain"
	if found.K < len(order) {
		suffix, these = ", by the first "+strconv.Itoa(found.K), "the first "+wording.CountNoun(found.K, "chosen feature")
	}
	if found.K == 1 {
		these, verb = "the first chosen feature", "explains"
	}
	permuted, beaten := stream.Number(found.Permuted), stream.Number(found.Beaten)
	// Even in noise, greedy's choice is better than random choices. For related columns a choice may explain no
	// more than most random choices. A choice is meaningless only if it is not better than random choices and its
	// columns are not related.
	faint := t.Selection.Worth != nil && t.Selection.Worth.Faint == len(order)
	chance := &stream.Chance{
		Measure: "share of the variance explained" + suffix,
		Value:   stream.Number(found.Value), Chance: stream.Number(found.Random), Spread: stream.Number(found.Spread), Beats: &beaten, Permuted: &permuted,
		Trusted: (found.Better || found.Related) && !faint,
	}
	t.Selection.Trust = cmp.Or(t.Selection.Trust, new(stream.Trust))
	t.Selection.Trust.Choice = chance
	if chance.Trusted {
		return nil
	}
	advice := stream.Text{}
	if t.run.Bound.Name != methods.Fallback {
		advice = stream.Textf(", or choose {method} %s", methods.Fallback)
	}
	if faint && (found.Better || found.Related) {
		t.warn("none of the chosen features adds more than noise does: the choice is no better than chance; do not rely on it%v", advice)
		return nil
	}
	t.warn("%s %s %s where random ones explain %s, and the same method reaches %s on columns that have nothing to do with each other: the choice is no better than chance; do not rely on it%v",
		these, verb, wording.FormatPercent(found.Value), wording.FormatPercent(found.Random), wording.FormatPercent(found.Permuted), advice)
	return nil
}
