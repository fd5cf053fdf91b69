package ufs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/halves"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// predictResamples checks, before the rows are read, that the repeated selections will fit into memory, and estimates
// their duration. rows is the number of rows of the input.
func (e *evaluator) predictResamples(ctx context.Context, rows int64) error {
	if e.Resamples == 0 {
		return nil
	}
	if e.Sample > 0 {
		rows = min(rows, e.Sample)
	}
	for i := range e.Selections {
		s := &e.Selections[i]
		if err := e.predictResample(ctx, s, rows); err != nil {
			return e.errSelectingAgain(ctx, s, err)
		}
	}
	return nil
}

func (e *evaluator) predictResample(ctx context.Context, s *NamedSelection, rows int64) error {
	q, err := e.resampleRequest(s, max(rows/2, 2), judge.RunSeed(e.request.Seed, 0))
	if err != nil {
		return err
	}
	r, err := q.newRun(ctx)
	if err != nil {
		return err
	}
	if err := r.countAnchorsInFile(ctx); err != nil {
		return err
	}
	opt := r.readOptions()
	ds, err := openDataset(ctx, r.Inputs, opt)
	if err != nil {
		return r.errLeastMemory(ctx, r.Inputs, opt, r.planSelection, err)
	}
	defer ds.Close()
	budget, err := r.planSelection(ds)
	if err != nil {
		return err
	}
	long := r.predictDuration(ds, budget)
	if r.From != method.FromGram && r.From != method.FromGraph {
		long *= time.Duration(e.Resamples)
	}
	e.resampleTime += long
	return nil
}

func (e *evaluator) errSelectingAgain(ctx context.Context, s *NamedSelection, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return stream.Errorf("stability of %s, selecting again from half as many rows: %w; {resamples} 0 does without", s.Path, err)
}

// resampleSelections repeats each selection, with its recorded request, on random samples of the input. A sample has
// half as many rows as the table. It reports how far the repeated selections agree at every k.
func (e *evaluator) resampleSelections(ctx context.Context) error {
	if e.Resamples == 0 {
		return nil
	}
	half := int64(e.usedRows) / 2
	if half < 2 {
		return stream.Usagef("{resamples} selects from half as many rows, 2 or more, and there are %s; {resamples} 0 does without", plural(e.usedRows, "row"))
	}
	made, err := e.openReselections(ctx, half)
	if err != nil {
		return err
	}
	for i := range e.Selections {
		s := &e.Selections[i]
		index := make(map[string]int, len(s.Columns))
		for j, c := range s.Columns {
			index[c.Name] = j
		}
		if err := e.selectAgain(ctx, made, i, half); err != nil {
			return made.saveInterrupted(ctx, e.errSelectingAgain(ctx, s, err))
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
			sets := make([][]int, len(orders))
			for m, order := range orders {
				sets[m] = order[:min(r.K, len(order))]
			}
			st := judge.MeasureStability(sets, max(features, len(index))) // the list of columns in s may be empty
			r.Stability = &stream.Stability{Resamples: st.Resamples, Jaccard: stream.Number(st.Jaccard), Nogueira: stream.Number(st.Nogueira)}
		}
	}
	return made.saveSelections(ctx) // the result is not written yet
}

// reselection is a selection repeated on a sample of the rows.
type reselection struct {
	Names    []string // names of the features, best first
	Features int
}

// selectAgain repeats selection i on e.Resamples samples, and half is the number of rows of each. If the method can
// select from sums of the statistics of hash shards, and these statistics fit into memory, the rows are read only once.
// Otherwise selectAgain reads the rows of every sample.
func (e *evaluator) selectAgain(ctx context.Context, made *reselections, i int, half int64) error {
	s := &e.Selections[i]
	if len(made.Of[i]) == 0 {
		folder := made.runFolder(i, "shards")
		chosen, err := e.selectFromShards(ctx, s, half, folder)
		switch {
		case chosen != nil:
			return made.addSelections(ctx, i, folder, chosen...)
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
		out, err := e.selectFromSample(ctx, s, half, judge.RunSeed(e.request.Seed, r), folder)
		if err != nil {
			return err
		}
		c := reselection{Features: out.Features}
		for _, f := range out.Selected {
			c.Names = append(c.Names, f.Features()...)
		}
		e.timing.Solve += out.Timing.Solve
		if err := made.addSelections(ctx, i, folder, c); err != nil {
			return err
		}
	}
	return nil
}

// selectFromShards repeats selection s on combinations of hash shards of one sample of the rows. It gathers the
// statistics of the shards once, and saves their progress in the folder checkpoint. It returns nil if the method's
// statistics are not sums.
func (e *evaluator) selectFromShards(ctx context.Context, s *NamedSelection, half int64, checkpoint string) ([]reselection, error) {
	q, err := e.resampleRequest(s, half, judge.RunSeed(e.request.Seed, 0))
	if err != nil {
		return nil, err
	}
	rows := 2 * half // the input has at least this number of rows
	if e.Where == "" {
		rows = max(rows, e.rows)
	}
	fit, ok := halves.FitSamples(e.Resamples, half, rows)
	q.SampleRows, q.Checkpoint = fit.Rows, checkpoint
	r, err := q.newRun(ctx)
	if err != nil || !ok || r.From != method.FromGram && r.From != method.FromGraph {
		return nil, err
	}
	r.Stability = fit.Shards
	var chosen []reselection
	selection, err := r.runSelection(ctx, func(g *gatherer, from *bundle, s *stream.Selection) error {
		all, err := g.newCandidates(from.columns, s.LeftOut, true)
		if err != nil {
			return err
		}
		var keep []string
		for _, i := range all.keep {
			keep = append(keep, all.name(i))
		}
		profile := *from.profile
		from.profile, from.moments, from.graph = &profile, nil, nil // the statistics of all rows are not needed
		found, err := g.selectHalves(ctx, from, fit.DrawShards(e.Resamples, g.Seed), g.K, keep, s.LeftOut)
		for _, h := range found {
			c := reselection{Features: h.features}
			for _, j := range h.order {
				c.Names = append(c.Names, from.columns[j].Name)
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

func (e *evaluator) selectFromSample(ctx context.Context, s *NamedSelection, rows int64, seed uint64, checkpoint string) (*stream.Selection, error) {
	q, err := e.resampleRequest(s, rows, seed)
	if err != nil {
		return nil, err
	}
	q.Checkpoint = checkpoint
	r, err := q.newRun(ctx)
	if err != nil {
		return nil, err
	}
	r.skipsTrust = true
	out, err := r.selectFeatures(ctx)
	if out == nil {
		return nil, err
	}
	return out, nil // a failure to converge is not an error here, because the selection itself may not have converged
}

func (e *evaluator) resampleRequest(s *NamedSelection, rows int64, seed uint64) (Request, error) {
	q, err := RecordedRequest(s.Selection, e.Methods)
	if err != nil {
		return q, stream.Dataf(s.Path, "%w", err)
	}
	scope, err := place.NewScope(place.DisplayName(s.Path), place.OwnPlaces(s.Path), e.Allow)
	if err == nil {
		err = resolveFiles(q.Options, scope.Resolve)
	}
	if err != nil {
		return q, err
	}
	if s.choices > 0 {
		q.K = s.choices
	}
	q.Inputs, q.Stdin, q.Where, q.SampleRows, q.Seed = e.Inputs, e.request.Stdin, e.Where, rows, seed
	q.TempDir, q.MaxScratch, q.CheckpointEvery = e.TempDir, e.MaxScratch, e.CheckpointEvery
	q.Threads, q.Memory, q.Progress, q.Note, q.Say, q.Spelling = e.request.Threads, e.request.Memory, e.Progress, e.Note, e.Say, e.Spelling
	q.Anonymous, q.Allow, q.Version, q.AsOf, q.Texts = e.Anonymous, e.Allow, e.Version, e.AsOf, e.request.Texts
	q.Meter = e.request.Meter // it also counts reading and adding for the report
	if e.Label != "" {
		q.Label = e.Label
	}
	q.Missing = e.policyName // the missing policy with which s is judged
	if e.sparse != "" {
		q.Sparse = e.sparse
	}
	if m, err := strconv.ParseInt(q.Options.Text("anchors"), 10, 64); err == nil { // no more anchors than rows
		q.Options["anchors"] = min(m, rows)
	}
	return q, nil
}
