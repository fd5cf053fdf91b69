package evaluating

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// predictResamples checks, before the rows are read, that the repeated selections will fit into memory, and estimates
// their duration. rows is the number of rows of the input.
func predictResamples(ctx context.Context, e *evaluator, rows int64) error {
	if e.Resamples == 0 {
		return nil
	}
	if e.Sample > 0 {
		rows = min(rows, e.Sample)
	}
	for _, s := range e.recordedSelections() {
		if err := predictResample(ctx, e, s, rows); err != nil {
			return errSelectingAgain(ctx, e, s, err)
		}
	}
	return nil
}

func predictResample(ctx context.Context, e *evaluator, s *NamedSelection, rows int64) error {
	q, err := resampleRequest(e, s, max(rows/2, 2), judge.RunSeed(e.request.Choice.Seed, 0))
	if err != nil {
		return err
	}
	r, err := settled.NewRun(ctx, q)
	if err != nil {
		return err
	}
	if err := settled.CountAnchorsInFile(ctx, r); err != nil {
		return err
	}
	opt, plan := r.ReadOptions(), planning.SelectionPlanner(nil)
	ds, err := settled.OpenDataset(ctx, r.Input.Paths, opt)
	if err != nil {
		return gathering.ErrLeastMemory(ctx, r, r.Input.Paths, opt, plan, err)
	}
	defer ds.Close()
	budget, err := plan(r, ds)
	if err != nil {
		return err
	}
	long := planning.PredictDuration(r, ds, budget)
	if !r.Bound.From.UsesGram() {
		long *= time.Duration(e.Resamples)
	}
	e.resampleTime += long
	return nil
}

func errSelectingAgain(ctx context.Context, e *evaluator, s *NamedSelection, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return stream.Errorf("stability of %s, selecting again from half as many rows: %w; {resamples} 0 does without", s.Path, err)
}

// resampleSelections repeats each selection, with its recorded request, on random samples of the input. A sample has
// half as many rows as the table. It reports how far the repeated selections agree at every k.
func resampleSelections(ctx context.Context, e *evaluator) error {
	if e.Resamples == 0 {
		return nil
	}
	half := int64(e.usedRows) / 2
	if half < 2 {
		return stream.Usagef("{resamples} selects from half as many rows, 2 or more, and there are %s; {resamples 0} does without", wording.CountNoun(e.usedRows, "row"))
	}
	made, err := openReselections(ctx, e, half)
	if err != nil {
		return err
	}
	for i := range e.Selections {
		s := &e.Selections[i]
		if s.isList() {
			e.warnings = append(e.warnings, stream.Textf("%s does not record how it was made, so its stability is unknown", s.Path))
			continue
		}
		index := make(map[string]int, len(s.Columns))
		for j, c := range s.Columns {
			index[c.Name] = j
		}
		if err := selectAgain(ctx, e, made, i, half); err != nil {
			return made.saveInterrupted(ctx, errSelectingAgain(ctx, e, s, err))
		}
		orders, features := make([][]int, e.Resamples), 0
		for r, c := range made.Of[i] {
			features = max(features, c.Features)
			for _, name := range c.Names {
				j, known := index[name]
				if !known { // the columns of s lack this feature
					j = len(index)
					index[name] = j
				}
				orders[r] = append(orders[r], j)
			}
		}
		for j := range e.results {
			r := &e.results[j]
			if r.selection != s {
				continue
			}
			sets := convert.Each(orders, func(order []int) []int { return order[:min(r.K, len(order))] })
			st := judge.MeasureStability(sets, max(features, len(index))) // the list of columns in s may be empty
			r.Stability = &stream.Stability{Resamples: st.Resamples, Jaccard: stream.Number(st.Jaccard), Nogueira: stream.Number(st.Nogueira)}
		}
	}
	return made.folder.Sync() // the result is not written yet
}

// reselection is a selection repeated on a sample of the rows.
type reselection struct {
	Names    []string // names of the features, best first
	Features int
}

// selectAgain repeats selection i on e.Resamples samples, and half is the number of rows of each. If the method can
// select from sums of the statistics of hash shards, and these statistics fit into memory, the rows are read only once.
// Otherwise selectAgain reads the rows of every sample.
func selectAgain(ctx context.Context, e *evaluator, made *reselections, i int, half int64) error {
	s := &e.Selections[i]
	if len(made.Of[i]) == 0 {
		folder := made.runFolder(i, "shards")
		chosen, err := selectFromShards(ctx, e, s, half, folder)
		switch {
		case chosen != nil:
			return made.addSelections(i, folder, chosen...)
		case err != nil && !errors.As(err, new(*stream.MemoryError)):
			return err
		}
		if err := forgetRunFolder(folder); err != nil {
			return err
		}
	}
	for len(made.Of[i]) < e.Resamples {
		r := len(made.Of[i])
		folder := made.runFolder(i, fmt.Sprintf("sample-%d", r+1))
		out, err := selectFromSample(ctx, e, s, half, judge.RunSeed(e.request.Choice.Seed, r), folder)
		if err != nil {
			return err
		}
		c := reselection{Features: out.Features}
		for _, f := range out.Selected {
			c.Names = append(c.Names, f.Features()...)
		}
		e.timing.Solve += out.Timing.Solve
		if err := made.addSelections(i, folder, c); err != nil {
			return err
		}
	}
	return nil
}

