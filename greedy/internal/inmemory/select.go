package inmemory

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/blocks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/refine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// SelectFeatures implements greedy.Select: it chooses features from the Gram matrix G.
func SelectFeatures(ctx context.Context, g *gram.Matrix, opt selection.Options) (*selection.Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(g.D)
	if err := g.Check(); err != nil {
		return nil, err
	}
	t, err := target.NewData(kernel.NewTeam(opt.Threads), g, opt.Groups)
	if err != nil {
		return nil, err
	}
	return ChooseFeatures(ctx, g, t, opt, nil)
}

// SelectTarget implements greedy.SelectTarget: it chooses features that reconstruct the target t.
func SelectTarget(ctx context.Context, g *gram.Matrix, t selection.Target, opt selection.Options) (*selection.Result, error) {
	if t.Rows < 1 || len(t.H) != t.Rows*g.D {
		return nil, fmt.Errorf("greedy: H has %d entries, want %d×%d", len(t.H), t.Rows, g.D)
	}
	return SelectMatrix(ctx, g, target.NewGiven(t, g.D), opt)
}

// SelectMatrix chooses features as SelectTarget does, for a target in the form LU, see [target.Matrix].
func SelectMatrix(ctx context.Context, g *gram.Matrix, t *target.Matrix, opt selection.Options) (*selection.Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	if opt.Partitioned {
		return nil, stream.Usagef("a given target cannot be combined with the partition-based algorithm")
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	return ChooseFeatures(ctx, g, t, opt.WithDefaults(g.D), nil)
}

// ChooseFeatures chooses features for the target t, by options that are valid and complete. watch may be nil.
func ChooseFeatures(ctx context.Context, g *gram.Matrix, t *target.Matrix, opt selection.Options, watch engine.Watcher) (*selection.Result, error) {
	m, err := engine.NewGram(g, g.Diagonal(opt.Threads), t, opt.Threads)
	if err != nil {
		return nil, err
	}
	m.Groups = opt.Groups
	if opt.Blocks != nil {
		return blocks.SelectBlocks(ctx, m, blocks.InMemory{Engine: m}, opt)
	}
	r, err := engine.RunLayers(ctx, m, m.Criterion, opt, watch)
	if err != nil || !opt.Refine {
		return r, err
	}
	return refine.ImproveSelection(ctx, m, r, opt)
}
