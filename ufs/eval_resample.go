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

// foresee finds out before anything is read whether the selections of resample will fit
// into memory, and about how long they take; rows is the height of the input.
func (e *evaluator) foresee(ctx context.Context, rows int64) error {
	if e.Resamples == 0 {
		return nil
	}
	if e.Sample > 0 {
		rows = min(rows, e.Sample)
	}
	for i := range e.Selections {
		s := &e.Selections[i]
		if err := e.foreseeOne(ctx, s, rows); err != nil {
			return e.unstable(ctx, s, err)
		}
	}
	return nil
}

func (e *evaluator) foreseeOne(ctx context.Context, s *NamedSelection, rows int64) error {
	q, err := e.request(s, max(rows/2, 2), judge.RunSeed(e.q.Seed, 0))
	if err != nil {
		return err
	}
	r, err := q.settle(ctx)
	if err != nil {
		return err
	}
	if err := r.countAnchors(ctx); err != nil {
		return err
	}
	opt := r.reading()
	ds, err := openDataset(ctx, r.Inputs, opt)
	if err != nil {
		return r.leastMemory(ctx, r.Inputs, opt, r.planSelection, err)
	}
	defer ds.Close()
	budget, err := r.planSelection(ds)
	if err != nil {
		return err
	}
	long := r.predicted(ds, budget)
	if r.From != method.FromGram && r.From != method.FromGraph {
		long *= time.Duration(e.Resamples)
	}
	e.predicted += long
	return nil
}

// unstable says what could not be done.
func (e *evaluator) unstable(ctx context.Context, s *NamedSelection, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return stream.Errorf("stability of %s, selecting again from half as many rows: %w; {resamples} 0 does without", s.Path, err)
}

// resample selects again, as each selection records, from random samples of the input of
// half as many rows as are judged, and says how far the selections agree at every k.
func (e *evaluator) resample(ctx context.Context) error {
	if e.Resamples == 0 {
		return nil
	}
	half := int64(e.used) / 2
	if half < 2 {
		return stream.Usagef("{resamples} selects from half as many rows, 2 or more, and there are %s; {resamples} 0 does without", plural(e.used, "row"))
	}
	again, err := e.openReselections(ctx, half)
	if err != nil {
		return err
	}
	for i := range e.Selections {
		s := &e.Selections[i]
		at := make(map[string]int, len(s.Columns))
		for j, c := range s.Columns {
			at[c.Name] = j
		}
		if err := e.selectAgain(ctx, again, i, half); err != nil {
			return again.brokenOff(ctx, e.unstable(ctx, s, err))
		}
		orders, features := make([][]int, e.Resamples), 0
		for r, c := range again.Of[i] {
			features = max(features, c.Features)
			for _, name := range c.Names {
				j, known := at[name]
				if !known { // constant in the whole input it was made from, or absent there
					j = len(at)
					at[name] = j
				}
				orders[r] = append(orders[r], j)
			}
		}
		for j := range e.results {
			r := &e.results[j]
			if r.set != s {
				continue
			}
			sets := make([][]int, len(orders))
			for m, order := range orders {
				sets[m] = order[:min(r.K, len(order))]
			}
			st := judge.Agreement(sets, max(features, len(at))) // s may list no columns
			r.Stability = &stream.Stability{Resamples: st.Resamples, Jaccard: stream.Number(st.Jaccard), Nogueira: stream.Number(st.Nogueira)}
		}
	}
	return again.save(ctx) // the result is not safe yet
}

// rechosen is what was selected again from a sample of the rows.
type rechosen struct {
	Names    []string // best first
	Features int
}

// selectAgain makes selection i again from as many samples of half rows as are wanted: from sums of
// hash shards where there are some and they fit into memory, which takes the passes of one
// selection, else each by itself.
func (e *evaluator) selectAgain(ctx context.Context, again *reselections, i int, half int64) error {
	s := &e.Selections[i]
	if len(again.Of[i]) == 0 {
		below := again.below(i, "shards")
		chosen, err := e.fromShards(ctx, s, half, below)
		switch {
		case chosen != nil:
			return again.add(ctx, i, below, chosen...)
		case err != nil && !errors.As(err, new(*stream.MemoryError)):
			return err
		}
		if err := forgetBelow(below); err != nil {
			return err
		}
	}
	for len(again.Of[i]) < e.Resamples {
		r := len(again.Of[i])
		below := again.below(i, fmt.Sprintf("sample-%d", r+1))
		out, err := e.again(ctx, s, half, judge.RunSeed(e.q.Seed, r), below)
		if err != nil {
			return err
		}
		c := rechosen{Features: out.Features}
		for _, f := range out.Selected {
			c.Names = append(c.Names, f.Features()...)
		}
		e.timing.Solve += out.Timing.Solve
		if err := again.add(ctx, i, below, c); err != nil {
			return err
		}
	}
	return nil
}

