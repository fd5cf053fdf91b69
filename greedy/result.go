package greedy

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a selection and what it means for every feature. Slices with one entry
// a turn are parallel to Order; slices with one entry a feature have length d.
// Order, Score and Error are also the whole curve over k: the first j entries are
// the selection of j features.
type Result struct {
	Order []int // chosen columns, in order
	// Blocks are the chosen blocks, in order, where there are any to choose from: Order has their
	// columns one after the other, and Scores, Error, Layers and Ties are of blocks.
	Blocks []int
	Scores []float64 // the criterion f/g of each at its turn: what Algorithm 1 takes off ‖X − P_S X‖²
	Error  []float64 // F(S)/F(∅) after each, F(S) = ‖X − P_S X‖²: 0 means everything is explained
	// Layers is the layer of each, from 1: once nothing is left to explain, a second layer is
	// chosen of the other features as if the first were not there, and so on. Its scores are its
	// own; Error goes on to count all. Nil means all are of the first.
	Layers []int

	Explained []float64 // per feature: share of its sum of squares that the selection explains
	Nearest   []int     // per feature: the chosen column of largest absolute cosine, redundant ones aside; -1 for chosen features and where all cosines are 0

	Ties      []Tie         // turns at which the lowest of several equal columns was taken
	Redundant []int         // kept columns that earlier kept ones already explained
	Exhausted bool          // fewer than k were chosen, as nothing was left to choose
	Warnings  []stream.Text // for the user
	Groups    []int         // Algorithm 2: the group of each column
	Refined   bool          // exchanges were tried
	Exchanges int           // that were made
	Passes    int           // over the rows, by SelectStream and SelectSketched; 0 otherwise
	// Estimate says what rests on a sketch; nil where all is exact.
	Estimate *stream.Estimate
}

// Tie is a turn at which other columns scored the same as the chosen one.
type Tie struct {
	Turn    int   // counted from 0
	Columns []int // the columns not taken, ascending
}

// recorder collects a Result while the turns go on.
type recorder struct {
	Result
	total  float64   // F(∅)
	norm   []float64 // √Gᵢᵢ
	cosine []float64 // largest so far, per feature

	first  *criterion  // of the first layer
	omegas [][]float64 // of the first layer
	ends   []layerEnd
	whole  *residual // where layers after the first leave less of the data; else nil
}

func newRecorder(c *criterion) *recorder {
	r := &recorder{first: c, norm: make([]float64, c.d), cosine: make([]float64, c.d)}
	r.Explained = make([]float64, c.d)
	r.Nearest = make([]int, c.d)
	for i, g := range c.g0 {
		r.norm[i] = math.Sqrt(g)
		r.Nearest[i] = -1
	}
	r.total = c.remaining()
	return r
}

// share is the explained share of the total.
func (r *recorder) share() float64 {
	if len(r.Error) == 0 {
		if r.total == 0 {
			return 1
		}
		return 0
	}
	return 1 - r.Error[len(r.Error)-1]
}

// add records column p, chosen with the given score; column is G₍:,p₎.
func (r *recorder) add(p int, score float64, column []float64, c *criterion) {
	r.Order = append(r.Order, p)
	r.Scores = append(r.Scores, score)
	if layer := r.current(); layer > 1 {
		for len(r.Layers) < len(r.Order)-1 {
			r.Layers = append(r.Layers, 1)
		}
		r.Layers = append(r.Layers, layer)
		if r.whole != nil {
			r.whole.take(p, column)
		}
	}
	r.Error = append(r.Error, r.left(c))
	r.Nearest[p] = -1
	r.cosine[p] = math.Inf(1)
	for i, x := range column {
		// An earlier choice keeps its place unless the later one is closer beyond rounding.
		if cos := math.Abs(x) / (r.norm[i] * r.norm[p]); cos > r.cosine[i]*(1+tieShare) {
			r.cosine[i], r.Nearest[i] = cos, p
		}
	}
}

// left is F(S)/F(∅) after the last feature.
func (r *recorder) left(c *criterion) float64 {
	switch {
	case r.total == 0:
		return 0
	case r.current() == 1:
		return min(c.remaining()/r.total, 1)
	case r.whole != nil:
		return min(floats.Sum(r.whole.g)/r.total, 1)
	}
	return min(r.first.remaining()/r.total, 1)
}

// finish fills in what each feature has become and the reason for an early end.
func (r *recorder) finish(opt Options) *Result {
	g, g0 := r.first.g, r.first.g0
	if r.whole != nil {
		g = r.whole.g
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
		r.warn("%d of the kept features are combinations of the kept ones before them", len(r.Redundant))
	}
	r.sayLayers(opt)
	res := r.Result // by itself: the recorder holds k×d numbers
	return &res
}

func (r *recorder) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, stream.Textf(format, args...))
}
