package selecting

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func (t *Trial) selectByMethod(ctx context.Context) error {
	if err := openPassCheckpoint(t); err != nil {
		return err
	}
	var r *method.Ranking
	err := t.solve(ctx, 1, func(ctx context.Context) (err error) {
		r, err = t.rankByMethod(ctx, t.run.Bound.Solver)
		return err
	})
	if err != nil {
		return err
	}
	t.bundle.Passes += r.Passes
	return t.reportRanking(ctx, r)
}

func (t *Trial) rankByMethod(ctx context.Context, solver method.Method) (*method.Ranking, error) {
	r, err := solver.Select(ctx, t.methodEvidence())
	if err == nil {
		err = t.checkRanking(r)
	}
	if err != nil {
		return nil, err
	}
	return rankCandidates(t, r), nil
}

// methodEvidence returns the evidence for the method. A method that does not support groups has to choose more
// features: as many as the K largest groups have.
func (t *Trial) methodEvidence() *method.Evidence {
	e := *t.Evidence
	if !t.run.Bound.Takes.Choice && e.Blocks != nil {
		e.K, e.Keep = min(t.candidates.Features(e.K), len(t.Columns)), nil
	}
	return &e
}

func (t *Trial) checkRanking(ranking *method.Ranking) error {
	if err := ranking.Check(len(t.Columns)); err != nil {
		return fmt.Errorf("method %s returned a faulty ranking: %w", t.run.Bound.Name, err)
	}
	return nil
}

// reportRanking puts the ranking into the selection. The error is a *stream.UnconvergedError if the objective rose, or
// if the iteration did not converge although this is required.
func (t *Trial) reportRanking(ctx context.Context, r *method.Ranking) error {
	s := t.Selection
	if s.K = t.K; s.K == 0 {
		s.K = countRankedCandidates(r)
	}
	picks := firstRankedPicks(t, r, s.K)
	if t.MinGain > 0 {
		if !t.run.Bound.Takes.MinGain {
			var err error
			if picks, err = cutAtMinGain(t, picks); err != nil {
				return err
			}
		}
		s.K = len(picks)
	}
	if picks = enoughPicks(t, r, picks); t.run.Choice.AutoK {
		s.K = len(picks)
	}
	order := pickedFeatures(picks)
	for i, p := range picks {
		f := newSelectedFeature(t, i+1, p)
		if r.Turns != nil {
			f.Score = stream.Number(r.Turns[i])
		} else {
			f.Score = stream.Number(r.Scores[p.features[0]])
		}
		if r.Least != nil {
			least := stream.Number(r.Least[i])
			f.Least = &least
		}
		if r.Layers != nil && r.Layers[i] > 1 {
			f.Layer = r.Layers[i]
		}
		s.Selected = append(s.Selected, f)
	}
	s.Cost = totalCost(t, s.Selected)
	for j, c := range t.Columns {
		if r.Scores != nil {
			s.Scores = append(s.Scores, stream.Score{Name: c.Name, Score: stream.Number(r.Scores[j])})
		}
		missing := t.bundle.Profile.Columns[t.Index[j]].Missing
		s.Columns = append(s.Columns, stream.ColumnReport{
			Name: c.Name, Column: c.Position, Mean: stream.Number(t.Means[j]), Std: stream.Number(t.Deviations[j]),
			Nulls: missing.Nulls, NaNs: missing.NaNs, Infs: missing.Infs, Filled: t.filled[j], Explained: stream.Number(math.NaN()),
		})
	}
	for _, j := range t.Explain {
		s.Columns[j].Role = stream.RoleExplained
	}
	s.LowerIsBetter = r.LowerIsBetter
	if err := t.explainChoice(ctx, r, picks); err != nil {
		return err
	}
	if err := recordGreedyError(ctx, t, order); err != nil {
		return err
	}
	t.recordGroupCount()
	if err := recordCorrelations(t, order); err != nil {
		return err
	}
	estimate := describeEstimate(t, order, r.Error == nil)
	maps.Copy(s.Options, r.Used)
	s.Trace, s.Iterations, s.Converged = r.Trace, len(r.Trace), !r.Unsettled
	if len(r.Objective) == len(r.Error)+1 { // the objective before the first feature, and after each feature
		r.Objective = r.Objective[:min(len(picks)+1, len(r.Objective))]
	}
	for _, v := range r.Objective {
		s.Objective = append(s.Objective, stream.Number(v))
	}
	for _, step := range r.Trace {
		s.Objective = append(s.Objective, step.Objective)
	}
	s.Warnings = append(s.Warnings, wording.SpellAll(r.Warnings, t.run.Hooks.Spelling)...)
	s.Estimate = cmp.Or(r.Estimate, estimate)
	if from, to := r.Ties.At(s.K); from < to {
		t.warn("ranks %d to %d have equal scores: column order decides which are selected", from+1, to)
	}
	appraiseChoice(t, order)
	recordClusterAlignment(t, r.Chance)
	if err := recordChoiceTrust(ctx, t, order); err != nil {
		return err
	}
	return t.reportConvergence(r)
}

