package ufs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Select selects features.
//
// The kind of the error suggests the remedy. It is a *stream.UsageError for a request that cannot be right; a
// *stream.DataError for bad data, with their place; a *stream.MemoryError for a limit that is too small, with the
// smallest limit that works; a *stream.OutputError if a checkpoint or a scratch file cannot be written; a
// *stream.UnconvergedError, which comes with the Selection; an *Interrupted if ctx ended a run with a checkpoint; or
// the error of ctx itself.
func Select(ctx context.Context, q Request) (*stream.Selection, error) {
	r, err := q.newSelectionRun(ctx)
	if err != nil {
		return nil, err
	}
	r.settleSize()
	return r.selectFeatures(ctx)
}

func (r *run) selectFeatures(ctx context.Context) (*stream.Selection, error) {
	if err := r.Single(r.Request.Options); err != nil {
		return nil, err
	}
	return r.runSelection(ctx, func(g *gatherer, e *bundle, s *stream.Selection) error {
		index, keep, err := g.selectFromAllRows(ctx, e, s)
		if g.Stability == 0 || err != nil && !errors.As(err, new(*stream.UnconvergedError)) {
			return err
		}
		if agreeErr := g.recordAgreement(ctx, e, s, index, keep); agreeErr != nil {
			return agreeErr
		}
		return err
	})
}

// selectFromAllRows selects features by the statistics of all rows, which it uses up and releases. It returns the
// indices of the feature columns in e, and the names of the candidates that the request keeps.
func (g *gatherer) selectFromAllRows(ctx context.Context, e *bundle, s *stream.Selection) (index []int, keep []string, err error) {
	t, err := g.newTrial(e, s)
	if err != nil {
		return nil, nil, withPlace(err, e)
	}
	for _, i := range t.Keep {
		keep = append(keep, t.candidates.name(i))
	}
	if err = t.recommendSize(ctx); err == nil {
		err = t.selectByMethod(ctx)
	}
	return t.index, keep, errors.Join(err, t.close(s))
}

