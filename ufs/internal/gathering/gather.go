package gathering

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

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
	Later           settled.Attempts // the attempts that may select from the statistics, in place of Run
	GatherKind      method.From      // the kind of evidence to gather
	Planner         planning.Planner
	ScannedShard    Shard // the part of the rows that is scanned
	TakesSample     bool  // profile passes also sample rows, for anchors
	TakesHistograms bool  // passes for moments also fill histograms
	TakesRanks      bool  // profile passes also fill histograms for ranks
	TakesMidranks   bool  // under scale rank, values become their ranks, and not the normal scores of these

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
	if q := &g.Run.Request; request.NeedsFrequencies(q) {
		return nil, errors.New("gathering: the document frequencies are not counted")
	}
	opt := g.Run.ReadOptions()
	policy := opt.Missing
	if policy == stream.MissingDropRow && opt.Sparse == "" && !g.takesEveryColumn() { // see gatherColumns
		opt.Missing = stream.MissingError
	}
	ds, err := settled.OpenDataset(ctx, g.inputs, opt)
	if err != nil {
		return nil, ErrLeastMemory(ctx, g.Run, g.inputs, opt, g.Planner, err)
	}
	defer func() {
		if err != nil || e == nil { // also during a panic
			ds.Close()
			return
		}
		e.Input = ds
	}()
	settled.RecordHeader(&g.Run.Request, ds)
	if ds.Replayable() && ds.Table() == nil && g.Run.Input.Plan == "" { // the files of a table must be read through the table
		g.inputs, g.names = ds.Paths(), wording.InputPaths(ds.Inputs())
	}
	if err := ds.NotInput(ctx, g.Run.Output); err != nil {
		return nil, err
	}
	p := &pass{gatherer: g, opt: opt}
	if p.plan, err = g.Planner(g.Run, ds); err != nil {
		return nil, err
	}
	g.allAttempts().UseDefaultSize(p.plan.DefaultSize)
	p.opt.Memory = p.plan.Reading
	p.plan.EnforcePeak(policy == stream.MissingKeep)
	if p.plan.Kept > 0 { // memory is planned for data that passes of the method use again
		p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
	}
	if p.rowRange, p.firstRow, err = rowsToGather(g, ds); err != nil {
		return nil, err
	}
	if err := openAutoCheckpoint(g.Run, ds, p.plan); err != nil {
		return nil, err
	}
	if err := openPassStates(p, ds); err != nil {
		return nil, err
	}
	if g.Run.ParsedScale == gram.ScaleRank && !g.TakesRanks {
		if err := p.rankColumns(ctx, ds); err != nil {
			return nil, err
		}
	}
	return kindOf(g.GatherKind).gatherStatistics(ctx, p, ds)
}

