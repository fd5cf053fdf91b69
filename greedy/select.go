package greedy

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// selectionEngine supplies exact numbers to the criterion: from G in memory (memory.go), from passes over the rows
// (streamed.go), or from the columns of G of candidates (sketched.go).
type selectionEngine interface {
	// makeExact stores the exact f of the listed features, and possibly of other features, in the criterion.
	makeExact(ctx context.Context, features []int) error
	// takeFeature adds p to the chosen features and returns its effect on the criterion, valid until the next call.
	takeFeature(ctx context.Context, p int) (*choiceStep, error)
	// startNextLayer starts another layer. Excluded features were chosen before and do not take part: they are not
	// candidates, and not part of a target that is made of features.
	startNextLayer(ctx context.Context, excluded []bool) (*criterion, error)
	// scoreUnit returns the factor that converts a score from the engine's units to the data's.
	scoreUnit() float64
}

// Select chooses features from the d×d matrix G = XᵀX of the n×d data, which it only reads. For G in full it costs 2kd²
// + 2k²d flops and needs the memory given by [Bytes]. For a factor of r rows it costs r²d + 6krd flops, and needs the
// memory given by [FactorBytes]. Both forms lead to the same choices.
//
// It fails with a *stream.UsageError for options that do not fit d, and with a *stream.DataError if G is not finite.
func Select(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.withDefaults(g.D)
	if err := g.Check(); err != nil {
		return nil, err
	}
	team := kernel.NewTeam(opt.Threads)
	t, err := gramTarget(g), error(nil)
	switch {
	case opt.Partitioned:
		t, err = partitionTarget(team, g, opt.Groups)
	case g.IsFactor():
		t, err = factoredTarget(team, g)
	}
	if err != nil {
		return nil, err
	}
	return selectInMemory(ctx, g, t, opt, nil)
}

// SelectTarget selects like Select, for any matrix B as target (see [Target]); opt must not be Partitioned. Algorithm 1
// is the case B = X. Algorithm 2 is the case in which each column of B is the sum of the columns of a group.
func SelectTarget(ctx context.Context, g *gram.Matrix, t Target, opt Options) (*Result, error) {
	if t.Rows < 1 || len(t.H) != t.Rows*g.D {
		return nil, fmt.Errorf("greedy: H has %d entries, want %d×%d", len(t.H), t.Rows, g.D)
	}
	return selectTarget(ctx, g, t.toTarget(g.D), opt)
}

func selectTarget(ctx context.Context, g *gram.Matrix, t *target, opt Options) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	if opt.Partitioned {
		return nil, stream.Usagef("a given target cannot be combined with the partition-based algorithm")
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	return selectInMemory(ctx, g, t, opt.withDefaults(g.D), nil)
}

func selectInMemory(ctx context.Context, g *gram.Matrix, t *target, opt Options, watch turnWatcher) (*Result, error) {
	m, err := newGramEngine(g, g.Diagonal(opt.Threads), t, opt.Threads)
	if err != nil {
		return nil, err
	}
	m.groups = opt.Groups
	if opt.Blocks != nil {
		return selectBlocks(ctx, m, m, opt)
	}
	r, err := runLayers(ctx, m, m.criterion, opt, watch)
	if err != nil || !opt.Refine {
		return r, err
	}
	return m.refineSelection(ctx, r, opt)
}

// turnWatcher is called with the criterion at the start of each turn, for the scores of SelectSketched and for tests.
type turnWatcher func(c *criterion)
