package outofcore

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/blocks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/refine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/stream"
)

const defaultMemory = 1 << 30 // bytes

// SelectStream implements greedy.SelectStream: it chooses as greedy.Select does, but without holding G.
func SelectStream(ctx context.Context, src stream.Source, opt selection.StreamOptions) (*selection.Result, *gram.Standardizer, error) {
	cols := src.Columns()
	if err := opt.Validate(len(cols)); err != nil {
		return nil, nil, err
	}
	profile, passes := opt.Profile, 0
	if profile == nil {
		if opt.Pass != nil {
			opt.Pass(1, "profile of the columns")
		}
		profile, passes = gram.NewProfile(len(cols)), 1
		if err := stream.Fold(ctx, src, stream.FoldOptions{Meter: opt.Meter}, profile); err != nil {
			return nil, nil, err
		}
	}
	std, err := gram.NewStandardizer(profile, cols, opt.Scale, opt.Fill)
	if err != nil {
		return nil, nil, err
	}
	if opt.Options, err = optionsForUsableColumns(opt, std, cols); err != nil {
		return nil, nil, err
	}
	opt.Profile = profile
	r, err := SelectRows(ctx, src, std, opt, passes)
	return r, std, err
}

// SelectRows chooses features from the rows of src as SelectStream does, for a given Profile in opt. Numbers in opt
// refer to the features of std. passes is the number of passes already made.
func SelectRows(ctx context.Context, src stream.Source, std *gram.Standardizer, opt selection.StreamOptions, passes int) (*selection.Result, error) {
	d := len(std.Columns)
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	opt.Options = opt.WithDefaults(d)
	switch {
	case opt.Refine:
		return nil, refine.ErrNeedsGram(d)
	case opt.Blocks != nil && opt.Groups == nil:
		return nil, blocks.ErrNeedGram(blocks.RemedyWithoutGram)
	case opt.Memory == 0:
		opt.Memory = defaultMemory
	}
	s := &streamEngine{rows: scan.NewReader(src, std, &opt), entryCount: opt.Profile.Entries}
	s.rows.Source.Passes = passes
	r, err := s.planAndSelect(ctx, opt)
	if err != nil {
		return nil, err
	}
	r.Passes = s.rows.Source.Passes
	return r, nil
}

func (s *streamEngine) planAndSelect(ctx context.Context, opt selection.StreamOptions) (*selection.Result, error) {
	c := 0
	if opt.Groups != nil {
		c = target.GroupCount(opt.Groups)
	}
	d := s.rows.D
	fixed := fixedBytes(d, opt.Features(opt.K), c, s.entryCount > 0) + BlocksBytes(d, c, opt.Largest(), opt.Threads)
	plan, err := planRemainingMemory(d, c, fixed, opt.Memory, s.entryCount, s.rows.Std.Rows)
	if err != nil {
		return nil, err
	}
	s.applyPlan(plan, opt.Seed)
	if opt.Groups != nil {
		s.groups = opt.Groups
		err = s.startPartitionTarget(ctx, c, nil)
	} else {
		err = s.startCriterion(ctx, plan.startGramFloats, nil)
	}
	if err != nil {
		return nil, err
	}
	if opt.Blocks != nil {
		return selectBlocksByPasses(ctx, s, plan.slots, opt.Options)
	}
	s.allocateCandidates(plan.slots, plan.batch)
	s.refreshGramFloats = plan.refreshGramFloats
	return engine.RunLayers(ctx, s, s.Criterion, opt.Options, nil)
}

func (s *streamEngine) applyPlan(plan streamPlan, seed uint64) {
	s.rows.Strip = plan.strip
	if plan.inMemory {
		s.rows.KeepInMemory(s.entryCount)
		return
	}
	s.sketch = scan.NewSketch(s.rows.D, plan.buckets, seed, s.rows.Source.Rows())
}
