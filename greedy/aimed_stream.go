package greedy

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// selectTargetStream is selectTarget where there is no G: passes over the rows of src fetch its columns
// for the features that are likely to be chosen soon, as those of [SelectStream] do; f comes from the
// target alone. What is chosen depends on the number of passes no more than there.
func selectTargetStream(ctx context.Context, src stream.Source, std *gram.Standardizer, t *target, opt StreamOptions) (*Result, error) {
	d := len(std.Columns)
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	if opt.Refine {
		return nil, refuseRefining(d)
	}
	opt.Options = opt.withDefaults(d)
	s := &streamed{rows: newReader(src, std, &opt), aim: t}
	t.unit = s.rows.unit
	if opt.Profile != nil {
		s.entries = opt.Profile.Entries
	}
	fixed := aimedFixedBytes(d, opt.Features(opt.K), t.rows, s.entries > 0) + streamedBlocksBytes(d, t.rows, opt.Largest(), opt.Threads)
	plan, err := planBeside(d, t.rows, fixed, opt.Memory, s.entries, s.rows.std.Rows)
	if err != nil {
		return nil, err
	}
	s.begin(plan, opt.Seed)
	if err := s.startAimed(ctx, nil); err != nil {
		return nil, err
	}
	var r *Result
	if opt.Blocks != nil {
		r, err = s.selectBlocks(ctx, plan.slots, opt.Options)
	} else {
		s.hold(plan.slots, plan.batch)
		s.run = plan.refresh
		r, err = run(ctx, s, s.criterion, opt.Options, nil)
	}
	if err != nil {
		return nil, err
	}
	r.Passes = s.rows.Passes
	return r, nil
}

// startAimed computes g⁰ and the sketch in one pass.
func (s *streamed) startAimed(ctx context.Context, out []bool) error {
	g0 := make([]float64, s.rows.d)
	err := s.rows.pass(ctx, reading{what: "start of the criterion", sums: append(s.sketch.sums(), g0), add: func(b *block) {
		s.rows.addSquares(b, g0)
		s.sketch.add(s.rows, b)
	}, finish: func() {
		s.rows.finishSquares(g0)
		s.sketch.finish(s.rows)
	}})
	if err != nil {
		return err
	}
	if out != nil {
		if err := s.aim.begin(s.rows.team, out); err != nil {
			return err
		}
	}
	if s.target, err = newMemory(nil, g0, s.aim, s.rows.workers); err == nil && out != nil {
		err = s.target.begin(g0, out)
	}
	if err != nil {
		return err
	}
	s.criterion = s.target.criterion
	return nil
}
