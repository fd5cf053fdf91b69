package greedy

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a selection and its effect on every feature. Slices with one entry a turn are parallel to Order. Slices
// with one entry a feature have length d. Order, Scores and Error also contain the results for smaller k: the first j
// entries are the selection of j features.
type Result struct {
	Order []int // chosen columns, in order
	// Blocks are the chosen blocks, in order, if the choice is among blocks: Order then has their columns one after
	// the other, and Scores, Error, Layers and Ties count blocks.
	Blocks []int
	Scores []float64 // criterion f/g of each chosen feature at its turn: in Algorithm 1 the reduction of ‖X − P_S X‖² (see the package comment)
	Error  []float64 // F(S)/F(∅) after each choice, with F(S) = ‖X − P_S X‖²; 0 means that everything is explained
	// Layers is the layer of each chosen feature, counted from 1. Once nothing is left to explain, a second layer is
	// chosen among the other features as if the first were absent, and so on. Each layer has its own scores, while
	// Error counts all layers. Layers is nil if all chosen features are of the first layer.
	Layers []int

	Explained []float64 // per feature: share of its sum of squares that the selection explains
	Nearest   []int     // per feature: the chosen column of largest absolute cosine, redundant ones excluded; -1 for chosen features and if all cosines are 0

	Ties      []Tie         // turns at which the lowest of several columns with equal scores was chosen
	Redundant []int         // kept columns that earlier kept columns already explain
	Exhausted bool          // fewer than k features were chosen, because nothing was left to choose
	Warnings  []stream.Text // for the user
	Groups    []int         // of Algorithm 2: the group of each column
	Refined   bool          // exchanges were tried
	Exchanges int           // exchanges made
	Passes    int           // passes over the rows by SelectStream and SelectSketched; 0 otherwise
	// Estimate describes the error of a sketch; nil if all numbers are exact.
	Estimate *stream.Estimate
}

// Tie is a turn at which other columns scored the same as the chosen one.
type Tie struct {
	Turn    int   // counted from 0
	Columns []int // the columns not taken, ascending
}

// resultRecorder collects a Result during the turns.
type resultRecorder struct {
	Result
	total  float64   // F(∅)
	norm   []float64 // √Gᵢᵢ
	cosine []float64 // per feature: largest absolute cosine with a chosen feature so far

	firstCriterion *criterion  // of the first layer
	firstOmegas    [][]float64 // of the first layer
	layerEnds      []layerEnd
	dataLeft       *dataResidual // the residual of the data if later layers reduce it further; else nil
}

func newRecorder(c *criterion) *resultRecorder {
	r := &resultRecorder{firstCriterion: c, norm: make([]float64, c.featureCount), cosine: make([]float64, c.featureCount)}
	r.Explained = make([]float64, c.featureCount)
	r.Nearest = make([]int, c.featureCount)
	for i, g := range c.g0 {
		r.norm[i] = math.Sqrt(g)
		r.Nearest[i] = -1
	}
	r.total = c.remainingError()
	return r
}

func (r *resultRecorder) explainedShare() float64 {
	if len(r.Error) == 0 {
		if r.total == 0 {
			return 1
		}
		return 0
	}
	return 1 - r.Error[len(r.Error)-1]
}

func (r *resultRecorder) recordFeature(p int, score float64, column []float64, c *criterion) {
	r.Order = append(r.Order, p)
	r.Scores = append(r.Scores, score)
	if layer := r.currentLayer(); layer > 1 {
		for len(r.Layers) < len(r.Order)-1 {
			r.Layers = append(r.Layers, 1)
		}
		r.Layers = append(r.Layers, layer)
		if r.dataLeft != nil {
			r.dataLeft.projectOut(p, column)
		}
	}
	r.Error = append(r.Error, r.errorShare(c))
	r.Nearest[p] = -1
	r.cosine[p] = math.Inf(1)
	for i, x := range column {
		// An earlier choice stays the nearest unless a later one is closer by more than rounding.
		if cos := math.Abs(x) / (r.norm[i] * r.norm[p]); cos > r.cosine[i]*(1+tieShare) {
			r.cosine[i], r.Nearest[i] = cos, p
		}
	}
}

// errorShare returns F(S)/F(∅) after the latest choice.
func (r *resultRecorder) errorShare(c *criterion) float64 {
	switch {
	case r.total == 0:
		return 0
	case r.currentLayer() == 1:
		return min(c.remainingError()/r.total, 1)
	case r.dataLeft != nil:
		return min(floats.Sum(r.dataLeft.g)/r.total, 1)
	}
	return min(r.firstCriterion.remainingError()/r.total, 1)
}

func (r *resultRecorder) finishResult(opt Options) *Result {
	g, g0 := r.firstCriterion.g, r.firstCriterion.g0
	if r.dataLeft != nil {
		g = r.dataLeft.g
	}
	for i := range r.Explained {
		r.Explained[i] = 1 // a column of zeros is explained by anything
		if g0[i] > 0 {
			r.Explained[i] = min(max(1-g[i]/g0[i], 0), 1)
		}
	}
	for _, p := range r.Order {
		r.Explained[p] = 1
	}
	r.Groups = opt.Groups
	if len(r.Redundant) > 0 {
		r.addWarning("%d of the kept features are combinations of the kept ones before them", len(r.Redundant))
	}
	r.warnAboutLayers(opt)
	res := r.Result // a copy, so that the k×d numbers of firstOmegas can be freed
	return &res
}

func (r *resultRecorder) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, stream.Textf(format, args...))
}
