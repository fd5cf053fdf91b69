package ufs

import (
	"context"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// comparesWithChance reports whether the run compares its choice with chance. It does so for methods on a Gram matrix
// that aim at explaining a large share of the data. For a choice with another aim, such as the embedding of the rows,
// this share means nothing.
func (r *run) comparesWithChance() bool {
	return r.From == method.FromGram && r.Takes.Reconstructs && !r.manySettings && !r.skipsTrust
}

func recordAlignment(t *trial, chance *stream.Chance) {
	if chance == nil || t.manySettings || t.skipsTrust || t.candidates.isConstrained {
		return
	}
	if t.selection.Trust == nil {
		t.selection.Trust = new(stream.Trust)
	}
	if t.selection.Trust.Choice = chance; !chance.Trusted {
		t.warn("the chosen features reach an alignment of %.2f with the clusters, and random ones %.2f (better than %s of them): the choice is no better than chance; do not rely on it, or choose {method} %s",
			float64(chance.Value), float64(chance.Chance), formatPercent(float64(*chance.Beats)), methods.Fallback)
	}
}

func (t *trial) recordChoiceTrust(ctx context.Context, order []int) error {
	// A choice that is constrained by groups, costs or forbidden features cannot be compared with random features.
	if !t.comparesWithChance() || t.candidates.isConstrained || t.Gram == nil || t.Gram.Held != nil {
		return nil
	}
	c := subset.Choice{
		Matrix: &t.Gram.Matrix, Rows: t.Gram.Rows, Chosen: order, Keep: len(t.Keep),
		Mean: t.columnOffsets(), Weight: t.Gram.Weight, Seed: t.Seed, Threads: t.Threads,
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
		suffix, these = ", by the first "+strconv.Itoa(found.K), "the first "+plural(found.K, "chosen feature")
	}
	if found.K == 1 {
		these, verb = "the first chosen feature", "explains"
	}
	permuted, beaten := stream.Number(found.Permuted), stream.Number(found.Beaten)
	// Even in noise, greedy's choice is better than random choices. For related columns a choice may explain no
	// more than most random choices. A choice is meaningless only if it is not better than random choices and its
	// columns are not related.
	faint := t.selection.Worth != nil && t.selection.Worth.Faint == len(order)
	chance := &stream.Chance{
		Measure: "share of the sum of squares explained" + suffix,
		Value:   stream.Number(found.Value), Chance: stream.Number(found.Random), Spread: stream.Number(found.Spread), Beats: &beaten, Permuted: &permuted,
		Trusted: (found.Better || found.Related) && !faint,
	}
	if t.selection.Trust == nil {
		t.selection.Trust = new(stream.Trust)
	}
	t.selection.Trust.Choice = chance
	if chance.Trusted {
		return nil
	}
	advice := stream.Text{}
	if t.Name != methods.Fallback {
		advice = stream.Textf(", or choose {method} %s", methods.Fallback)
	}
	if faint && (found.Better || found.Related) {
		t.warn("none of the chosen features adds more than noise does: the choice is no better than chance; do not rely on it%v", advice)
		return nil
	}
	t.warn("%s %s %s where random ones explain %s, and the same method reaches %s on columns that have nothing to do with each other: the choice is no better than chance; do not rely on it%v",
		these, verb, formatPercent(found.Value), formatPercent(found.Random), formatPercent(found.Permuted), advice)
	return nil
}

// warnIfWorse warns if random features explain more of all columns than the choice of a method that does not aim at
// this share. names(i) is the name of column i of the matrix explainGram, and chosen contains indices of its columns.
func (t *trial) warnIfWorse(ctx context.Context, names func(int) string, chosen []int) error {
	if t.Takes.Reconstructs || t.manySettings || t.skipsTrust || t.bundle.sketch != nil {
		return nil
	}
	c := subset.Choice{Matrix: t.explainGram, Rows: t.bundle.profile.Rows, Chosen: chosen, Seed: t.Seed, Threads: t.Threads}
	for i := range t.explainGram.D {
		c.Keys = append(c.Keys, splitmix.HashName(names(i)))
	}
	found, err := subset.CompareRandom(ctx, c)
	if found == nil || err != nil || !found.Worse {
		return err
	}
	these := "the chosen features"
	if found.K < len(chosen) {
		these = "the first " + plural(found.K, "chosen feature")
	}
	t.warn("%s explain %s of the sum of squares of all, and as many random ones %s (%s to %s): method %s chooses by another criterion; if the features are to represent the table, choose {method} %s",
		these, formatPercent(found.Value), formatPercent(found.Random), formatPercent(found.Least), formatPercent(found.Best), t.Name, methods.Fallback)
	return nil
}

// formatPercent returns a share in percent, with one decimal, for messages.
func formatPercent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }
