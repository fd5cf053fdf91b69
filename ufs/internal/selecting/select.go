package selecting

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// SelectByRequest implements ufs.Select: it selects features from the data or the statistics that the request names.
func SelectByRequest(ctx context.Context, q request.Request) (*stream.Selection, error) {
	attempts, err := settled.NewAttempts(ctx, q)
	if err != nil {
		return nil, err
	}
	attempts.SettleSize()
	return SelectFeatures(ctx, attempts)
}

// SelectFeatures selects features by the first of the attempts that succeeds.
func SelectFeatures(ctx context.Context, attempts settled.Attempts) (*stream.Selection, error) {
	if err := attempts[0].Bound.Single(attempts[0].Choice.Options); err != nil {
		return nil, err
	}
	return RunSelection(ctx, attempts, func(g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) error {
		index, keep, err := selectFromAllRows(ctx, g, e, s)
		if g.Run.Choice.Stability == 0 || err != nil && !errors.As(err, new(*stream.UnconvergedError)) {
			return err
		}
		if agreeErr := recordAgreement(ctx, g, e, s, index, keep); agreeErr != nil {
			return agreeErr
		}
		return err
	})
}

// selectFromAllRows selects features by the statistics of all rows, which it uses up and releases. It returns the
// indices of the feature columns in e, and the names of the candidates that the request keeps.
func selectFromAllRows(ctx context.Context, g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) (index []int, keep []string, err error) {
	t, err := NewTrial(g, e, s)
	if err != nil {
		return nil, nil, statistics.WithPlace(err, e)
	}
	for _, i := range t.Keep {
		keep = append(keep, t.candidates.Name(i))
	}
	if err = t.recommendSize(ctx); err == nil {
		err = t.selectByMethod(ctx)
	}
	return t.Index, keep, errors.Join(err, t.Close(s))
}

// RunSelection gathers statistics, calls solve with them, and records the time, memory and transfers of the run. It
// returns a selection together with an error only if the error is a *stream.UnconvergedError.
func RunSelection(ctx context.Context, attempts settled.Attempts, solve func(*gathering.Gatherer, *statistics.Bundle, *stream.Selection) error) (s *stream.Selection, err error) {
	begin, r := time.Now(), attempts[0]
	end, err := budget.ApplyLimits(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := settled.OpenCheckpoint(r, attempts[1:]...); err != nil {
		return nil, err
	}
	checkpoint := r.SavedState
	defer func() { err = checkpoint.CloseFolder(ctx, err) }()
	read, added, fetched := r.Hooks.Meter.Decode.Load(), r.Hooks.Meter.Accumulate.Load(), r.Hooks.Meter.Transfer()
	parts := r.Hooks.Meter.Busy.Parts()
	if err := settled.PrepareFeatures(ctx, r, attempts[1:]...); err != nil {
		return nil, err
	}
	g, e, err := gathering.GatherForSelection(ctx, attempts)
	if e != nil {
		defer e.Close()
	}
	if err != nil {
		return nil, gathering.BlameStats(&r.Request, err)
	}
	r = g.Run
	var spooled int64
	if e.Source != nil && !r.Bound.From.UsesRows() && !e.Plan.OutOfCore && !r.Bound.Takes.Rereads { // the input is not read again
		spooled = e.Source.SpoolBytes()
		if err := e.Close(); err != nil {
			return nil, err
		}
	}
	room.EnsureFree(e.Plan.Solver)
	s = &stream.Selection{
		Version: request.Release, Rows: e.Profile.Seen, RowsUsed: e.Profile.Rows, InputColumns: e.PositionCount,
		Inputs: e.Inputs, Table: e.Table, Converged: true,
		LeftOut: append([]stream.LeftOut{}, e.LeftOut...), Warnings: append([]string{}, wording.SpellAll(e.Warnings, r.Hooks.Spelling)...),
	}
	if err := HandleSuspects(r, e, s); err != nil {
		return nil, err
	}
	filled := settled.ListFilled(r, e)
	s.Filled = settled.DescribeFilled(r, filled)
	settled.NoteFilled(r, filled)
	solving := time.Now()
	if err := DecideBySurvey(ctx, g, e); err != nil {
		return nil, gathering.BlameStats(&r.Request, err)
	}
	r = g.Run
	if r.MethodReason.Format != "" {
		r.Notef("method %s: %v", r.Bound.Name, r.MethodReason)
	}
	s.Method, s.Why, s.Seed, s.Options = r.Bound.Name, r.MethodReason.Spell(r.Hooks.Spelling), r.Choice.Seed, recordedOptions(r, e)
	recordGraphTrust(g, e, s)
	recordSampleTrust(g, e, s)
	err = solve(g, e, s)
	if err != nil && !errors.As(err, new(*stream.UnconvergedError)) {
		return nil, gathering.BlameStats(&r.Request, err)
	}
	s.WhyK = r.SizeReason.Spell(r.Hooks.Spelling)
	s.Passes = e.Passes
	s.Iterations = cmp.Or(s.Iterations, len(s.Selected))
	s.Timing = stream.Timing{
		Read:       time.Duration(r.Hooks.Meter.Decode.Load() - read).Seconds(),
		Accumulate: time.Duration(r.Hooks.Meter.Accumulate.Load() - added).Seconds(),
		Solve:      time.Since(solving).Seconds(), Wall: time.Since(begin).Seconds(),
		Parts: r.Hooks.Meter.Busy.Parts().Since(parts),
	}
	s.Memory.PeakRSS, s.Memory.Limit = budget.PeakMemory(), r.Limits.Memory
	if e.Source != nil {
		spooled = e.Source.SpoolBytes()
	}
	s.Memory.Scratch += spooled
	s.Transfer = r.Hooks.Meter.Transfer().Since(fetched)
	return s, err
}

// recordedOptions lists every setting that affects the result, except the options of the method.
func recordedOptions(r *settled.Run, e *statistics.Bundle) map[string]any {
	o := make(map[string]any)
	graph := []string{"neighbors", "anchors", "anchor-method", "anchors-file"} // options of a graph in addition to scale
	for option, value := range e.Options {
		// The seed has a field of its own, and options of a graph in the file do not concern other methods.
		if option != "seed" && option != request.OptionSampleRows && option != request.OptionSampleMissing && option != request.OptionRanks && (r.Bound.From.UsesGraph() || !slices.Contains(graph, option)) {
			o[option] = value
		}
	}
	delete(o, request.OptionStability) // the file may have shards that this request does not use
	maps.Copy(o, request.RecordOptions(&r.Request, request.ShapesAnswer))
	// Groups and costs are recorded themselves, so that a run can be repeated without their files.
	for option, text := range map[string]string{
		"groups": r.Grouping.Text, "groups-file": r.Grouping.Path, "costs": r.Pricing.Text, "costs-file": r.Pricing.Path,
	} {
		if text != "" {
			o[option] = text
		}
	}
	if e.Sketch != nil {
		o[request.OptionSketch] = e.Sketch.Rows()
	} else {
		delete(o, "passes")
	}
	if r.Bound.From.UsesRows() {
		o["sample"] = r.Bound.Sample
	}
	return o
}
