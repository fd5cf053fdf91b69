package greedy

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StreamOptions are Options for rows that are read several times.
type StreamOptions struct {
	// Options refer to columns of the source: Keep, Forbid, Sets and Groups hold their numbers, and K is at most the
	// number of usable columns.
	Options
	Scale gram.Scale
	Fill  gram.Fill // replacement of missing entries, for a source under stream.MissingKeep
	// Profile describes all rows. If it is nil, one more pass computes it.
	Profile *gram.Profile
	Memory  int64         // largest number of bytes to hold, in addition to the source's chunks; 0 means 1 GiB
	Meter   *stream.Meter // counts all passes; nil counts nothing
	// Pass is called when each pass over the rows begins, with its number, counted from 1, and its purpose. The number
	// of passes is not known beforehand. Pass may be nil.
	Pass func(pass int, what string)
	// Checkpoint saves the results of passes over the rows, so that a later run of the same selection with the same
	// Memory and Threads does not repeat them; nil saves nothing.
	Checkpoint stream.Checkpoint
}

const defaultMemory = 1 << 30

// SelectStream chooses the features that Select would choose from G of the standardized rows, without ever holding G.
// It holds d·k numbers, and uses the rest of Memory to save passes. One pass profiles the columns, and further passes
// compute f⁰, the initial values of the criterion (see StreamPasses). The other passes fetch columns of G, many at a
// time, for the features that a sketch of the rows predicts to be chosen soon. The choice does not depend on them.
//
// Sparse rows that fit into Memory are read once after the profile, and then stay in memory.
//
// Cost: n·d² flops for f⁰ from n rows of d features. For sparse rows it is 2·Σ m² flops, m being the number of entries
// of a row, and d² for the squares. Each candidate, i.e. each feature whose column is fetched, costs up to 6·n·d more.
// With Options.Partitioned it costs 2·n·d, and f⁰ costs 2·n·c·d for c groups. Each turn costs 2(k + candidates held)·d.
//
// The Result numbers columns like the returned Standardizer. SelectStream fails with a *stream.UsageError for options
// that do not fit, with a *stream.MemoryError if Memory is below StreamBytes, and with the source's errors.
func SelectStream(ctx context.Context, src stream.Source, opt StreamOptions) (*Result, *gram.Standardizer, error) {
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
	if opt.Options, err = opt.usableOptions(std, cols); err != nil {
		return nil, nil, err
	}
	opt.Profile = profile
	r, err := selectRows(ctx, src, std, opt, passes)
	return r, std, err
}

// selectRows selects like SelectStream, with a given Profile. Numbers in opt refer to the features of std. passes is
// the number of passes already made.
func selectRows(ctx context.Context, src stream.Source, std *gram.Standardizer, opt StreamOptions, passes int) (*Result, error) {
	d := len(std.Columns)
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	opt.Options = opt.withDefaults(d)
	switch {
	case opt.Refine:
		return nil, errRefineNeedsGram(d)
	case opt.Blocks != nil && !opt.Partitioned:
		return nil, errBlocksNeedGram(remedyWithoutGram)
	case opt.Memory == 0:
		opt.Memory = defaultMemory
	}
	s := &streamEngine{rows: newReader(src, std, &opt), entryCount: opt.Profile.Entries}
	s.rows.Passes = passes
	r, err := s.planAndSelect(ctx, opt)
	if err != nil {
		return nil, err
	}
	r.Passes = s.rows.Passes
	return r, nil
}

func errRefineNeedsGram(d int) error {
	return stream.Usagef("{refine} swap works on the Gram matrix, and that of %d features does not fit: raise {memory-limit}, or leave {refine} out", d)
}

func (s *streamEngine) planAndSelect(ctx context.Context, opt StreamOptions) (*Result, error) {
	c := 0
	if opt.Partitioned {
		c = groupCount(opt.Groups)
	}
	d := s.rows.d
	fixed := fixedBytes(d, opt.Features(opt.K), c, s.entryCount > 0) + streamedBlocksBytes(d, c, opt.Largest(), opt.Threads)
	plan, err := planWithFixed(d, c, fixed, opt.Memory, s.entryCount, s.rows.std.Rows)
	if err != nil {
		return nil, err
	}
	s.applyPlan(plan, opt.Seed)
	if opt.Partitioned {
		s.groups = opt.Groups
		err = s.startPartitionTarget(ctx, c, nil)
	} else {
		err = s.startCriterion(ctx, plan.startGramFloats, nil)
	}
	if err != nil {
		return nil, err
	}
	if opt.Blocks != nil {
		return s.selectBlocks(ctx, plan.slots, opt.Options)
	}
	s.allocateCandidates(plan.slots, plan.batch)
	s.refreshGramFloats = plan.refreshGramFloats
	return runLayers(ctx, s, s.criterion, opt.Options, nil)
}

