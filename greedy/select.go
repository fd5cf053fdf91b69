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
	// next starts another layer: the features that are out, chosen before, take no part in it,
	// neither as candidates nor as target, where the target is made of features.
	next(ctx context.Context, out []bool) (*criterion, error)
	// scoreUnit is what a score of 1 in the engine's units is in the data's.
	scoreUnit() float64
}

// Target is the matrix B to be reconstructed from the chosen columns, seen from the
// features: H = BᵀX.
type Target struct {
	Rows int       // c, the columns of B
	H    []float64 // c×d row-major; Hᵢ column i is Bᵀxᵢ
	// Own says that column j of B is made of feature j alone: it leaves the target of a second
	// layer with the feature. Other targets stay whole.
	Own bool
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
	m.groups = opt.Groups
	r, err := run(ctx, m, m.criterion, opt, watch)
	if err != nil || !opt.Refine {
		return r, err
	}
	return m.refine(ctx, r, opt)
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
