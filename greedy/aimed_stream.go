package greedy

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// selectTargetStream makes the same choice as selectTarget, but without G in memory. As in [SelectStream], passes over
// the rows of src compute columns of G for the features that are likely to be chosen soon. The criterion f needs only
// the target, which is in memory. The choice does not depend on the number of passes.
func selectTargetStream(ctx context.Context, src stream.Source, std *gram.Standardizer, t *target, opt StreamOptions) (*Result, error) {
	d := len(std.Columns)
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	if opt.Refine {
		return nil, errRefineNeedsGram(d)
	}
	opt.Options = opt.withDefaults(d)
	s := &streamEngine{rows: newReader(src, std, &opt), givenTarget: t}
	t.unit = s.rows.unit
	if opt.Profile != nil {
		s.entryCount = opt.Profile.Entries
	}
	fixed := targetFixedBytes(d, opt.Features(opt.K), t.height, s.entryCount > 0) + streamedBlocksBytes(d, t.height, opt.Largest(), opt.Threads)
	plan, err := planWithFixed(d, t.height, fixed, opt.Memory, s.entryCount, s.rows.std.Rows)
	if err != nil {
		return nil, err
	}
	s.applyPlan(plan, opt.Seed)
	if err := s.startGivenTarget(ctx, nil); err != nil {
		return nil, err
	}
	var r *Result
	if opt.Blocks != nil {
		r, err = s.selectBlocks(ctx, plan.slots, opt.Options)
	} else {
		s.allocateCandidates(plan.slots, plan.batch)
		s.refreshGramFloats = plan.refreshGramFloats
		r, err = runLayers(ctx, s, s.criterion, opt.Options, nil)
	}
	if err != nil {
		return nil, err
	}
	r.Passes = s.rows.Passes
	return r, nil
}

func (s *streamEngine) startGivenTarget(ctx context.Context, excluded []bool) error {
	g0 := make([]float64, s.rows.d)
	err := s.rows.runPass(ctx, rowPass{purpose: "start of the criterion", sums: append(s.sketch.passSums(), g0), addBlock: func(b *rowBlock) {
		s.rows.addSquares(b, g0)
		s.sketch.addRows(s.rows, b)
	}, finish: func() {
		s.rows.unshiftSquares(g0)
		s.sketch.removeShift(s.rows)
	}})
	if err != nil {
		return err
	}
	if excluded != nil {
		if err := s.givenTarget.startLayer(s.rows.team, excluded); err != nil {
			return err
		}
	}
	if s.target, err = newGramEngine(nil, g0, s.givenTarget, s.rows.workers); err == nil && excluded != nil {
		err = s.target.startLayer(g0, excluded)
	}
	if err != nil {
		return err
	}
	s.criterion = s.target.criterion
	return nil
}
