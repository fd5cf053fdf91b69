package selecting

import (
	"context"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

func recordAlignment(t *Trial, chance *stream.Chance) {
	if chance == nil || t.run.ManySettings || t.run.SkipsTrust || t.candidates.IsConstrained {
		return
	}
	if t.Selection.Trust == nil {
		t.Selection.Trust = new(stream.Trust)
	}
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
		suffix, these = ", by the first "+strconv.Itoa(found.K), "the first "+wording.Plural(found.K, "chosen feature")
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
		Measure: "share of the sum of squares explained" + suffix,
		Value:   stream.Number(found.Value), Chance: stream.Number(found.Random), Spread: stream.Number(found.Spread), Beats: &beaten, Permuted: &permuted,
		Trusted: (found.Better || found.Related) && !faint,
	}
	if t.Selection.Trust == nil {
		t.Selection.Trust = new(stream.Trust)
	}
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

// warnIfWorse warns if random features explain more of all columns than the choice of a method that does not aim at
// this share. names(i) is the name of column i of the matrix ExplainGram, and chosen contains indices of its columns.
func warnIfWorse(ctx context.Context, t *Trial, names func(int) string, chosen []int) error {
	if t.run.Bound.Takes.Reconstructs || t.run.ManySettings || t.run.SkipsTrust || t.bundle.Sketch != nil {
		return nil
	}
	c := subset.Choice{Matrix: t.ExplainGram, Rows: t.bundle.Profile.Rows, Chosen: chosen, Seed: t.Seed, Threads: t.Threads}
	for i := range t.ExplainGram.D {
		c.Keys = append(c.Keys, splitmix.HashName(names(i)))
	}
	found, err := subset.CompareRandom(ctx, c)
	if found == nil || err != nil || !found.Worse {
		return err
	}
	these := "the chosen features"
	if found.K < len(chosen) {
		these = "the first " + wording.Plural(found.K, "chosen feature")
	}
	t.warn("%s explain %s of the sum of squares of all, and as many random ones %s (%s to %s): method %s chooses by another criterion; if the features are to represent the table, choose {method} %s",
		these, wording.FormatPercent(found.Value), wording.FormatPercent(found.Random), wording.FormatPercent(found.Least), wording.FormatPercent(found.Best), t.run.Bound.Name, methods.Fallback)
	return nil
}
