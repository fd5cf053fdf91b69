package method

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Ranking is the result of a method. Features are numbered as in Evidence.Columns. Order and one of Scores and Turns
// are required; Explained and Nearest are required with Error.
type Ranking struct {
	Order []int // features, best first: all of them, or the chosen ones
	// Blocks are the chosen ones of Evidence.Blocks, in order; then Order lists their members consecutively, and Turns,
	// Error and Layers are per block. Nil without blocks.
	Blocks []int
	// Scores has one score for each feature. Nil if only chosen features have one.
	Scores []float64
	// Turns has the score of each of Order at its turn, instead of Scores.
	Turns         []float64
	LowerIsBetter bool
	Ties          Ties // of Order; nil if unknown

	// Error is F(S)/F(∅) after each of Order, Explained the share of each feature's sum of squares that the selection
	// explains, Nearest the selected feature with the largest absolute cosine, -1 for none. If Error is nil and there
	// is a Gram matrix, the caller computes all three.
	Error, Explained []float64
	Nearest          []int

	// Least is, after each of Order, the least Error that any subspace of the same dimension could leave, spanned by
	// features or not: the tail of the target's eigenvalues. Nil if unknown.
	Least []float64
	// Layers is the layer of each of Order, from 1: when the target is fully explained, a second layer is chosen for
	// the residual of the first. Nil means that all are in the first.
	Layers []int

	// Estimate describes the use of a sketch of the rows; nil if all is exact.
	Estimate *stream.Estimate

	Objective []float64          // with a Trace, its objective is used
	Trace     []stream.TraceStep // a step for each iteration
	Unsettled bool               // the iteration ended before it converged
	Rose      *Rise              // nil if the objective fell as it must

	// Chance compares the choice with random ones by the method's own criterion; nil if the criterion is the explained
	// share, or if there is nothing to compare.
	Chance *stream.Chance

	Used     map[string]any // settings that influenced the ranking, by option, with defaults
	Passes   int            // over the source
	Warnings []stream.Text
}

// Check validates a ranking of d features; an error is a bug in the method.
func (r *Ranking) Check(d int) error {
	if r == nil {
		return errors.New("no ranking")
	}
	seen := make([]bool, d)
	for _, j := range r.Order {
		if j < 0 || j >= d || seen[j] {
			return fmt.Errorf("feature %d in the order is there twice or is none of the %d", j, d)
		}
		seen[j] = true
	}
	chosen := len(r.Order)
	if r.Blocks != nil {
		chosen = len(r.Blocks)
	}
	for _, part := range []struct {
		name      string
		got, want int
		needed    bool
	}{
		{"scores", len(r.Scores), d, r.Turns == nil},
		{"turns", len(r.Turns), chosen, r.Scores == nil},
		{"errors", len(r.Error), chosen, false},
		{"least errors", len(r.Least), chosen, false},
		{"layers", len(r.Layers), chosen, false},
		{"explained shares", len(r.Explained), d, r.Error != nil},
		{"nearest features", len(r.Nearest), d, r.Error != nil},
	} {
		if part.got != part.want && (part.needed || part.got > 0) {
			return fmt.Errorf("%d %s, want %d", part.got, part.name, part.want)
		}
	}
	return nil
}

// Rise is an objective that rose by more than rounding error: a fault in data or program. The ranking is the last one
// before the rise.
type Rise struct {
	Iteration int // counted from 1
	From, To  float64
	Allowed   float64 // the part of To − From that rounding could explain
}

// Ties are the sizes of the groups of equal scores along a ranking; a group is in column order.
type Ties []int

// At returns the ranks [from, to) of the group that the choice of the first k features splits, so that column order
// decides; from = to if none is split.
func (t Ties) At(k int) (from, to int) {
	for _, n := range t {
		if from = to; from >= k {
			break
		}
		if to = from + n; to > k {
			return from, to
		}
	}
	return 0, 0
}

// Rank sorts features by descending score. The largest remaining score and all scores alike to it form a group, in
// column order; the groups are the ties.
func Rank(scores []float64, alike func(largest, score float64) bool) (order []int, ties Ties) {
	order = make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && alike(scores[order[from]], scores[order[to]]) {
			to++
		}
		slices.Sort(order[from:to])
		ties = append(ties, to-from)
		from = to
	}
	return order, ties
}

// EqualScores returns the ties of features, in order, whose scores are equal numbers.
func EqualScores(order []int, scores []float64) Ties {
	var t Ties
	for i, j := range order {
		if i > 0 && scores[j] == scores[order[i-1]] {
			t[len(t)-1]++
		} else {
			t = append(t, 1)
		}
	}
	return t
}

// Grid is the result of a path over settings.
type Grid struct {
	Settings []Setting // by rising weights, row by row
	Width    int       // settings in a row
	Used     map[string]any
	Passes   int // over the source
	Warnings []stream.Text
}

// Setting is one point of a grid.
type Setting struct {
	Alpha, Beta, Gamma float64     // the weights; NaN for weights that the method lacks
	Name               stream.Text // in words: "alpha 1, gamma 0.1"
	Flags              stream.Text // the options that select this setting, if the weights do not
	Ranking            *Ranking
	Sound              bool // may be recommended, as far as the method can judge
	Apart              bool // rounding may change its ranking: it is neither compared nor recommended
}

// Tree is a tree of groups over features.
type Tree interface {
	Nodes() int
	Depth() int
	// Encode writes the tree as JSON, features by their names.
	Encode(w io.Writer, names []string) error
}
