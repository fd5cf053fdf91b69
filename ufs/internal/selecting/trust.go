package selecting

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/judging/subset"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// warnIfWorse warns if random features explain more of all columns than the choice of a method that does not aim at
// this share. names(i) is the name of column i of the matrix t.ExplainGram, and chosen lists the chosen columns.
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
		these = "the first " + wording.CountNoun(found.K, "chosen feature")
	}
	t.warn("%s explain %s of the sum of squares of all, and as many random ones %s (%s to %s): method %s chooses by another criterion; if the features are to represent the table, choose {method} %s",
		these, wording.FormatPercent(found.Value), wording.FormatPercent(found.Random), wording.FormatPercent(found.Least), wording.FormatPercent(found.Best), t.run.Bound.Name, methods.Fallback)
	return nil
}
