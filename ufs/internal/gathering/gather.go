package gathering

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Gatherer makes the passes over the input that fill a bundle.
type Gatherer struct {
	Run             *settled.Run
	GatherKind      method.From // the kind of evidence to gather
	Planner         planning.Planner
	ScannedShard    Shard // the part of the rows that is scanned
	TakesSample     bool  // profile passes also sample rows, for anchors
	TakesHistograms bool  // passes for moments also fill histograms
	TakesRanks      bool  // profile passes also fill histograms for ranks

	states      *resume.Run // saved states of the passes, for resuming; nil without a checkpoint
	inputs      []string    // inputs of the request, without skipped bad files
	names       []string    // names of inputs for errors
	Passes      int         // number of passes made so far
	LeastPasses int         // least number of passes expected in total
	MostPasses  int         // greatest number of passes expected in total
}

// Gather reads the input once or twice, depending on the missing policy:
//
//   - mean, zero: one pass. The statistics fill missing entries at the end.
//   - error, drop-row: one pass if nothing is missing, which is tried first
//     unless the metadata show missing values. Otherwise columns that are useless however
//     they are filled (no value, constant, overflow) must neither fail nor drop rows: a
//     profile pass over the whole input finds these columns, and the last pass leaves them out.
//
// With SkipBad, gather starts again without a file that turns out to be bad, because the file's rows that were already
// added cannot be subtracted. Files in a store that cannot be reached do not count as bad.
func (g *Gatherer) Gather(ctx context.Context) (*statistics.Bundle, error) {
	g.inputs, g.names = g.Run.Input.Paths, g.Run.Input.Paths
	var skipped []stream.Text
	for {
		e, err := g.attemptPasses(ctx)
		if err == nil {
			e.Warnings = append(skipped, e.Warnings...)
			return e, nil
		}
		var bad *stream.DataError
		if !g.Run.SkipBad || ctx.Err() != nil || !errors.As(err, &bad) || errors.Is(err, stream.ErrMissing) || stream.Temporary(err) {
			return nil, err
		}
		at := slices.Index(g.names, bad.Path)
		if at < 0 || len(g.inputs) == 1 {
			return nil, err
		}
		g.inputs = slices.Delete(slices.Clone(g.inputs), at, at+1)
		skipped = append(skipped, stream.Textf("skipped: %v", err))
		g.Run.Notef("starting again without %s", bad.Path)
	}
}

func (g *Gatherer) attemptPasses(ctx context.Context) (e *statistics.Bundle, err error) {
	opt := g.Run.ReadOptions()
	policy := opt.Missing
	// A method with Takes.Cells gets every column, so the policy alone decides about missing values.
	cells := g.GatherKind == method.FromRows && g.Run.Bound.Takes.Cells
	triesOnce := policy == stream.MissingDropRow && opt.Sparse == "" && !cells
	if triesOnce {
		opt.Missing = stream.MissingError
	}
	ds, err := settled.OpenDataset(ctx, g.inputs, opt)
	if err != nil {
		return nil, planning.ErrLeastMemory(ctx, g.Run, g.inputs, opt, g.Planner, err)
	}
	defer func() {
		if err != nil || e == nil { // also during a panic
			ds.Close()
			return
		}
		e.Input = ds
	}()
	settled.RecordHeader(&g.Run.Request, ds)
	if ds.Replayable() && ds.Table() == nil && g.Run.Plan == "" { // the files of a table must be read through the table
		g.inputs, g.names = ds.Paths(), wording.InputPaths(ds.Inputs())
	}
	if err := ds.NotInput(ctx, g.Run.Output); err != nil {
		return nil, err
	}
	p := &pass{gatherer: g, opt: opt}
	if p.plan, err = g.Planner(g.Run, ds); err != nil {
		return nil, err
	}
	p.opt.Memory = p.plan.Reading
	p.plan.Enforce(policy == stream.MissingKeep)
	if p.plan.Kept > 0 { // memory is planned for data that passes of the method use again
		p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
	}
	if p.rowRange, p.firstRow, err = rowsToGather(g, ds); err != nil {
		return nil, err
	}
	if err := planning.OpenAutoCheckpoint(g.Run, ds, p.plan); err != nil {
		return nil, err
	}
	if err := openStates(ctx, p, ds); err != nil {
		return nil, err
	}
	if g.Run.ParsedScale == gram.ScaleRank && !g.TakesRanks {
		if err := p.rankColumns(ctx, ds); err != nil {
			return nil, err
		}
		if g.GatherKind != method.FromGraph {
			if g.GatherKind != method.FromRows {
				settleKept(p, ds, p.rawProfile)
			}
			g.expectPasses(1, p.plan)
			return p.accumulateStats(ctx, ds, nil)
		}
	}
	if g.GatherKind == method.FromGraph {
		return p.gatherGraph(ctx, ds)
	}
	profileFirst := false
	switch {
	case g.Run.WholeProfile != nil:
		p.opt.Missing = policy
		if p.opt.LeaveOut, err = g.matchingLeftOut(ds); err != nil {
			return nil, err
		}
	case g.GatherKind == method.FromRows && request.ExcludesSuspects(&g.Run.Request), p.gatherer.states.HasState(uselessPass):
		profileFirst = true
	case policy == stream.MissingKeep || opt.Sparse != "" || cells:
	case g.Run.Shard.Of > 0 && settled.PromisesMissing(ds):
		return nil, errNeedsProfileRound(g, stream.ErrMissing)
	case !settled.PromisesMissing(ds):
		g.expectPasses(1, p.plan)
		e, err := p.accumulateStats(ctx, ds, nil)
		if !errors.Is(err, stream.ErrMissing) {
			return e, err
		}
		if !ds.Replayable() {
			return nil, errStreamReadOnce(err)
		}
		if g.Run.Shard.Of > 0 {
			return nil, errNeedsProfileRound(g, err)
		}
		profileFirst = true
	default:
		profileFirst = true
	}
	if profileFirst {
		keepDecoded(p, ds)
		if p.opt.LeaveOut, err = p.findUseless(ctx, ds, 1); err != nil {
			return nil, err
		}
		settleKept(p, ds, nil)
		p.opt.Missing = policy
	}
	g.expectPasses(1, p.plan)
	return p.accumulateStats(ctx, ds, nil)
}

