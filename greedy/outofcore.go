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

// StreamOptions are Options for rows that are read again and again.
type StreamOptions struct {
	// Options speak of the source's columns: Keep, Forbid, Sets and Groups have their numbers, and
	// K is bounded by those that are usable.
	Options
	Scale gram.Scale
	Fill  gram.Fill // of missing entries, for a source under stream.MissingKeep
	// Profile describes all rows, where the caller has it already; nil takes a pass.
	Profile *gram.Profile
	Memory  int64         // bytes to hold at most beside the source's chunks; 0 means 1 GiB
	Meter   *stream.Meter // counts all passes; nil counts nothing
	// Pass is called as each pass over the rows begins, with its number, counted from
	// 1, and its purpose. The number of passes is not known beforehand. Nil does nothing.
	Pass func(pass int, what string)
	// Checkpoint keeps what the passes over the rows come to, for the same selection with the same
	// Memory and Threads later on, which does not make them again; nil keeps nothing.
	Checkpoint stream.Checkpoint
}

const defaultMemory = 1 << 30

// SelectStream chooses the features that Select would from G of the standardized
// rows, without ever holding G: in d·k numbers and what Memory leaves for working
// in few passes. One pass profiles the columns; StreamPasses compute f⁰; the others
// fetch columns of G of the features that a sketch of the rows predicts to be chosen
// soon, many at a time. What is chosen depends on neither sketch nor Memory.
//
// Sparse rows that fit into Memory are read once more and stay there.
//
// Cost: nd² flops for f⁰ (of sparse rows 2·Σ entries² of a row, and d² for the squares), then up to 6nd for each candidate (2nd with Options.
// Partitioned, where f⁰ costs 2ncd), and 2(k + candidates held)·d a turn.
//
// The Result numbers columns as the returned Standardizer does. It fails with a
// *stream.UsageError for options that do not fit, with a *stream.MemoryError where
// Memory is below StreamBytes, and with what the source fails with.
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
	if opt.Options, err = opt.usable(std, cols); err != nil {
		return nil, nil, err
	}
	opt.Profile = profile
	r, err := selectRows(ctx, src, std, opt, passes)
	return r, std, err
}

// selectRows is SelectStream for the features of std, whose numbers opt has, and a Profile that is there, after so many
// passes.
func selectRows(ctx context.Context, src stream.Source, std *gram.Standardizer, opt StreamOptions, passes int) (*Result, error) {
	d := len(std.Columns)
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	opt.Options = opt.withDefaults(d)
	switch {
	case opt.Refine:
		return nil, refuseRefining(d)
	case opt.Blocks != nil && !opt.Partitioned:
		return nil, refuseBlocks(withoutGram)
	case opt.Memory == 0:
		opt.Memory = defaultMemory
	}
	s := &streamed{rows: newReader(src, std, &opt), entries: opt.Profile.Entries}
	s.rows.Passes = passes
	r, err := s.selectAll(ctx, opt)
	if err != nil {
		return nil, err
	}
	r.Passes = s.rows.Passes
	return r, nil
}

// refuseRefining says why rows that are read again and again are not for exchanges.
func refuseRefining(d int) error {
	return stream.Usagef("{refine} swap works on the Gram matrix, and that of %d features does not fit: raise {memory-limit}, or leave {refine} out", d)
}

// selectAll runs the selection on options with defaults.
func (s *streamed) selectAll(ctx context.Context, opt StreamOptions) (*Result, error) {
	c := 0
	if opt.Partitioned {
		c = groupCount(opt.Groups)
	}
	d := s.rows.d
	fixed := fixedBytes(d, opt.Features(opt.K), c, s.entries > 0) + streamedBlocksBytes(d, c, opt.Largest(), opt.Threads)
	plan, err := planBeside(d, c, fixed, opt.Memory, s.entries, s.rows.std.Rows)
	if err != nil {
		return nil, err
	}
	s.begin(plan, opt.Seed)
	if opt.Partitioned {
		s.groups = opt.Groups
		err = s.startGroups(ctx, c, nil)
	} else {
		err = s.start(ctx, plan.start, nil)
	}
	if err != nil {
		return nil, err
	}
	if opt.Blocks != nil {
		return s.selectBlocks(ctx, plan.slots, opt.Options)
	}
	s.hold(plan.slots, plan.batch)
	s.run = plan.refresh
	return run(ctx, s, s.criterion, opt.Options, nil)
}

// begin makes the sketch, or room for all rows.
func (s *streamed) begin(plan streamPlan, seed uint64) {
	s.rows.strip = plan.strip
	if plan.whole {
		s.rows.hold(s.entries)
		return
	}
	s.sketch = newSketch(s.rows.d, plan.buckets, seed, s.rows.Rows())
}

// next starts another layer, while the room of the candidates stays.
func (s *streamed) next(ctx context.Context, out []bool) (*criterion, error) {
	s.omegas = nil
	s.sketch.reset()
	var err error
	switch {
	case s.aim != nil:
		err = s.startAimed(ctx, out)
	case s.target != nil:
		err = s.startGroups(ctx, s.target.height(), out)
	default:
		s.criterion = &criterion{chosen: out} // what the sums leave out
		err = s.start(ctx, s.run, out)
	}
	if err != nil {
		return nil, err
	}
	for k := range s.slot {
		s.slot[k], s.ready[k] = -1, false
	}
	for i := range s.at {
		s.at[i] = -1
	}
	return s.criterion, nil
}

// start computes f⁰, g⁰ and the sketch, G in runs of the given number of float64s.
func (s *streamed) start(ctx context.Context, numbers int64, out []bool) error {
	d := s.rows.d
	const what = "start of the criterion"
	var f, diag, size []float64
	var err error
	if s.byEntries() {
		f, diag, size, err = s.startByEntries(ctx, what, numbers)
	} else {
		f, _, diag, err = s.residuals(ctx, what, numbers, true)
	}
	if err != nil {
		return err
	}
	for i, x := range diag {
		if !(x >= 0 && f[i] <= math.MaxFloat64) {
			return badEntry("G", i, i, x/s.rows.unit)
		}
	}
	s.criterion = newCriterion(f, diag, true, out)
	for i, v := range size {
		s.err[i] = rounding(d) * v
	}
	return nil
}

// startGroups computes H = BᵀA, g⁰ and the sketch in one pass.
func (s *streamed) startGroups(ctx context.Context, c int, out []bool) error {
	d := s.rows.d
	groups := without(s.groups, out)
	h, g0 := room.Make[float64](c*d), make([]float64, d)
	err := s.rows.pass(ctx, reading{what: "sums of the groups", sums: append(s.sketch.sums(), h, g0), add: func(b *block) {
		if b.sparse == nil {
			s.scratch = rows.Room(s.scratch, c*b.rows)
		}
		s.rows.addGroups(b, h, groups, c, s.scratch)
		s.rows.addSquares(b, g0)
		s.sketch.add(s.rows, b)
	}, finish: func() {
		s.rows.finishGroups(h, groups, c)
		s.rows.finishSquares(g0)
		s.sketch.finish(s.rows)
	}})
	if err != nil {
		return err
	}
	if s.target, err = newMemory(nil, g0, (&Target{Rows: c, H: h}).target(d), s.rows.workers); err == nil && out != nil {
		err = s.target.begin(g0, out)
	}
	if err != nil {
		return err
	}
	s.criterion = s.target.criterion
	return nil
}

// addSquares adds the squared norms of the features to g.
func (r *reader) addSquares(b *block, g []float64) {
	if b.sparse == nil {
		r.strips(b, 0, func(at int, x kernel.Matrix[float64]) {
			kernel.Each(r.workers, x.Rows, func(j int) {
				col := x.Data[j*b.rows : (j+1)*b.rows]
				g[at+j] += kernel.Dot(col, col)
			})
		})
		return
	}
	kernel.Each(r.workers, r.d, func(j int) {
		for k := b.sparse.colPtr[j]; k < b.sparse.colPtr[j+1]; k++ {
			x := b.sparse.value[b.sparse.at[k]]
			g[j] += b.sparse.weight[b.sparse.row[k]] * x * x
		}
	})
}

func (r *reader) finishSquares(g []float64) {
	if r.weight == 0 {
		return
	}
	for j, s := range r.shift {
		g[j] += s*s*r.weight - 2*s*r.sum[j]
	}
}