func (t *Trial) reportConvergence(r *method.Ranking) error {
	problem := "not converged after " + wording.CountNoun(len(r.Trace), "iteration")
	if r.Unsettled {
		t.warn("%s; raise {max-iter}", problem)
	}
	switch rose := r.Rose; {
	case rose != nil:
		t.Selection.Converged = false
		t.warn("the objective rose in iteration %d, from %v to %v, although it must fall: do not trust the result", rose.Iteration, rose.From, rose.To)
		return &stream.UnconvergedError{What: fmt.Sprintf("the objective rose in iteration %d", rose.Iteration)}
	case r.Unsettled && t.run.Bound.RequireConverged:
		return &stream.UnconvergedError{What: problem}
	}
	return nil
}

func (t *Trial) explainChoice(ctx context.Context, ranking *method.Ranking, picks []pick) error {
	s := t.Selection
	if ranking.Error != nil {
		for i := range s.Selected {
			s.Selected[i].Error = stream.Number(ranking.Error[i])
		}
		for j := range s.Columns {
			t.recordExplainedShare(j, ranking.Explained[j], ranking.Nearest[j])
		}
		return nil
	}
	if t.ExplainGram == nil {
		return nil
	}
	// If the matrix lacks some of the features, these are constant and explain nothing.
	featureIndex := t.explainFeatures
	if featureIndex == nil {
		featureIndex = make([]int, len(t.Columns))
		for j := range featureIndex {
			featureIndex[j] = j
		}
	}
	var chosen, ranks []int
	for i, p := range picks {
		for _, j := range p.features {
			if k, varies := slices.BinarySearch(featureIndex, j); varies {
				chosen, ranks = append(chosen, k), append(ranks, i)
			}
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	x, err := judge.ExplainChoice(ctx, t.ExplainGram, chosen, t.Threads)
	if err != nil {
		return err
	}
	if err := warnIfWorse(ctx, t, func(k int) string { return t.Columns[featureIndex[k]].Name }, chosen); err != nil {
		return err
	}
	for i, rank := range ranks {
		s.Selected[rank].Error = stream.Number(x.Error[i])
	}
	for i := ranks[len(ranks)-1] + 1; i < len(s.Selected); i++ { // constant features explain nothing more
		s.Selected[i].Error = s.Selected[i-1].Error
	}
	for k, j := range featureIndex {
		nearest := x.Nearest[k]
		if nearest >= 0 {
			nearest = featureIndex[nearest]
		}
		t.recordExplainedShare(j, x.Explained[k], nearest)
	}
	return nil
}

func (t *Trial) recordExplainedShare(column int, share float64, nearest int) {
	c := &t.Selection.Columns[column]
	c.Explained = stream.Number(share)
	if nearest >= 0 {
		c.Nearest = t.Columns[nearest].Name
	}
}

// solve runs the method by a call of iterate, and shows the progress of its passes and iterations. It restates a memory
// error in terms of the whole run. settings is the number of settings for which the method runs.
func (t *Trial) solve(ctx context.Context, settings int, iterate func(context.Context) error) error {
	before := t.Gatherer.Passes
	p := request.Progress{What: "selecting", Pass: before, Passes: t.Gatherer.LeastPasses, Most: t.Gatherer.MostPasses, Rows: -1}
	if t.Source != nil {
		p.Pass, p.Rows = before+1, t.Source.Rows()
	}
	most := t.bundle.Plan.Iterations * settings
	var mu sync.Mutex
	shown, done, reading := false, 0, true
	show := func() { // a method that reports no iterations is fast
		if shown = true; t.run.Hooks.Progress != nil {
			t.run.Hooks.Progress(p)
		}
	}
	t.Pass = func(pass int, title string) {
		mu.Lock()
		defer mu.Unlock()
		if p.Pass, reading = before+pass, true; done == 0 {
			p.What = title
		}
		show()
	}
	t.Iteration = func(int, float64) {
		mu.Lock()
		defer mu.Unlock()
		if done++; t.Source != nil && !reading { // iterations over rows in memory count as passes in the progress
			p.Rows = t.Rows * int64(most)
			t.Meter.Rows.Add(t.Rows)
		}
		reading = false
		p.What = fmt.Sprintf("iteration %d", done+1)
		if most > 0 {
			p.What = fmt.Sprintf("iteration %d of at most %d", min(done+1, most), most)
		}
		show()
	}
	if t.run.Bound.Takes.Iterates && t.Source == nil && most > 0 {
		p.What = fmt.Sprintf("iteration 1 of at most %d", most)
		show()
	}
	err := runOverRows(ctx, t, func(step int) {
		mu.Lock()
		defer mu.Unlock()
		done += step
	}, iterate)
	if p.Done, p.Failed = true, err != nil; shown {
		show()
	}
	if err = statistics.WithPlace(err, t.bundle); err != nil && t.bundle.Source != nil {
		err = t.bundle.Plan.ErrForLimit(err)
	}
	return err
}
