package align

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// randomChoices is the number of random choices of features with which the method's choice is compared.
	randomChoices = 100
	// leastBeaten: a choice of features is trusted if its alignment exceeds the alignments of this share of random
	// choices.
	leastBeaten = 0.95
	// mostCompared is the largest number of chosen features for which alignments are compared with chance. It is limited
	// because each pair of chosen features costs one entry of G.
	mostCompared = 50
)

// compareWithChance compares the alignment of the choice with the alignments of random choices. These have the same
// number of features, and include the features that had to be kept. Without a choice or a Gram matrix it returns nil.
func compareWithChance(e *method.Evidence, p Problem, order []int) *stream.Chance {
	if e.Gram == nil {
		return nil
	}
	entry := func(i, j int) float64 { return e.Gram.At(i, j) / e.Gram.Weight }
	var open []int
	for j := range p.A {
		if !slices.Contains(e.Forbid, j) && !slices.Contains(e.Keep, j) {
			open = append(open, j)
		}
	}
	order = order[:min(len(order), mostCompared)]
	free := len(order) - len(e.Keep)
	if free < 1 || free >= len(open) || p.Norm == 0 {
		return nil
	}
	actual := choiceAlignment(p, order, entry)
	keys := make([]uint64, len(p.A))
	for j, c := range e.Columns { // keys do not depend on the order of the columns
		keys[j] = splitmix.HashName(c.Name)
	}
	sum, squares, beaten := 0.0, 0.0, 0
	for draw := range uint64(randomChoices) {
		key := func(j int) uint64 { return splitmix.Hash(e.Seed^splitmix.Mix(draw+1), keys[j]) }
		slices.SortFunc(open, func(a, b int) int { return cmp.Or(cmp.Compare(key(a), key(b)), a-b) })
		value := choiceAlignment(p, slices.Concat(e.Keep, open[:free]), entry)
		sum += value
		squares += value * value
		if value < actual {
			beaten++
		}
	}
	mean := sum / randomChoices
	share := stream.Number(float64(beaten) / randomChoices)
	return &stream.Chance{
		Measure: stream.Textf("alignment of %d chosen features with the clusters of a sample of the rows", len(order)).Spell(nil),
		Value:   stream.Number(actual), Chance: stream.Number(mean), Spread: stream.Number(math.Sqrt(max(squares/randomChoices-mean*mean, 0))),
		Beats: &share, Trusted: float64(share) >= leastBeaten,
	}
}

func choiceAlignment(p Problem, chosen []int, entry func(i, j int) float64) float64 {
	sum, norm := 0.0, 0.0
	for at, i := range chosen {
		sum += p.A[i]
		norm = math.Hypot(norm, p.Squares[i])
		for _, j := range chosen[:at] {
			norm = math.Hypot(norm, math.Sqrt2*entry(i, j))
		}
	}
	if norm == 0 {
		return 0
	}
	return min(sum/norm/p.Norm, 1) // N/(D·‖K‖)
}
