package ufs

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gatherer makes the passes over the input that fill a bundle.
type gatherer struct {
	*run
	gatherKind      method.From // the kind of evidence to gather
	plan            func(*chunkio.Dataset) (Budget, error)
	scannedShard    shard // the part of the rows that is scanned
	takesSample     bool  // profile passes also sample rows, for anchors
	takesHistograms bool  // passes for moments also fill histograms
	takesRanks      bool  // profile passes also fill histograms for ranks

	states      *resume.Run // saved states of the passes, for resuming; nil without a checkpoint
	inputs      []string    // inputs of the request, without skipped bad files
	names       []string    // names of inputs for errors
	passes      int         // number of passes made so far
	leastPasses int         // least number of passes expected in total
	mostPasses  int         // greatest number of passes expected in total
}

// gather reads the input once or twice, depending on the missing policy:
//
//   - mean, zero: one pass. The statistics fill missing entries at the end.
//   - error, drop-row: one pass if nothing is missing, which is tried first
//     unless the metadata show missing values. Otherwise columns that are useless however
//     they are filled (no value, constant, overflow) must neither fail nor drop rows: a
//     profile pass over the whole input finds these columns, and the last pass leaves them out.
//
// With SkipBad, gather starts again without a file that turns out to be bad, because the file's rows that were already
// added cannot be subtracted. Files in a store that cannot be reached do not count as bad.
func (g *gatherer) gather(ctx context.Context) (*bundle, error) {
	g.inputs, g.names = g.Inputs, g.Inputs
	var skipped []stream.Text
	for {
		e, err := g.attemptPasses(ctx)
		if err == nil {
			e.warnings = append(skipped, e.warnings...)
			return e, nil
		}
		var bad *stream.DataError
		if !g.SkipBad || ctx.Err() != nil || !errors.As(err, &bad) || errors.Is(err, stream.ErrMissing) || stream.Temporary(err) {
			return nil, err
		}
		at := slices.Index(g.names, bad.Path)
		if at < 0 || len(g.inputs) == 1 {
			return nil, err
		}
		g.inputs = slices.Delete(slices.Clone(g.inputs), at, at+1)
		skipped = append(skipped, stream.Textf("skipped: %v", err))
		g.note("starting again without %s", bad.Path)
	}
}