func (s *streamEngine) applyPlan(plan streamPlan, seed uint64) {
	s.rows.strip = plan.strip
	if plan.inMemory {
		s.rows.keepInMemory(s.entryCount)
		return
	}
	s.sketch = newSketch(s.rows.d, plan.buckets, seed, s.rows.Rows())
}

func (s *streamEngine) startNextLayer(ctx context.Context, excluded []bool) (*criterion, error) {
	s.omegas = nil
	s.sketch.reset()
	var err error
	switch {
	case s.givenTarget != nil:
		err = s.startGivenTarget(ctx, excluded)
	case s.target != nil:
		err = s.startPartitionTarget(ctx, s.target.targetHeight(), excluded)
	default:
		s.criterion = &criterion{chosen: excluded} // the sums leave out these features
		err = s.startCriterion(ctx, s.refreshGramFloats, excluded)
	}
	if err != nil {
		return nil, err
	}
	for k := range s.slotFeature {
		s.slotFeature[k], s.hasProduct[k] = -1, false
	}
	for i := range s.slotOf {
		s.slotOf[i] = -1
	}
	return s.criterion, nil
}

func (s *streamEngine) startCriterion(ctx context.Context, maxNumbers int64, excluded []bool) error {
	d := s.rows.d
	const purpose = "start of the criterion"
	var f, diag, size []float64
	var err error
	if s.canStartByEntries() {
		f, diag, size, err = s.startByEntries(ctx, purpose, maxNumbers)
	} else {
		f, _, diag, err = s.residualNorms(ctx, purpose, maxNumbers, true)
	}
	if err != nil {
		return err
	}
	for i, x := range diag {
		if !(x >= 0 && f[i] <= math.MaxFloat64) {
			return errBadEntry("G", i, i, x/s.rows.unit)
		}
	}
	s.criterion = newCriterion(f, diag, true, excluded)
	for i, v := range size {
		s.errBound[i] = roundingBound(d) * v
	}
	return nil
}

// startPartitionTarget computes H = BᵀA, g⁰ and the sketch for Algorithm 2 in one pass.
func (s *streamEngine) startPartitionTarget(ctx context.Context, c int, excluded []bool) error {
	d := s.rows.d
	groups := groupsWithout(s.groups, excluded)
	h, g0 := room.MakeSlice[float64](c*d), make([]float64, d)
	err := s.rows.runPass(ctx, rowPass{purpose: "sums of the groups", sums: append(s.sketch.passSums(), h, g0), addBlock: func(b *rowBlock) {
		if b.sparse == nil {
			s.scratch = rows.Resize(s.scratch, c*b.rows)
		}
		s.rows.addGroupProducts(b, h, groups, c, s.scratch)
		s.rows.addSquares(b, g0)
		s.sketch.addRows(s.rows, b)
	}, finish: func() {
		s.rows.unshiftGroupProducts(h, groups, c)
		s.rows.unshiftSquares(g0)
		s.sketch.removeShift(s.rows)
	}})
	if err != nil {
		return err
	}
	if s.target, err = newGramEngine(nil, g0, (&Target{Rows: c, H: h}).toTarget(d), s.rows.workers); err == nil && excluded != nil {
		err = s.target.startLayer(g0, excluded)
	}
	if err != nil {
		return err
	}
	s.criterion = s.target.criterion
	return nil
}

func (r *reader) addSquares(b *rowBlock, g []float64) {
	if b.sparse == nil {
		r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
			kernel.Each(r.workers, x.Rows, func(j int) {
				col := x.Data[j*b.rows : (j+1)*b.rows]
				g[at+j] += kernel.Dot(col, col)
			})
		})
		return
	}
	kernel.Each(r.workers, r.d, func(j int) {
		for k := b.sparse.colPtr[j]; k < b.sparse.colPtr[j+1]; k++ {
			x := b.sparse.value[b.sparse.entryAt[k]]
			g[j] += b.sparse.weight[b.sparse.entryRow[k]] * x * x
		}
	})
}

func (r *reader) unshiftSquares(g []float64) {
	if r.weight == 0 {
		return
	}
	for j, s := range r.shift {
		g[j] += s*s*r.weight - 2*s*r.sum[j]
	}
}
