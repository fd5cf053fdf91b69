package greedy

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/stream"
)

// runLayers makes a selection in layers, each of which is a sequence of turns. It is used for all targets and engines.
//
// A layer ends when nothing is left to explain. If fewer than K features are chosen by then, another layer is chosen
// among the remaining features as if the features of earlier layers were absent. Its first features are the best
// substitutes for the first layer. With Variance or MinGain there is only one layer.
func runLayers(ctx context.Context, e selectionEngine, c *criterion, opt Options, watch turnWatcher) (*Result, error) {
	r := newRecorder(c)
	g := newChoiceFilter(opt.Choice, c.featureCount)
	for {
		g.removeExcluded(c)
		before := len(r.Order)
		end, err := r.chooseLayer(ctx, e, c, g, opt, watch)
		if err != nil {
			return nil, err
		}
		if end == notEnded || len(r.Order) == before && r.currentLayer() > 1 {
			break // k is reached, or nothing is left that another layer could choose
		}
		r.layerEnds = append(r.layerEnds, layerEnd{end, len(r.Order)})
		if opt.Variance > 0 || opt.MinGain > 0 || len(r.Order) == opt.K || len(r.Order) == before {
			break
		}
		excluded := make([]bool, c.featureCount)
		for _, p := range r.Order {
			excluded[p] = true
		}
		if c, err = e.startNextLayer(ctx, excluded); err != nil {
			return nil, err
		}
		r.prepareNextLayer(end)
	}
	return r.finishResult(opt), nil
}

func (r *resultRecorder) chooseLayer(ctx context.Context, e selectionEngine, c *criterion, g *choiceFilter, opt Options, watch turnWatcher) (endReason, error) {
	for turn := len(r.Order); turn < opt.K; turn++ {
		if err := ctx.Err(); err != nil {
			return notEnded, err
		}
		if watch != nil {
			watch(c)
		}
		var p int
		if turn < len(opt.Keep) {
			p = opt.Keep[turn]
			g.countChosen(p)
			if !c.alive[p] {
				r.Redundant = append(r.Redundant, p)
				c.retireFeature(p)
				r.recordFeature(p, 0, nil, c)
				continue
			}
		} else {
			if opt.Variance > 0 && r.explainedShare() >= opt.Variance {
				break
			}
			var ties []int
			var end endReason
			var err error
			if p, ties, end, err = c.chooseFeature(ctx, e); err != nil || end != notEnded {
				return end, err
			}
			if ties != nil {
				r.Ties = append(r.Ties, Tie{turn, ties})
			}
		}
		s, err := e.takeFeature(ctx, p)
		if err != nil {
			return notEnded, err
		}
		if turn >= len(opt.Keep) && opt.MinGain > 0 {
			if gain := r.stepGainShare(s, e, opt); gain < opt.MinGain && turn == 0 {
				return notEnded, stream.Usagef("{min-gain} %v: no feature gains as much; the first gains %.2g", opt.MinGain, gain)
			} else if gain < opt.MinGain {
				break
			}
		}
		c.applyStep(p, s)
		if len(r.layerEnds) == 0 {
			r.firstOmegas = append(r.firstOmegas, s.omega)
		}
		r.recordFeature(p, s.score*e.scoreUnit(), s.column, c)
		if turn >= len(opt.Keep) {
			g.countChosen(p)
		}
		g.removeExcluded(c)
	}
	return notEnded, nil
}

// stepGainShare returns the share of the target that a step explains. For the target X it is Σω²/‖X‖², and for another
// target the score divided by the squared norm of the target.
func (r *resultRecorder) stepGainShare(s *choiceStep, e selectionEngine, opt Options) float64 {
	gained, whole := floats.Dot(s.omega, s.omega), r.total
	if opt.targetSquares > 0 {
		gained, whole = s.score*e.scoreUnit(), opt.targetSquares
	}
	if whole <= 0 {
		return 0
	}
	return gained / whole
}
