package selecting

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rankCandidates makes a ranking of candidates (groups and ungrouped features) from the scores of features by a method
// that does not support constraints on the choice. The score of a group is the norm √Σs² of the scores s of its
// features if a higher score is better, or else their mean. Kept candidates come first, then the best candidates that
// may be chosen and fit the budget. Scores are not gains, so they are not divided by costs.
func rankCandidates(t *Trial, r *method.Ranking) *method.Ranking {
	c := t.candidates
	if t.run.Bound.Takes.Choice || t.run.Bound.Takes.Turns || !c.IsConstrained && len(c.Keep) == 0 || r.Scores == nil {
		return r
	}
	scores := make([]float64, c.Candidates(len(c.Columns)))
	signed := make([]float64, len(scores)) // higher is better
	for i := range scores {
		scores[i] = groupScore(r.Scores, c.Members(i), r.LowerIsBetter)
		if signed[i] = scores[i]; r.LowerIsBetter {
			signed[i] = -scores[i]
		}
	}
	order, _ := method.Rank(signed, func(largest, score float64) bool { return largest-score <= tieShare*math.Abs(largest) })
	forbidden, isKept := c.Forbidden(len(c.Columns)), make([]bool, len(scores))
	for _, i := range c.Keep {
		isKept[i] = true
	}
	order = slices.Concat(c.Keep, slices.DeleteFunc(order, func(i int) bool { return isKept[i] }))
	out := *r
	out.Order, out.Blocks, out.Turns, out.Ties = nil, nil, nil, nil
	taken, left := make(map[int]int), math.Inf(1)
	if c.Budget > 0 {
		left = c.Budget * (1 + budgetShare)
	}
	most := cmp.Or(t.K, len(order))
	for _, i := range order {
		cost := 0.0
		if c.Blocks != nil {
			cost = c.Blocks[i].Cost
		}
		full := c.Most > 0 && c.Sets[i] >= 0 && taken[c.Sets[i]] >= c.Most
		if len(out.Turns) == most || full || cost > left || forbidden[i] {
			continue
		}
		if left -= cost; c.Most > 0 && c.Sets[i] >= 0 {
			taken[c.Sets[i]]++
		}
		out.Order, out.Turns = append(out.Order, c.Members(i)...), append(out.Turns, scores[i])
		if c.Blocks != nil {
			out.Blocks = append(out.Blocks, i)
		}
	}
	return &out
}

const (
	// tieShare is the largest relative difference of scores that count as equal. Of equal scores the first in column
	// order wins.
	tieShare = 1e-9
	// budgetShare is the share by which the sum of costs may exceed a budget because of rounding.
	budgetShare = 1e-12
)

func groupScore(scores []float64, members []int, isMean bool) float64 {
	if len(members) == 1 {
		return scores[members[0]]
	}
	sum := 0.0
	for _, j := range members {
		if isMean {
			sum += scores[j] / float64(len(members))
		} else {
			sum = math.Hypot(sum, scores[j])
		}
	}
	return sum
}

type pick struct {
	candidate int
	features  []int // features of the candidate, in the order of the ranking
}

func firstRankedPicks(t *Trial, ranking *method.Ranking, n int) (list []pick) {
	if ranking.Blocks == nil {
		for _, j := range ranking.Order[:min(n, len(ranking.Order))] {
			i := j
			if t.Blocks != nil {
				i = t.candidates.BlockOf[j]
			}
			list = append(list, pick{i, []int{j}})
		}
		return list
	}
	start := 0
	for _, i := range ranking.Blocks[:min(n, len(ranking.Blocks))] {
		size := len(t.Blocks[i].Members)
		list = append(list, pick{i, ranking.Order[start : start+size]})
		start += size
	}
	return list
}

func countRankedCandidates(ranking *method.Ranking) int {
	if ranking.Blocks != nil {
		return len(ranking.Blocks)
	}
	return len(ranking.Order)
}

func pickedFeatures(picks []pick) (features []int) {
	for _, p := range picks {
		features = append(features, p.features...)
	}
	return features
}

// enoughPicks returns the first picks of list that together have the number of features that option {k} auto
// recommends. It is for groups and methods that score features, because the rules for this number count features, and a
// group has several. In all other cases it returns list.
func enoughPicks(t *Trial, r *method.Ranking, list []pick) []pick {
	if !t.run.Choice.AutoK || t.Blocks == nil || r.Error != nil { // with r.Error the method has chosen the number itself
		return list
	}
	features := 0
	for i, p := range list {
		if i >= len(t.Keep) && features >= t.Selection.Size.Recommended {
			return list[:i]
		}
		features += len(p.features)
	}
	return list
}

func newSelectedFeature(t *Trial, rank int, picked pick) stream.Selected {
	c, i := t.candidates, picked.candidate
	members := c.Members(i)
	f := stream.Selected{Rank: rank, Name: c.Name(i), Column: t.Columns[members[0]].Position, Error: stream.Number(math.NaN())}
	if len(members) > 1 || f.Name != t.Columns[members[0]].Name {
		for _, j := range members {
			f.Members = append(f.Members, t.Columns[j].Name)
		}
		f.Reads = c.InputNames(i)
		for j := range c.InputColumns(members) {
			f.Columns = append(f.Columns, t.Columns[j].Position)
		}
	}
	if c.ReportsCosts {
		cost := stream.Number(c.Blocks[i].Cost)
		f.Cost = &cost
	}
	return f
}

func totalCost(t *Trial, selected []stream.Selected) *stream.Number {
	if !t.candidates.ReportsCosts {
		return nil
	}
	sum := stream.Number(0)
	for _, f := range selected {
		sum += *f.Cost
	}
	return &sum
}
