package engine

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// LayerEnd is the reason why a layer ended, and the number of features that were chosen in this and all earlier layers.
type LayerEnd struct {
	Reason EndReason
	Chosen int
}

// dataResidual is the residual of the data after all features chosen so far. It is needed if the first layer has
// explained its target but not the data. For example, sums of groups of columns may be explained before the columns.
type dataResidual struct {
	g, g0  []float64
	omegas [][]float64
	chosen []bool
}

func (w *dataResidual) projectOutFeature(feature int, column []float64) {
	w.chosen[feature] = true
	if g := w.g[feature]; g > ExhaustedShare*w.g0[feature] {
		omega := append([]float64(nil), column...)
		for _, v := range w.omegas {
			kernel.Axpy(-v[feature], v, omega)
		}
		for i, gone := range w.chosen {
			if gone {
				omega[i] = 0
				continue
			}
			omega[i] /= math.Sqrt(g)
			w.g[i] = max(w.g[i]-omega[i]*omega[i], 0)
		}
		w.omegas = append(w.omegas, omega)
	}
	w.g[feature] = 0
}

// CurrentLayer returns the number of the layer in which features are being chosen, counted from 1.
func (r *Recorder) CurrentLayer() int { return len(r.LayerEnds) + 1 }

// PrepareNextLayer keeps the residual of the data at the end of the first layer. It does not do so if the layer has
// exhausted all features, and so has explained the data.
func (r *Recorder) PrepareNextLayer(end EndReason) {
	if end == TargetReached && r.dataLeft == nil {
		c := r.firstCriterion
		r.dataLeft = &dataResidual{g: append([]float64(nil), c.G...), g0: c.G0, omegas: r.FirstOmegas, chosen: append([]bool(nil), c.Chosen...)}
	}
	r.FirstOmegas = nil
}

func (r *Recorder) warnAboutLayers(opt selection.Options) {
	if len(r.LayerEnds) == 0 {
		return
	}
	r.Exhausted = len(r.Order) < opt.K
	first := r.LayerEnds[0]
	rank := first.Chosen - len(r.Redundant)
	more := "the remaining features are combinations of the selected"
	if first.Reason == TargetReached {
		more = "the remaining features cannot be distinguished"
	}
	if len(r.Order) > first.Chosen {
		more = fmt.Sprintf("features %d to %d are %s, chosen as if the features before were absent",
			first.Chosen+1, len(r.Order), describeFurtherLayers(r.Layers[len(r.Layers)-1]))
		if len(r.Order) == first.Chosen+1 {
			more = fmt.Sprintf("feature %d is a second layer, chosen as if the features before were absent", len(r.Order))
		}
	}
	if first.Reason == RankReached {
		r.addWarning("rank %d reached: %s", rank, more)
	} else {
		r.addWarning("after %d features only rounding errors of the target are left: %s", rank, more)
	}
	if r.Exhausted && opt.Variance == 0 && len(r.Order) > first.Chosen {
		r.addWarning("only %d features were chosen: the others explain nothing of the target", len(r.Order))
	}
}

func describeFurtherLayers(lastLayer int) string {
	if lastLayer == 2 {
		return "a second layer"
	}
	return fmt.Sprintf("%d further layers", lastLayer-1)
}

// FirstLayerGains returns the scores of r, with 0 for the features or blocks of later layers.
func FirstLayerGains(r *selection.Result) []float64 {
	out := append([]float64(nil), r.Scores...)
	for i, layer := range r.Layers {
		if layer > 1 {
			out[i] = 0
		}
	}
	return out
}
