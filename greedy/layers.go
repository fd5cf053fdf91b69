package greedy

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// layerEnd is the reason why a layer ended, and the number of features that were chosen in this and all earlier layers.
type layerEnd struct {
	reason endReason
	chosen int
}

// dataResidual is the residual of the data after all features chosen so far. It is needed if the first layer has
// explained its target but not the data. For example, sums of groups of columns may be explained before the columns.
type dataResidual struct {
	g, g0  []float64
	omegas [][]float64
	chosen []bool
}

func (w *dataResidual) projectOut(p int, column []float64) {
	w.chosen[p] = true
	if g := w.g[p]; g > exhaustedShare*w.g0[p] {
		omega := append([]float64(nil), column...)
		for _, v := range w.omegas {
			kernel.Axpy(-v[p], v, omega)
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
	w.g[p] = 0
}

func (r *resultRecorder) currentLayer() int { return len(r.layerEnds) + 1 }

// prepareNextLayer keeps the residual of the data at the end of the first layer. It does not do so if the layer has
// exhausted all features, and so has explained the data.
func (r *resultRecorder) prepareNextLayer(end endReason) {
	if end == targetReached && r.dataLeft == nil {
		c := r.firstCriterion
		r.dataLeft = &dataResidual{g: append([]float64(nil), c.g...), g0: c.g0, omegas: r.firstOmegas, chosen: append([]bool(nil), c.chosen...)}
	}
	r.firstOmegas = nil
}

func (r *resultRecorder) warnAboutLayers(opt Options) {
	if len(r.layerEnds) == 0 {
		return
	}
	r.Exhausted = len(r.Order) < opt.K
	first := r.layerEnds[0]
	rank := first.chosen - len(r.Redundant)
	more := "the remaining features are combinations of the selected"
	if first.reason == targetReached {
		more = "the remaining features cannot be distinguished"
	}
	if len(r.Order) > first.chosen {
		more = fmt.Sprintf("features %d to %d are %s, chosen as if the features before were absent",
			first.chosen+1, len(r.Order), describeLayers(r.Layers[len(r.Layers)-1]))
		if len(r.Order) == first.chosen+1 {
			more = fmt.Sprintf("feature %d is a second layer, chosen as if the features before were absent", len(r.Order))
		}
	}
	if first.reason == rankReached {
		r.addWarning("rank %d reached: %s", rank, more)
	} else {
		r.addWarning("after %d features only rounding errors of the target are left: %s", rank, more)
	}
	if r.Exhausted && opt.Variance == 0 && len(r.Order) > first.chosen {
		r.addWarning("only %d features were chosen: the others explain nothing of the target", len(r.Order))
	}
}

func describeLayers(last int) string {
	if last == 2 {
		return "a second layer"
	}
	return fmt.Sprintf("%d further layers", last-1)
}

func (r *Result) firstLayerGains() []float64 {
	out := append([]float64(nil), r.Scores...)
	for i, layer := range r.Layers {
		if layer > 1 {
			out[i] = 0
		}
	}
	return out
}
