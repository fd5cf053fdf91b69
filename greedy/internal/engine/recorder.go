package engine

import (
	"math"

	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Recorder collects the Result of a selection, turn by turn.
type Recorder struct {
	selection.Result
	Total   float64   // F(∅)
	norm    []float64 // √Gᵢᵢ
	cosine  []float64 // per feature: largest absolute cosine with a chosen feature so far
	explain []int     // features whose error counts; empty means all

	firstCriterion *Criterion  // of the first layer
	FirstOmegas    [][]float64 // of the first layer
	LayerEnds      []LayerEnd
	dataLeft       *dataResidual // the residual of the data if later layers reduce it further; else nil
}

// NewRecorder returns a recorder for a selection that starts with criterion c and explains the listed features. An
// empty list means all features.
func NewRecorder(c *Criterion, explain []int) *Recorder {
	r := &Recorder{firstCriterion: c, explain: explain}
	r.layOut(nil, c.FeatureCount)
	for i, g := range c.G0 {
		r.norm[i] = math.Sqrt(g)
		r.Nearest[i] = -1
	}
	r.Total = r.sumExplained(c.G)
	return r
}

func (r *Recorder) layOut(l *room.Layout, d int) {
	r.norm, r.cosine, r.Explained = room.Slice[float64](l, d), room.Slice[float64](l, d), room.Slice[float64](l, d)
	r.Nearest = room.Slice[int](l, d)
}

// LayOutSelection takes from l the memory of a Criterion for d features, its initial f and g, a Recorder, and the
// vectors ω of k choices.
func LayOutSelection(l *room.Layout, d, k int) {
	layOutCriterion(l, d)
	new(Recorder).layOut(l, d)
	room.Slice[float64](l, (k+2)*d)
}

// ExplainedShare returns the share of the data that the chosen features explain.
func (r *Recorder) ExplainedShare() float64 {
	if len(r.Error) == 0 {
		if r.Total == 0 {
			return 1
		}
		return 0
	}
	return 1 - r.Error[len(r.Error)-1]
}

// RecordFeature records the choice of feature p by its score in the data's units, its column of G, and the criterion
// after the choice. column is nil for a feature that earlier ones explain.
func (r *Recorder) RecordFeature(p int, score float64, column []float64, c *Criterion) {
	r.Order = append(r.Order, p)
	r.Scores = append(r.Scores, score)
	if layer := r.CurrentLayer(); layer > 1 {
		for len(r.Layers) < len(r.Order)-1 {
			r.Layers = append(r.Layers, 1)
		}
		r.Layers = append(r.Layers, layer)
		if r.dataLeft != nil {
			r.dataLeft.projectOutFeature(p, column)
		}
	}
	r.Error = append(r.Error, r.errorShare(c))
	r.Nearest[p] = -1
	r.cosine[p] = math.Inf(1)
	for i, x := range column {
		// An earlier choice stays the nearest unless a later one is closer by more than rounding.
		if cos := math.Abs(x) / (r.norm[i] * r.norm[p]); cos > r.cosine[i]*(1+TieShare) {
			r.cosine[i], r.Nearest[i] = cos, p
		}
	}
}

func (r *Recorder) errorShare(c *Criterion) float64 { // F(S)/F(∅) after the latest choice
	switch {
	case r.Total == 0:
		return 0
	case r.CurrentLayer() == 1:
		return min(r.sumExplained(c.G)/r.Total, 1)
	case r.dataLeft != nil:
		return min(r.sumExplained(r.dataLeft.g)/r.Total, 1)
	}
	return min(r.sumExplained(r.firstCriterion.G)/r.Total, 1)
}

func (r *Recorder) sumExplained(squares []float64) (sum float64) {
	if len(r.explain) == 0 {
		for _, v := range squares {
			sum += v
		}
	}
	for _, j := range r.explain {
		sum += squares[j]
	}
	return sum
}

// FinishResult completes the result, with warnings about layers and redundant features.
func (r *Recorder) FinishResult(opt selection.Options) *selection.Result {
	g, g0 := r.firstCriterion.G, r.firstCriterion.G0
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
	if opt.Partitioned {
		r.Groups = opt.Groups
	}
	if len(r.Redundant) > 0 {
		r.addWarning("%d of the kept features are combinations of the kept ones before them", len(r.Redundant))
	}
	r.warnAboutLayers(opt)
	res := r.Result // a copy, so that the k×d numbers of FirstOmegas can be freed
	return &res
}

func (r *Recorder) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, stream.Textf(format, args...))
}