// fromShards makes selection s again by hash shards of one sample of the rows, which are gathered once,
// with the checkpoint that is given. It returns nothing where the method has no statistics that are sums.
func (e *evaluator) fromShards(ctx context.Context, s *NamedSelection, half int64, checkpoint string) ([]rechosen, error) {
	q, err := e.request(s, half, judge.RunSeed(e.q.Seed, 0))
	if err != nil {
		return nil, err
	}
	rows := 2 * half // there are as many at least
	if e.Where == "" {
		rows = max(rows, e.rows)
	}
	fit, ok := halves.Fit(e.Resamples, half, rows)
	q.SampleRows, q.Checkpoint = fit.Rows, checkpoint
	r, err := q.settle(ctx)
	if err != nil || !ok || r.From != method.FromGram && r.From != method.FromGraph {
		return nil, err
	}
	r.Stability = fit.Shards
	var chosen []rechosen
	again, err := r.choose(ctx, func(g *gatherer, from *gathered, s *stream.Selection) error {
		all, err := g.candidatesOf(from.columns, s.LeftOut, true)
		if err != nil {
			return err
		}
		var keep []string
		for _, i := range all.keep {
			keep = append(keep, all.name(i))
		}
		profile := *from.profile
		from.profile, from.moments, from.graph = &profile, nil, nil // the whole is not wanted
		found, err := g.selectHalves(ctx, from, fit.Draw(e.Resamples, g.Seed), g.K, keep, s.LeftOut)
		for _, h := range found {
			c := rechosen{Features: h.features}
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
	e.timing.Solve += again.Timing.Solve
	return chosen, nil
}

// again makes selection s once more, from a seeded sample of the rows, with the checkpoint that is given.
func (e *evaluator) again(ctx context.Context, s *NamedSelection, rows int64, seed uint64, checkpoint string) (*stream.Selection, error) {
	q, err := e.request(s, rows, seed)
	if err != nil {
		return nil, err
	}
	q.Checkpoint = checkpoint
	r, err := q.settle(ctx)
	if err != nil {
		return nil, err
	}
	r.unjudged = true
	out, err := r.selectFeatures(ctx)
	if out == nil {
		return nil, err
	}
	return out, nil // not converged is no reason to stop: the selection itself may not be
}

// request is the request that s records, for other rows.
func (e *evaluator) request(s *NamedSelection, rows int64, seed uint64) (Request, error) {
	q, err := Recorded(s.Selection, e.Methods)
	if err != nil {
		return q, stream.Dataf(s.Path, "%w", err)
	}
	scope, err := place.NewScope(place.Name(s.Path), place.OwnPlaces(s.Path), e.Allow)
	if err == nil {
		err = resolveFiles(q.Options, scope.Resolve)
	}
	if err != nil {
		return q, err
	}
	if s.turns > 0 {
		q.K = s.turns
	}
	q.Inputs, q.Stdin, q.Where, q.SampleRows, q.Seed = e.Inputs, e.q.Stdin, e.Where, rows, seed
	q.TempDir, q.MaxScratch, q.CheckpointEvery = e.TempDir, e.MaxScratch, e.CheckpointEvery
	q.Threads, q.Memory, q.Progress, q.Note, q.Say, q.Spelling = e.q.Threads, e.q.Memory, e.Progress, e.Note, e.Say, e.Spelling
	q.Anonymous, q.Allow, q.Version, q.AsOf, q.Texts = e.Anonymous, e.Allow, e.Version, e.AsOf, e.q.Texts
	q.Meter = e.q.Meter // which counts reading and adding for the report too
	if e.Label != "" {
		q.Label = e.Label
	}
	q.Missing = e.policyName // as it is judged by
	if e.sparse != "" {
		q.Sparse = e.sparse
	}
	if m, err := strconv.ParseInt(q.Options.Text("anchors"), 10, 64); err == nil { // at most all rows, as by default
		q.Options["anchors"] = min(m, rows)
	}
	return q, nil
}