func (g *gatherer) attemptPasses(ctx context.Context) (e *bundle, err error) {
	opt := g.readOptions()
	policy := opt.Missing
	// A method with Takes.Cells gets every column, so the policy alone decides about missing values.
	cells := g.gatherKind == method.FromRows && g.Takes.Cells
	triesOnce := policy == stream.MissingDropRow && opt.Sparse == "" && !cells
	if triesOnce {
		opt.Missing = stream.MissingError
	}
	ds, err := openDataset(ctx, g.inputs, opt)
	if err != nil {
		return nil, g.errLeastMemory(ctx, g.inputs, opt, g.plan, err)
	}
	defer func() {
		if err != nil || e == nil { // also during a panic
			ds.Close()
			return
		}
		e.input = ds
	}()
	recordHeader(&g.Request, ds)
	if ds.Replayable() && ds.Table() == nil && g.Plan == "" { // the files of a table must be read through the table
		g.inputs, g.names = ds.Paths(), inputPaths(ds.Inputs())
	}
	if err := ds.NotInput(ctx, g.Output); err != nil {
		return nil, err
	}
	p := &pass{gatherer: g, opt: opt}
	if p.plan, err = g.plan(ds); err != nil {
		return nil, err
	}
	p.opt.Memory = p.plan.Reading
	p.plan.enforce(policy == stream.MissingKeep)
	if p.plan.Kept > 0 { // memory is planned for data that passes of the method use again
		p.opt.Keep = chunkio.NewKeep(p.plan.Kept)
	}
	if p.rowRange, p.firstRow, err = g.rowsToGather(ds); err != nil {
		return nil, err
	}
	if err := g.openAutoCheckpoint(ds, p.plan); err != nil {
		return nil, err
	}
	if err := p.openStates(ctx, ds); err != nil {
		return nil, err
	}
	if g.scale == gram.ScaleRank && !g.takesRanks {
		if err := p.rankColumns(ctx, ds); err != nil {
			return nil, err
		}
		if g.gatherKind != method.FromGraph {
			if g.gatherKind != method.FromRows {
				p.settleKept(ds, p.rawProfile)
			}
			g.expectPasses(1, p.plan)
			return p.accumulateStats(ctx, ds, nil)
		}
	}
	if g.gatherKind == method.FromGraph {
		return p.gatherGraph(ctx, ds)
	}
	profileFirst := false
	switch {
	case g.wholeProfile != nil:
		p.opt.Missing = policy
		if p.opt.LeaveOut, err = g.matchingLeftOut(ds); err != nil {
			return nil, err
		}
	case g.gatherKind == method.FromRows && g.excludesSuspects(), p.gatherer.states.HasState(uselessPass):
		profileFirst = true
	case policy == stream.MissingKeep || opt.Sparse != "" || cells:
	case g.shard.Of > 0 && promisesMissing(ds):
		return nil, g.errNeedsProfileRound(stream.ErrMissing)
	case !promisesMissing(ds):
		g.expectPasses(1, p.plan)
		e, err := p.accumulateStats(ctx, ds, nil)
		if !errors.Is(err, stream.ErrMissing) {
			return e, err
		}
		if !ds.Replayable() {
			return nil, errStreamReadOnce(err)
		}
		if g.shard.Of > 0 {
			return nil, g.errNeedsProfileRound(err)
		}
		profileFirst = true
	default:
		profileFirst = true
	}
	if profileFirst {
		p.keepDecoded(ds)
		if p.opt.LeaveOut, err = p.findUseless(ctx, ds, 1); err != nil {
			return nil, err
		}
		p.settleKept(ds, nil)
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

// uselessWithMissing lists the columns with missing entries that cannot be features. Columns without missing entries
// that cannot be features are not listed, because they can be left out after the passes.
func (r *run) uselessWithMissing(profile *gram.Profile, cols []stream.Column) []stream.LeftOut {
	at := make(map[string]int, len(cols))
	for j, c := range cols {
		at[c.Name] = j
	}
	left := profile.LeftOut(cols)
	if r.scale == gram.ScaleRank { // values whose sums overflow still have ranks
		left = profile.Empty(cols)
	}
	return slices.DeleteFunc(left, func(l stream.LeftOut) bool {
		return profile.Columns[at[l.Name]].Missing.Total() == 0
	})
}

// matchingLeftOut lists the columns of ds that cannot be features according to g.wholeProfile, a profile of the whole
// input. It returns an error if the profile does not have the columns of ds.
func (g *gatherer) matchingLeftOut(ds *chunkio.Dataset) ([]stream.LeftOut, error) {
	whole := g.wholeProfile
	left := slices.DeleteFunc(slices.Clone(ds.Columns()), func(c stream.Column) bool {
		return slices.ContainsFunc(whole.useless, func(l stream.LeftOut) bool { return l.Name == c.Name })
	})
	if err := checkSameColumns(whole.columns, left); err != nil {
		return nil, stream.Usagef("{profile} has other columns: %v", err)
	}
	return g.profileLeftOut(), nil
}

func (g *gatherer) profileLeftOut() []stream.LeftOut {
	whole := g.wholeProfile
	switch {
	case whole == nil:
		return nil
	case whole.options["missing"] == missingDropRow: // dropped rows with missing values are not in the profile
		return whole.useless
	}
	return g.uselessWithMissing(whole.profile, whole.columns)
}

func (g *gatherer) expectPasses(ahead int, b Budget) {
	g.leastPasses = g.passes + ahead + b.methodPasses.Least
	g.mostPasses = g.passes + ahead + b.methodPasses.Most
}

func (g *gatherer) foldPass(ctx context.Context, ds stream.Source, title string, opt stream.FoldOptions, adders ...stream.Adder) error {
	g.passes++
	opt.Meter = g.Meter
	rows := ds.Rows()
	if !opt.Range.All() {
		rows = opt.Range.To - opt.Range.From
	}
	if opt.Next > 0 {
		rows -= opt.Next - opt.Range.From
	}
	return g.trackProgress(Progress{What: title, Pass: g.passes, Passes: g.leastPasses, Most: g.mostPasses, Rows: rows}, func(func(Progress)) error {
		return stream.Fold(ctx, ds, opt, adders...)
	})
}

func checkSameColumns(a, b []stream.Column) error {
	if len(a) != len(b) {
		return stream.Errorf("%d features against %d", len(a), len(b))
	}
	for j := range a {
		if a[j].Name != b[j].Name {
			return stream.Errorf("feature %d is %q against %q", j, a[j].Name, b[j].Name)
		}
	}
	return nil
}
