package greedy

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// layerEnd says why a layer ended, and how many features were chosen by then.
type layerEnd struct {
	why    ending
	chosen int
}

// residual is what all features chosen so far leave of the data, where a first layer has
// explained its target and not the data: partitions are few sums of the columns.
type residual struct {
	g, g0  []float64
	omegas [][]float64
	chosen []bool
}

// take projects feature p out, given G₍:,p₎.
func (w *residual) take(p int, column []float64) {
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

// current is the number of the layer that is being chosen, from 1.
func (r *recorder) current() int { return len(r.ends) + 1 }

// follow prepares for the layer after one that has ended. Features that exhausted all others
// leave nothing more to account for.
func (r *recorder) follow(end ending) {
	if end == targetReached && r.whole == nil {
		c := r.first
		r.whole = &residual{g: append([]float64(nil), c.g...), g0: c.g0, omegas: r.omegas, chosen: append([]bool(nil), c.chosen...)}
	}
	r.omegas = nil
}

// sayLayers warns of what happened where a layer ended.
func (r *recorder) sayLayers(opt Options) {
	if len(r.ends) == 0 {
		return
	}
	r.Exhausted = len(r.Order) < opt.K
	first := r.ends[0]
	rank := first.chosen - len(r.Redundant)
	more := "the remaining features are combinations of the selected"
	if first.why == targetReached {
		more = "the remaining features cannot be told apart"
	}
	if len(r.Order) > first.chosen {
		more = fmt.Sprintf("features %d to %d are %s, chosen as if those before were not there",
			first.chosen+1, len(r.Order), layersAfter(r.Layers[len(r.Layers)-1]))
		if len(r.Order) == first.chosen+1 {
			more = fmt.Sprintf("feature %d is a second layer, chosen as if those before were not there", len(r.Order))
		}
	}
	if first.why == rankReached {
		r.warn("rank %d reached: %s", rank, more)
	} else {
		r.warn("after %d features nothing of the target is left but rounding: %s", rank, more)
	}
	if r.Exhausted && opt.Variance == 0 && len(r.Order) > first.chosen {
		r.warn("%d features were chosen: what is left holds nothing of the target", len(r.Order))
	}
}

// layersAfter names the layers from the second to the last.
func layersAfter(last int) string {
	if last == 2 {
		return "a second layer"
	}
	return fmt.Sprintf("%d further layers", last-1)
}

// gains are the scores of the first layer, which lower the error of its target, and 0 for the
// layers after it.
func (r *Result) gains() []float64 {
	out := append([]float64(nil), r.Scores...)
	for i, layer := range r.Layers {
		if layer > 1 {
			out[i] = 0
		}
	}
	return out
}