func errStreamReadOnce(err error) error {
	var place *stream.DataError
	if !errors.As(err, &place) {
		return err
	}
	restated := *place
	restated.Remedy = stream.Textf("a stream is read once, and {missing} error and drop-row need a second look; use {missing} mean or zero, save it to a file, or for drop-row name a {temp-dir} to keep it in")
	return &restated
}

// matchingLeftOut lists the columns of ds that cannot be features according to g.WholeProfile, a profile of the whole
// input. It returns an error if the profile does not have the columns of ds.
func (g *Gatherer) matchingLeftOut(ds *chunkio.Dataset) ([]stream.LeftOut, error) {
	whole := g.Run.WholeProfile
	left := slices.DeleteFunc(slices.Clone(ds.Columns()), func(c stream.Column) bool {
		return slices.ContainsFunc(whole.Useless, func(l stream.LeftOut) bool { return l.Name == c.Name })
	})
	if err := statistics.CheckSameColumns(whole.Columns, left); err != nil {
		return nil, stream.Usagef("{profile} has other columns: %v", err)
	}
	return g.profileLeftOut(), nil
}

func (g *Gatherer) profileLeftOut() []stream.LeftOut {
	whole := g.Run.WholeProfile
	switch {
	case whole == nil:
		return nil
	case whole.Options["missing"] == request.MissingDropRow: // dropped rows with missing values are not in the profile
		return whole.Useless
	}
	return settled.UselessWithMissing(g.Run, whole.Profile, whole.Columns)
}

func (g *Gatherer) expectPasses(ahead int, b budget.Budget) {
	g.LeastPasses = g.Passes + ahead + b.MethodPasses.Least
	g.MostPasses = g.Passes + ahead + b.MethodPasses.Most
}

func (g *Gatherer) foldPass(ctx context.Context, ds stream.Source, title string, opt stream.FoldOptions, adders ...stream.Adder) error {
	g.Passes++
	opt.Meter = g.Run.Hooks.Meter
	rows := ds.Rows()
	if !opt.Range.All() {
		rows = opt.Range.To - opt.Range.From
	}
	if opt.Next > 0 {
		rows -= opt.Next - opt.Range.From
	}
	return request.TrackProgress(&g.Run.Request, request.Progress{What: title, Pass: g.Passes, Passes: g.LeastPasses, Most: g.MostPasses, Rows: rows}, func(func(request.Progress)) error {
		return stream.Fold(ctx, ds, opt, adders...)
	})
}

// GatherForSelection gathers statistics for the method of the run or, if that fails, for the fallback. The gatherer
// that it returns belongs to the method that will select. A statistics file is opened only once for both.
func GatherForSelection(ctx context.Context, r *settled.Run) (*Gatherer, *statistics.Bundle, error) {
	obtain := func(g *Gatherer) (*statistics.Bundle, error) { return g.ObtainStatistics(ctx) }
	if r.Stats != "" && r.Fallback != nil {
		file, err := statistics.OpenStats(ctx, &r.Request, r.Stats)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		obtain = func(g *Gatherer) (*statistics.Bundle, error) { return GatherFromFile(g.Run, file) }
	}
	g := NewGatherer(r)
	e, err := obtain(g) // a stream that can be read only once is consumed after this
	if err == nil || r.Fallback == nil || !settled.CanFallBack(r, err) || request.IsSinglePassStream(&r.Request) {
		return g, e, err
	}
	if err := g.states.RemoveStates(); err != nil { // the states of one method are of no use to the other
		return nil, nil, err
	}
	passes := g.Passes
	g = NewGatherer(settled.FallbackRun(r, err))
	g.Passes = passes
	e, err = obtain(g)
	return g, e, err
}

func NewGatherer(r *settled.Run) *Gatherer {
	return &Gatherer{Run: r, GatherKind: r.Bound.From, Planner: planning.PlanSelection, TakesSample: r.Bound.Takes.Sample}
}

func (g *Gatherer) ObtainStatistics(ctx context.Context) (*statistics.Bundle, error) {
	if g.Run.Stats != "" {
		if g.Run.Bound.From == method.FromRows {
			return gatherFromSample(ctx, g)
		}
		return gatherFromStats(ctx, g.Run)
	}
	if err := settled.CountAnchorsInFile(ctx, g.Run); err != nil {
		return nil, err
	}
	return g.Gather(ctx)
}
