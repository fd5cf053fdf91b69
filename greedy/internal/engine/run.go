package engine

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RunLayers makes a selection in layers, each of which is a sequence of turns. It is used for all targets and engines.
//
// A layer ends when nothing is left to explain. If fewer than K features are chosen by then, another layer is chosen
// among the remaining features as if the features of earlier layers were absent. Its first features are the best
// substitutes for the first layer. With Variance or MinGain there is only one layer.
func RunLayers(ctx context.Context, e Engine, c *Criterion, opt selection.Options, watch Watcher) (*selection.Result, error) {
	r := NewRecorder(c, opt.Explain)
	g := NewFilter(opt.Choice, c.FeatureCount)
	for {
		g.retireExcluded(c)
		before := len(r.Order)
		end, err := r.chooseLayer(ctx, e, c, g, opt, watch)
		if err != nil {
			return nil, err
		}
		if end == NotEnded || len(r.Order) == before && r.CurrentLayer() > 1 {
			break // k is reached, or nothing is left that another layer could choose
		}
		r.LayerEnds = append(r.LayerEnds, LayerEnd{end, len(r.Order)})
		if opt.Variance > 0 || opt.MinGain > 0 || len(r.Order) == opt.K || len(r.Order) == before {
			break
		}
		excluded := make([]bool, c.FeatureCount)
		for _, p := range r.Order {
			excluded[p] = true
		}
		if c, err = e.StartNextLayer(ctx, excluded); err != nil {
			return nil, err
		}
		r.PrepareNextLayer(end)
	}
	return r.FinishResult(opt), nil
}

func (r *Recorder) chooseLayer(ctx context.Context, e Engine, c *Criterion, g *Filter, opt selection.Options, watch Watcher) (EndReason, error) {
	for turn := len(r.Order); turn < opt.K; turn++ {
		if err := ctx.Err(); err != nil {
			return NotEnded, err
		}
		if watch != nil {
			watch(c)
		}
		var p int
		var ties []int
		if turn < len(opt.Keep) {
			p = opt.Keep[turn]
			g.CountChosen(p)
			if !c.Alive[p] {
				r.Redundant = append(r.Redundant, p)
				c.RetireFeature(p)
				r.RecordFeature(p, 0, nil, c)
				continue
			}
		} else {
			if opt.Variance > 0 && r.ExplainedShare() >= opt.Variance {
				break
			}
			var end EndReason
			var err error
			if p, ties, end, err = c.chooseFeature(ctx, e); err != nil || end != NotEnded {
				return end, err
			}
		}
		s, err := e.TakeFeature(ctx, p)
		if err != nil {
			return NotEnded, err
		}
		if turn >= len(opt.Keep) && opt.MinGain > 0 {
			if gain := r.stepGainShare(s, e, opt); gain < opt.MinGain && turn == 0 {
				return NotEnded, stream.Usagef("{min-gain} %v: no feature gains as much; the first gains %.2g", opt.MinGain, gain)
			} else if gain < opt.MinGain {
				break
			}
		}
		if ties != nil {
			r.Ties = append(r.Ties, selection.Tie{Turn: turn, Columns: ties})
		}
		c.ApplyStep(p, s)
		if len(r.LayerEnds) == 0 {
			r.FirstOmegas = append(r.FirstOmegas, s.Omega)
		}
		r.RecordFeature(p, s.Score*e.ScoreUnit(), s.Column, c)
		if turn >= len(opt.Keep) {
			g.CountChosen(p)
		}
		g.retireExcluded(c)
	}
	return NotEnded, nil
}

// stepGainShare returns the share of the target that a step explains. For the target X it is Σω²/‖X‖², and for another
// target the score divided by the squared norm of the target.
func (r *Recorder) stepGainShare(s *Step, e Engine, opt selection.Options) float64 {
	gained, whole := floats.Dot(s.Omega, s.Omega), r.Total
	if len(r.explain) > 0 {
		gained = r.sumExplained(floats.MulTo(make([]float64, len(s.Omega)), s.Omega, s.Omega))
	}
	if opt.TargetSquares > 0 {
		gained, whole = s.Score*e.ScoreUnit(), opt.TargetSquares
	}
	if whole <= 0 {
		return 0
	}
	return gained / whole
}