// selectFromShards repeats selection s on combinations of hash shards of one sample of the rows. It gathers the
// statistics of the shards once, and saves their progress in the folder checkpoint. It returns nil if the method's
// statistics are not sums.
func selectFromShards(ctx context.Context, e *evaluator, s *NamedSelection, half int64, checkpoint string) ([]reselection, error) {
	q, err := resampleRequest(e, s, half, judge.RunSeed(e.request.Choice.Seed, 0))
	if err != nil {
		return nil, err
	}
	rows := 2 * half // the input has at least this number of rows
	if e.Input.Where == "" {
		rows = max(rows, e.rows)
	}
	fit, ok := halves.FitSamples(e.Resamples, half, rows)
	q.SampleRows, q.Checkpoint.Folder = fit.Rows, checkpoint
	r, err := settled.NewRun(ctx, q)
	if err != nil || !ok || !r.Bound.From.UsesGram() {
		return nil, err
	}
	r.Choice.Stability = fit.Shards
	var chosen []reselection
	selection, err := selecting.RunSelection(ctx, settled.Attempts{r}, func(g *gathering.Gatherer, from *statistics.Bundle, s *stream.Selection) error {
		all, err := choice.NewCandidates(g.Run, from.Columns, s.LeftOut, true)
		if err != nil {
			return err
		}
		var keep []string
		for _, i := range all.Keep {
			keep = append(keep, all.Name(i))
		}
		profile := *from.Profile
		from.Profile, from.Moments, from.Graph = &profile, nil, nil // the statistics of all rows are not needed
		found, err := selecting.SelectHalves(ctx, g, from, fit.DrawShards(e.Resamples, g.Run.Choice.Seed), g.Run.Choice.K, keep, s.LeftOut)
		for _, h := range found {
			c := reselection{Features: h.Features}
			for _, j := range h.Order {
				c.Names = append(c.Names, from.Columns[j].Name)
			}
			chosen = append(chosen, c)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	e.timing.Solve += selection.Timing.Solve
	return chosen, nil
}

func selectFromSample(ctx context.Context, e *evaluator, s *NamedSelection, rows int64, seed uint64, checkpointFolder string) (*stream.Selection, error) {
	q, err := resampleRequest(e, s, rows, seed)
	if err != nil {
		return nil, err
	}
	q.Checkpoint.Folder = checkpointFolder
	r, err := settled.NewRun(ctx, q)
	if err != nil {
		return nil, err
	}
	r.SkipsTrust = true
	out, err := selecting.SelectFeatures(ctx, settled.Attempts{r})
	if out == nil {
		return nil, err
	}
	return out, nil // a failure to converge is not an error here, because the selection itself may not have converged
}

func resampleRequest(e *evaluator, s *NamedSelection, rows int64, seed uint64) (request.Request, error) {
	q, err := settled.RecordedRequest(s.Selection, e.Methods)
	if err != nil {
		return q, stream.Dataf(s.Path, "%w", err)
	}
	scope, err := place.NewScope(place.DisplayName(s.Path), place.OwnPlaces(s.Path), e.Input.Allow)
	if err == nil {
		err = settled.ResolveFiles(q.Choice.Options, scope.Resolve)
	}
	if err != nil {
		return q, err
	}
	if s.choices > 0 {
		q.Choice.K = s.choices
	}
	q.Input, q.SampleRows, q.Choice.Seed = e.request.Input, rows, seed
	q.Limits, q.Checkpoint.Every = e.request.Limits, e.Checkpoint.Every
	q.Hooks = e.request.Hooks // its meter also counts reading and adding for the report
	if e.Label != "" {
		q.Columns.Label = e.Label
	}
	q.Columns.Missing = e.policyName // the missing policy with which s is judged
	if e.sparse != "" {
		q.Columns.Sparse = e.sparse
	}
	if m, err := strconv.ParseInt(q.Choice.Options.Text("anchors"), 10, 64); err == nil { // no more anchors than rows
		q.Choice.Options["anchors"] = min(m, rows)
	}
	return q, nil
}