// runSelection gathers statistics, calls solve with them, and records the time, memory and transfers of the run. It
// returns a selection together with an error only if the error is a *stream.UnconvergedError.
func (r *run) runSelection(ctx context.Context, solve func(*gatherer, *bundle, *stream.Selection) error) (s *stream.Selection, err error) {
	begin := time.Now()
	end, err := r.applyLimits(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := r.openCheckpoint(); err != nil {
		return nil, err
	}
	checkpoint := r.checkpoint
	defer func() { err = checkpoint.closeFolder(ctx, err) }()
	if err := r.findCategories(ctx); err != nil {
		return nil, err
	}
	read, added, fetched := r.Meter.Decode.Load(), r.Meter.Accumulate.Load(), r.Meter.Transfer()
	parts := r.Meter.Busy.Parts()
	g, e, err := r.gatherForSelection(ctx)
	if e != nil {
		defer e.close()
	}
	if err != nil {
		return nil, r.blameStats(err)
	}
	r = g.run
	var spooled int64
	if e.source != nil && r.From != method.FromRows && !e.plan.OutOfCore { // the input is not read again
		spooled = e.source.SpoolBytes()
		if err := e.close(); err != nil {
			return nil, err
		}
	}
	room.EnsureFree(e.plan.Solver)
	s = &stream.Selection{
		Version: Release, Rows: e.profile.Seen, RowsUsed: e.profile.Rows, InputColumns: e.positionCount,
		Inputs: e.inputs, Table: e.table, Converged: true,
		LeftOut: append([]stream.LeftOut{}, e.leftOut...), Warnings: append([]string{}, spellAll(e.warnings, r.Spelling)...),
	}
	if err := r.handleSuspects(e, s); err != nil {
		return nil, err
	}
	filled := listFilled(r, e)
	s.Filled = describeFilled(r, filled)
	noteFilled(r, filled)
	solving := time.Now()
	if err := decideBySurvey(ctx, g, e); err != nil {
		return nil, r.blameStats(err)
	}
	r = g.run
	if r.methodReason.Format != "" {
		r.note("method %s: %v", r.Name, r.methodReason)
	}
	s.Method, s.Why, s.Seed, s.Options = r.Name, r.methodReason.Spell(r.Spelling), r.Seed, r.recordedOptions(e)
	g.recordGraphTrust(e, s)
	recordSampleTrust(g, e, s)
	err = solve(g, e, s)
	if err != nil && !errors.As(err, new(*stream.UnconvergedError)) {
		return nil, r.blameStats(err)
	}
	s.WhyK = r.sizeReason.Spell(r.Spelling)
	s.Passes = e.passes
	if s.Iterations == 0 {
		s.Iterations = len(s.Selected)
	}
	s.Timing = stream.Timing{
		Read:       time.Duration(r.Meter.Decode.Load() - read).Seconds(),
		Accumulate: time.Duration(r.Meter.Accumulate.Load() - added).Seconds(),
		Solve:      time.Since(solving).Seconds(), Wall: time.Since(begin).Seconds(),
		Parts: r.Meter.Busy.Parts().Since(parts),
	}
	s.Memory.PeakRSS, s.Memory.Limit = peakMemory(), r.Memory
	if e.source != nil {
		spooled = e.source.SpoolBytes()
	}
	s.Memory.Scratch += spooled
	s.Transfer = r.Meter.Transfer().Since(fetched)
	return s, err
}

func (g *gatherer) obtainStatistics(ctx context.Context) (*bundle, error) {
	if g.Stats != "" {
		if g.From == method.FromRows {
			return g.gatherFromSample(ctx)
		}
		return g.gatherFromStats(ctx)
	}
	if err := g.countAnchorsInFile(ctx); err != nil {
		return nil, err
	}
	return g.gather(ctx)
}

// recordedOptions lists every setting that shapes the answer, except the options of the method, which its ranking
// records.
func (r *run) recordedOptions(e *bundle) map[string]any {
	o := make(map[string]any)
	graph := []string{"neighbors", "anchors", "anchor-method", "anchors-file"} // options of a graph in addition to scale
	for option, value := range e.options {
		// The seed has a field of its own, and options of a graph in the file do not concern other methods.
		if option != "seed" && option != optionSampleRows && option != optionSampleMissing && option != optionRanks && (r.From == method.FromGraph || !slices.Contains(graph, option)) {
			o[option] = value
		}
	}
	o["missing"], o["scale"] = r.Missing, r.Scale
	if e.sketch != nil {
		if o[optionSketch] = e.sketch.Rows(); r.Reads > 0 {
			o["passes"] = r.Reads
		}
	}
	if delete(o, optionStability); r.Stability > 0 { // the file may have shards that this request does not use
		o[optionStability] = r.Stability
	}
	for option, globs := range map[string][]string{"columns": r.Columns, "exclude": r.Exclude, "keep": r.Keep} {
		if len(globs) > 0 {
			o[option] = joinNames(globs)
		}
	}
	if r.AutoExclude {
		o["auto-exclude"] = true
	}
	if r.MaxMissing > 0 {
		o["max-missing"] = r.MaxMissing
	}
	r.recordChoice(o)
	if r.Variance > 0 {
		o["variance"] = r.Variance
	}
	if r.MinGain > 0 {
		o["min-gain"] = r.MinGain
	}
	if r.From == method.FromRows {
		o["sample"] = r.Sample
	}
	return o
}

func withPlace(err error, e *bundle) error {
	var bad *stream.DataError
	if !errors.As(err, &bad) || bad.Path != "" || len(e.inputs) == 0 && e.path == "" {
		return err
	}
	at := *bad
	if e.path != "" {
		at.Path = e.path
		return &at
	}
	if at.Path = e.inputs[0].Path; len(e.inputs) > 1 {
		at.Path += " and " + plural(len(e.inputs)-1, "file")
	}
	return &at
}