// gatherColumns makes the passes for statistics that do not depend on an anchor graph. In the first pass, which reads by
// the options in p, a missing value is an error if another pass is then needed.
func gatherColumns(ctx context.Context, p *pass, ds *chunkio.Dataset) (*statistics.Bundle, error) {
	g, policy := p.gatherer, request.MissingPolicy(&p.gatherer.Run.Request)
	if p.scores != nil {
		if !kindOf(g.GatherKind).keepsRows {
			settleKeptData(p, ds, p.rawProfile)
		}
		g.setExpectedPasses(1, p.plan)
		return p.accumulateStats(ctx, ds, nil)
	}
	profileFirst := false
	switch {
	case g.Run.WholeProfile != nil:
		left, err := g.matchingLeftOut(ds)
		if err != nil {
			return nil, err
		}
		p.opt.LeaveOut, p.opt.Missing = left, policy
	case kindOf(g.GatherKind).keepsRows && request.ExcludesSuspects(&g.Run.Request), g.states.HasState(uselessPass):
		profileFirst = true
	case policy == stream.MissingKeep || p.opt.Sparse != "" || g.takesEveryColumn():
	case g.Run.Shard.Of > 0 && settled.PromisesMissing(ds):
		return nil, errNeedsProfileRound(g, stream.ErrMissing)
	case !settled.PromisesMissing(ds):
		g.setExpectedPasses(1, p.plan)
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
		keepDecodedData(p, ds)
		left, err := p.findUselessColumns(ctx, ds, 1)
		if err != nil {
			return nil, err
		}
		settleKeptData(p, ds, nil)
		p.opt.LeaveOut, p.opt.Missing = left, policy
	}
	g.setExpectedPasses(1, p.plan)
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

// GatherForSelection gathers statistics for the first of the attempts that succeeds. The gatherer that it returns belongs
// to the method that will select. A statistics file is opened only once for all attempts.
func GatherForSelection(ctx context.Context, attempts settled.Attempts) (*Gatherer, *statistics.Bundle, error) {
	obtain := func(g *Gatherer) (*statistics.Bundle, error) { return g.ObtainStatistics(ctx) }
	r := attempts[0]
	if r.Stats != "" && len(attempts) > 1 {
		file, err := statistics.OpenStats(ctx, &r.Request, r.Stats)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		obtain = func(g *Gatherer) (*statistics.Bundle, error) { return GatherFromFile(g, file) }
	}
	for passes := r.EarlierPasses; ; {
		g := NewGatherer(attempts)
		g.Passes = passes
		e, err := obtain(g) // a stream that can be read only once is consumed after this
		if attempts = g.allAttempts().LeftAfter(err); len(attempts) == 0 || request.IsSinglePassStream(&r.Request) {
			return g, e, err
		}
		if err := g.states.RemoveStates(); err != nil { // the states of one method are of no use to the other
			return nil, nil, err
		}
		passes = g.Passes
	}
}

// NewGatherer returns the gatherer for the first of the attempts. The others may select from its statistics.
func NewGatherer(attempts settled.Attempts) *Gatherer {
	r, later := attempts[0], attempts[1:]
	return &Gatherer{Run: r, Later: later, GatherKind: r.Bound.From, Planner: planning.SelectionPlanner(later), TakesSample: r.Bound.Takes.Sample}
}

func (g *Gatherer) allAttempts() settled.Attempts { return append(settled.Attempts{g.Run}, g.Later...) }

// takesEveryColumn reports whether the method gets every column, so that the policy alone decides about missing values.
func (g *Gatherer) takesEveryColumn() bool {
	return kindOf(g.GatherKind).keepsRows && g.Run.Bound.Takes.Cells
}

// ObtainStatistics gathers statistics from the input, or reads them from the statistics file of the run.
func (g *Gatherer) ObtainStatistics(ctx context.Context) (*statistics.Bundle, error) {
	if g.Run.Stats != "" {
		return kindOf(g.Run.Bound.From).readStatistics(ctx, g)
	}
	if err := settled.CountAnchorsInFile(ctx, g.Run); err != nil {
		return nil, err
	}
	return g.Gather(ctx)
}

// kind gathers one kind of evidence: the data from which methods select, such as the Gram matrix.
type kind struct {
	// gatherStatistics makes the passes over the input. If ranks replace the values, they are known already.
	gatherStatistics func(ctx context.Context, p *pass, ds *chunkio.Dataset) (*statistics.Bundle, error)
	// readStatistics reads the statistics from the file of the run. It refuses options that need other statistics.
	readStatistics func(ctx context.Context, g *Gatherer) (*statistics.Bundle, error)
	// fillsProfile reports whether the last pass fills a profile, but neither moments nor a factor. The method then does
	// not need them, it reads the rows again, or a sketch replaces them.
	fillsProfile func(plan budget.Budget) bool
	// keepsRows means that the method reads the rows after gathering, so that decoded rows are kept for it.
	keepsRows bool
}

func kindOf(from method.From) kind {
	replacesGram := func(plan budget.Budget) bool { return plan.OutOfCore || plan.Sketch > 0 }
	return [...]kind{
		method.FromProfile: {gatherColumns, gatherFromStats, func(budget.Budget) bool { return true }, false},
		method.FromGram:    {gatherColumns, gatherFromStats, replacesGram, false},
		method.FromGraph:   {gatherGraph, gatherFromStats, replacesGram, false},
		method.FromRows:    {gatherColumns, gatherFromSample, func(plan budget.Budget) bool { return !plan.GathersMoments }, true},
	}[from]
}

func rowsToGather(g *Gatherer, ds *chunkio.Dataset) (stream.Range, int64, error) {
	if g.Run.Shard.Of > 0 {
		rows, first := ds.ShardRows()
		return rows, first, nil
	}
	rows, err := g.ScannedShard.rowRange(ds)
	return rows, 0, err
}

// Shard is part number of count about equal parts of the input; number begins at 1. The zero value is the whole input.
type Shard struct{ Number, Count int }

// rowRange returns the range of rows of the shard in src. For the whole input this is the zero Range (all rows).
func (s Shard) rowRange(src stream.Source) (stream.Range, error) {
	if s.Count == 0 {
		return stream.Range{}, nil
	}
	return stream.Shard(src, s.Number, s.Count)
}

func ParseShard(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	number, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || number < 1 || number > count {
		return Shard{}, stream.Usagef("{shard} %q: want I/N with 1 <= I <= N, as 2/8", s)
	}
	return Shard{number, count}, nil
}
