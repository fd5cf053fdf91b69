package greedy

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/stream"
)

// run is the selection itself, the same for all targets and both engines: layers of turns.
//
// A layer ends where nothing is left to explain. As long as fewer than K are chosen, another
// follows, of the features not chosen yet, as if those before were not there: what it chooses
// first is the best stand-in for the first layer. A share to explain, or to gain, ends with the first.
func run(ctx context.Context, e engine, c *criterion, opt Options, watch watcher) (*Result, error) {
	r := newRecorder(c)
	g := newGate(opt.Choice, c.d)
	for {
		g.close(c)
		before := len(r.Order)
		end, err := r.layer(ctx, e, c, g, opt, watch)
		if err != nil {
			return nil, err
		}
		if end == notEnded || len(r.Order) == before && r.current() > 1 {
			break // k is reached, or nothing is left that another layer could choose
		}
		r.ends = append(r.ends, layerEnd{end, len(r.Order)})
		if opt.Variance > 0 || opt.MinGain > 0 || len(r.Order) == opt.K || len(r.Order) == before {
			break
		}
		out := make([]bool, c.d)
		for _, p := range r.Order {
			out[p] = true
		}
		if c, err = e.next(ctx, out); err != nil {
			return nil, err
		}
		r.follow(end)
	}
	return r.finish(opt), nil
}

// layer chooses features until there are K, or nothing is left to explain.
func (r *recorder) layer(ctx context.Context, e engine, c *criterion, g *gate, opt Options, watch watcher) (ending, error) {
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
			g.count(p)
			if !c.alive[p] {
				r.Redundant = append(r.Redundant, p)
				c.retire(p)
				r.add(p, 0, nil, c)
				continue
			}
		} else {
			if opt.Variance > 0 && r.share() >= opt.Variance {
				break
			}
			var ties []int
			var end ending
			var err error
			if p, ties, end, err = c.choose(ctx, e); err != nil || end != notEnded {
				return end, err
			}
			if ties != nil {
				r.Ties = append(r.Ties, Tie{turn, ties})
			}
		}
		s, err := e.take(ctx, p)
		if err != nil {
			return notEnded, err
		}
		if turn >= len(opt.Keep) && opt.MinGain > 0 {
			if gain := r.gain(s, e, opt); gain < opt.MinGain && turn == 0 {
				return notEnded, stream.Usagef("{min-gain} %v: no feature gains as much; the first gains %.2g", opt.MinGain, gain)
			} else if gain < opt.MinGain {
				break
			}
		}
		c.advance(p, s)
		if len(r.ends) == 0 {
			r.omegas = append(r.omegas, s.omega)
		}
		r.add(p, s.score*e.scoreUnit(), s.column, c)
		if turn >= len(opt.Keep) {
			g.count(p)
		}
		g.close(c)
	}
	return notEnded, nil
}

// gain is the share that a step takes off the whole: Σω² of ‖X‖², or its score of another target.
func (r *recorder) gain(s *step, e engine, opt Options) float64 {
	gained, whole := floats.Dot(s.omega, s.omega), r.total
	if opt.whole > 0 {
		gained, whole = s.score*e.scoreUnit(), opt.whole
	}
	if whole <= 0 {
		return 0
	}
	return gained / whole
}
