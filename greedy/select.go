package greedy

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/stream"
)

// engine supplies the exact numbers that the criterion asks for: from G in memory
// (memory.go), or from passes over the rows (outofcore.go).
type engine interface {
	// settle puts the exact f of the listed features, and of any others it likes,
	// into the criterion.
	settle(ctx context.Context, features []int) error
	// take makes feature p part of S. The step is lent until the next call.
	take(ctx context.Context, p int) (*step, error)
	// scoreUnit is what a score of 1 in the engine's units is in the data's.
	scoreUnit() float64
}

// Target is the matrix B to be reconstructed from the chosen columns, seen from the
// features: H = BᵀX.
type Target struct {
	Rows int       // c, the columns of B
	H    []float64 // c×d row-major; Hᵢ column i is Bᵀxᵢ
}

// Select chooses features from sym, the d×d symmetric matrix G = XᵀX of the n×d
// data (row-major, both triangles), which it only reads. Time 2kd² + 2k²d, and
// Bytes(d, k, c) of memory beside sym.
//
// It fails with a *stream.UsageError for options that do not fit d, and with a
// *stream.DataError where sym is not finite.
func Select(ctx context.Context, sym []float64, d int, opt Options) (*Result, error) {
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	opt = opt.withDefaults(d)
	if err := sizes(sym, d, nil); err != nil {
		return nil, err
	}
	var target *Target
	if opt.Partitioned {
		target = partitionTarget(sym, d, opt.Groups, opt.Threads)
	}
	return selectMemory(ctx, sym, d, target, opt, nil)
}

// SelectTarget is Select for any target; opt must not be Partitioned. The partition-
// based Algorithm 2 is the one with B = the sums of each group's columns, Select
// the one with B = X.
func SelectTarget(ctx context.Context, sym []float64, d int, target Target, opt Options) (*Result, error) {
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	if opt.Partitioned {
		return nil, stream.Usagef("a target of one's own excludes the partition-based one")
	}
	if err := sizes(sym, d, &target); err != nil {
		return nil, err
	}
	return selectMemory(ctx, sym, d, &target, opt.withDefaults(d), nil)
}

func sizes(sym []float64, d int, target *Target) error {
	if len(sym) != d*d {
		return fmt.Errorf("greedy: G has %d entries, want %d×%d", len(sym), d, d)
	}
	if target != nil && (target.Rows < 1 || len(target.H) != target.Rows*d) {
		return fmt.Errorf("greedy: H has %d entries, want %d×%d", len(target.H), target.Rows, d)
	}
	return nil
}

func selectMemory(ctx context.Context, sym []float64, d int, target *Target, opt Options, watch watcher) (*Result, error) {
	m, err := newMemory(sym, diagonal(sym, d), target, opt.Threads)
	if err != nil {
		return nil, err
	}
	return run(ctx, m, m.criterion, opt, watch)
}

func diagonal(sym []float64, d int) []float64 {
	diag := make([]float64, d)
	for i := range diag {
		diag[i] = sym[i*d+i]
	}
	return diag
}

// watcher sees the criterion at the start of each turn, and after the last; tests
// compare it with the fixtures.
type watcher func(c *criterion)

// run is the selection itself, the same for both algorithms and both engines.
func run(ctx context.Context, e engine, c *criterion, opt Options, watch watcher) (*Result, error) {
	r := newRecorder(c)
	end := notEnded
	for turn := 0; turn < opt.K && end == notEnded; turn++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if watch != nil {
			watch(c)
		}
		var p int
		if turn < len(opt.Keep) {
			p = opt.Keep[turn]
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
			var err error
			if p, ties, end, err = c.choose(ctx, e); err != nil {
				return nil, err
			}
			if end != notEnded {
				break
			}
			if ties != nil {
				r.Ties = append(r.Ties, Tie{turn, ties})
			}
		}
		s, err := e.take(ctx, p)
		if err != nil {
			return nil, err
		}
		c.advance(p, s)
		r.add(p, s.score*e.scoreUnit(), s.column, c)
	}
	return r.finish(c, opt, end), nil
}
