package greedy

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
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

// Select chooses features from the d×d matrix G = XᵀX of the n×d data, which it only reads. Time
// 2kd² + 2k²d and [Bytes] of memory for G in full; of a factor of r rows r²d once more, 6krd, and
// [FactorBytes]. The choices are the same.
//
// It fails with a *stream.UsageError for options that do not fit d, and with a
// *stream.DataError where G is not finite.
func Select(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.withDefaults(g.D)
	if err := g.Check(); err != nil {
		return nil, err
	}
	team := kernel.NewTeam(opt.Threads)
	t, err := fullTarget(g), error(nil)
	switch {
	case opt.Partitioned:
		t, err = partitionTarget(team, g, opt.Groups)
	case g.IsFactor():
		t, err = factoredTarget(team, g)
	}
	if err != nil {
		return nil, err
	}
	return selectMemory(ctx, g, t, opt, nil)
}

// SelectTarget is Select for any target; opt must not be Partitioned. The partition-
// based Algorithm 2 is the one with B = the sums of each group's columns, Select
// the one with B = X.
func SelectTarget(ctx context.Context, g *gram.Matrix, t Target, opt Options) (*Result, error) {
	if t.Rows < 1 || len(t.H) != t.Rows*g.D {
		return nil, fmt.Errorf("greedy: H has %d entries, want %d×%d", len(t.H), t.Rows, g.D)
	}
	return selectTarget(ctx, g, t.target(g.D), opt)
}

func selectTarget(ctx context.Context, g *gram.Matrix, t *target, opt Options) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	if opt.Partitioned {
		return nil, stream.Usagef("a target of one's own excludes the partition-based one")
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	return selectMemory(ctx, g, t, opt.withDefaults(g.D), nil)
}

func selectMemory(ctx context.Context, g *gram.Matrix, t *target, opt Options, watch watcher) (*Result, error) {
	m, err := newMemory(g, g.Diagonal(opt.Threads), t, opt.Threads)
	if err != nil {
		return nil, err
	}
	m.groups = opt.Groups
	if opt.Blocks != nil {
		return selectBlocks(ctx, m, m, opt)
	}
	r, err := run(ctx, m, m.criterion, opt, watch)
	if err != nil || !opt.Refine {
		return r, err
	}
	return m.refine(ctx, r, opt)
}

// watcher sees the criterion at the start of each turn, and after the last; tests
// compare it with the fixtures.
type watcher func(c *criterion)
