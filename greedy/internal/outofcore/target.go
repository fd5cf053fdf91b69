package outofcore

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/refine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/stream"
)

// SelectTarget chooses features that reconstruct the target t, as inmemory.SelectMatrix does, but without G in memory.
// As in SelectStream, passes over the rows of src compute columns of G for the features that are likely to be chosen
// soon. The criterion f needs only the target, which is in memory. The choice does not depend on the number of passes.
func SelectTarget(ctx context.Context, src stream.Source, std *gram.Standardizer, t *target.Matrix, opt selection.StreamOptions) (*selection.Result, error) {
	d := len(std.Columns)
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	if opt.Refine {
		return nil, refine.ErrNeedsGram(d)
	}
	opt.Options = opt.WithDefaults(d)
	s := &streamEngine{rows: scan.NewReader(src, std, &opt), givenTarget: t}
	t.Unit = s.rows.Unit
	if opt.Profile != nil {
		s.entryCount = opt.Profile.Entries
	}
	fixed := targetFixedBytes(d, opt.Features(opt.K), t.Height, s.entryCount > 0) + BlocksBytes(d, t.Height, opt.Largest(), opt.Threads)
	plan, err := planRemainingMemory(d, t.Height, fixed, opt.Memory, s.entryCount, s.rows.Std.Rows)
	if err != nil {
		return nil, err
	}
	s.applyPlan(plan, opt.Seed)
	if err := s.startGivenTarget(ctx, nil); err != nil {
		return nil, err
	}
	var r *selection.Result
	if opt.Blocks != nil {
		r, err = selectBlocksByPasses(ctx, s, plan.slots, opt.Options)
	} else {
		s.allocateCandidates(plan.slots, plan.batch)
		s.refreshGramFloats = plan.refreshGramFloats
		r, err = engine.RunLayers(ctx, s, s.Criterion, opt.Options, nil)
	}
	if err != nil {
		return nil, err
	}
	r.Passes = s.rows.Source.Passes
	return r, nil
}
