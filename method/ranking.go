package method

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Ranking is the result of a method. Features are numbered as in Evidence.Columns. Order is required, and so is either
// Scores or Turns. If Error is set, Explained and Nearest are required.
type Ranking struct {
	Order []int // features, best first: all features, or only the chosen ones
	// Blocks lists the chosen blocks as indices into Evidence.Blocks, best first. If it is set, Order lists the members
	// of one block after the other, and Turns, Error and Layers have one entry for each block. Nil without blocks.
	Blocks []int
	// Scores has one score for each feature. Nil if only the chosen features have a score.
	Scores []float64
	// Turns replaces Scores if a feature gets its score only when it is chosen. Turns[i] is the score of Order[i].
	Turns         []float64
	LowerIsBetter bool
	Ties          Ties // ties of Order; nil if unknown

	// Error is F(S)/F(∅) after each feature of Order, with F(S) the sum of squares that the features S chosen so far
	// leave unexplained. Explained is the share of each feature's sum of squares that the selection explains. Nearest
	// is, for each feature, the selected feature with the largest absolute cosine, or -1 if there is no such feature.
	// If Error is nil and there is a Gram matrix, the caller computes Error, Explained and Nearest.
	Error, Explained []float64
	Nearest          []int

	// Least is a lower bound of Error: the error of the best subspace with as many dimensions as features were chosen. The
	// subspace need not be spanned by features. Its error is the sum of the eigenvalues of the target's Gram matrix
	// without the largest ones, one for each dimension. May be nil.
	Least []float64
	// Layers is the layer of each feature of Order, from 1. If the first layer explains the target completely, a second
	// layer is chosen to explain the residual of the data. Nil means that all features are in the first layer.
	Layers []int

	// Estimate describes the use of a sketch of the rows; nil if all numbers are exact.
	Estimate *stream.Estimate

	Objective []float64          // after each iteration; if Trace is set, the objectives in Trace replace it
	Trace     []stream.TraceStep // one step for each iteration
	Unsettled bool               // the iteration ended before it converged
	Rose      *Rise              // nil if the objective never rose

	// Chance compares the choice with random choices by the method's own criterion. Nil if this criterion is the
	// explained share, or if there is nothing to compare.
	Chance *stream.Chance

	Used     map[string]any // settings that influenced the ranking, by option, including defaults
	Passes   int            // number of passes over the source
	Warnings []stream.Text
}

// Check validates a ranking of d features. An error indicates a bug in the method.
func (r *Ranking) Check(d int) error {
	if r == nil {
		return errors.New("no ranking")
	}
	seen := make([]bool, d)
	for _, j := range r.Order {
		if j < 0 || j >= d || seen[j] {
			return fmt.Errorf("feature %d in the order occurs twice or is not one of the %d", j, d)
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

// Rise describes a rise of an objective that should only fall. A rise by more than rounding error indicates a fault in
// the data or the program. The ranking is from the iteration before the rise.
type Rise struct {
	Iteration int     // counted from 1
	From, To  float64 // the objective before and after this iteration
	Allowed   float64 // the part of To − From that rounding errors could explain
}

// Ties holds the sizes of the groups of equal scores along a ranking. The features of a group are in column order.
type Ties []int

// At returns the ranks [from, to) of the group of ties of which only a part is among the first k features. Column order
// decides which features of this group are chosen. If there is no such group, the range is empty.
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

// Rank sorts features by descending score. It also divides the scores into groups of ties. The next group consists of
// the largest score that is not yet in a group, and of all other such scores for which alike returns true. The features
// of a group are in column order.
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

// EqualScores returns the ties of features in the given order. Features are tied if their scores are equal numbers.
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

// Grid is the result of a path: a ranking for every setting of a grid of weights of the objective.
type Grid struct {
	Settings []Setting      // row by row, in ascending order of the weights
	Width    int            // number of settings in a row
	Used     map[string]any // as in Ranking
	Passes   int            // number of passes over the source
	Warnings []stream.Text
}

// Setting is one choice of the weights of a [Grid], and the ranking for these weights.
type Setting struct {
	Alpha, Beta, Gamma float64     // the weights; NaN for weights that the method lacks
	Name               stream.Text // description such as "alpha 1, gamma 0.1"
	Flags              stream.Text // the options that select this setting, if the weights alone do not select it
	Ranking            *Ranking
	Sound              bool // this setting may be recommended, as far as the method can judge
	Apart              bool // rounding may change the ranking, so the setting is neither compared nor recommended
}

// Tree is a tree whose nodes are groups of features.
type Tree interface {
	Nodes() int
	Depth() int
	// Encode writes the tree as JSON, with the names of the features.
	Encode(w io.Writer, names []string) error
}
