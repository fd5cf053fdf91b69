package selecting

import (
	"context"
	"errors"
	"maps"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/judging/agree"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

func solveGrid(ctx context.Context, attempts settled.Attempts, varied method.Varied) (*result.Paths, error) {
	attempts[0].ManySettings = true
	out := new(stream.Grid)
	s, err := RunSelection(ctx, attempts, func(g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) error {
		t, err := NewTrial(g, e, s)
		if err != nil {
			return statistics.WithPlace(err, e)
		}
		if err := t.recommendSize(ctx); err != nil {
			return errors.Join(err, t.Close(s))
		}
		var found *method.Grid
		err = t.solve(ctx, varied.Settings(), func(ctx context.Context) (err error) {
			found, err = varied.Path(ctx, t.methodEvidence())
			if err == nil {
				for i := range found.Settings {
					found.Settings[i].Ranking = rankCandidates(t, found.Settings[i].Ranking)
				}
			}
			return err
		})
		if err == nil {
			s.K = t.K
			e.Passes += found.Passes
			err = reportGrid(t, found, out)
		}
		return errors.Join(err, t.Close(s))
	})
	if s == nil {
		return nil, err
	}
	out.Method, out.Seed, out.Version, out.Rows, out.RowsUsed, out.Features, out.K = s.Method, s.Seed, s.Version, s.Rows, s.RowsUsed, s.Features, s.K
	out.Options, out.Inputs, out.Passes, out.Warnings, out.Timing, out.Memory, out.Transfer = s.Options, s.Inputs, s.Passes, s.Warnings, s.Timing, s.Memory, s.Transfer
	return &result.Paths{Grid: out}, err
}

// reportGrid puts the solved settings of the method, with their selected features, into out. The error is a
// *stream.UnconvergedError if an objective rose, or if an iteration did not converge although this is required.
func reportGrid(t *Trial, found *method.Grid, out *stream.Grid) error {
	s := t.Selection
	maps.Copy(s.Options, found.Used)
	s.Warnings = append(s.Warnings, wording.SpellAll(found.Warnings, t.run.Hooks.Spelling)...)
	chosen := make([][]pick, len(found.Settings))
	for i, set := range found.Settings {
		if err := t.checkRanking(set.Ranking); err != nil {
			return err
		}
		chosen[i] = enoughPicks(t, set.Ranking, firstRankedPicks(t, set.Ranking, t.K))
	}
	agreement := compareSettings(t, found, chosen, out)
	if len(chosen) > 0 {
		describeEstimate(t, pickedFeatures(chosen[max(out.Recommended, 0)]), false)
	}
	var first error
	most, short := 0, 0
	for i, set := range found.Settings {
		r := set.Ranking
		setting := stream.GridSetting{
			Alpha: stream.Number(set.Alpha), Gamma: stream.Number(set.Gamma),
			Objective:  stream.Number(math.NaN()),
			Iterations: len(r.Trace), Converged: !r.Unsettled && r.Rose == nil,
			Agreement: stream.Number(agreement[i]), Warnings: wording.SpellAll(r.Warnings, t.run.Hooks.Spelling),
		}
		if n := len(r.Trace); n > 0 {
			setting.Objective = r.Trace[n-1].Objective
		}
		if beta := stream.Number(set.Beta); !math.IsNaN(set.Beta) {
			setting.Beta = &beta
		}
		if set.Flags.Format != "" {
			setting.Flags = set.Flags.Spell(t.run.Hooks.Spelling)
		}
		var selected []stream.Selected
		for rank, p := range chosen[i] {
			f := newSelectedFeature(t, rank+1, p)
			selected, setting.Selected = append(selected, f), append(setting.Selected, f.Name)
			if f.Members != nil {
				if out.Members == nil {
					out.Members = make(map[string][]string)
				}
				out.Members[f.Name] = f.Members
			}
		}
		setting.Cost, most = totalCost(t, selected), max(most, len(selected))
		from, to := r.Ties.At(len(selected))
		setting.DecidedByTies = from == 0 && to > len(selected)
		out.Settings = append(out.Settings, setting)
		if !setting.Converged {
			short++
		}
		at := set.Name.Spell(t.run.Hooks.Spelling)
		switch {
		case r.Rose != nil:
			t.warn("the objective rose at %s, although it must fall: do not trust that setting", at)
			first = &stream.UnconvergedError{What: "the objective rose at " + at}
		case t.run.Bound.RequireConverged && r.Unsettled && first == nil:
			first = &stream.UnconvergedError{What: "not converged at " + at}
		}
	}
	if t.run.Choice.AutoK { // t.K counted features, because groups were not chosen yet
		s.K = most
	}
	if short > 0 {
		t.warn("%d of %s did not converge; raise {max-iter}", short, wording.CountNoun(len(out.Settings), "setting"))
	}
	return first
}

// compareSettings records in out which setting of the method it recommends. It returns the agreement of each setting
// with its neighbours in the grid: of the chosen features, or of the chosen groups if there are groups. Under a budget,
// the settings may choose different numbers of features or groups.
func compareSettings(t *Trial, found *method.Grid, chosen [][]pick, out *stream.Grid) []float64 {
	g := &agree.Grid{Width: found.Width, K: []int{t.K}}
	for i, set := range found.Settings {
		setting := agree.Setting{Apart: set.Apart}
		for _, p := range chosen[i] {
			setting.Order = append(setting.Order, p.candidate)
		}
		from, to := set.Ranking.Ties.At(len(setting.Order))
		setting.Sound = set.Sound && from == to
		g.Settings = append(g.Settings, setting)
	}
	switch out.Recommended, out.Why = g.RecommendSetting(); {
	case out.Recommended < 0:
		out.Why = "every setting warns of something, has not converged, or ties at the last feature"
	case found.Settings[out.Recommended].Ranking.Unsettled:
		out.Why += "; its iteration has not converged"
	}
	agreement := make([]float64, len(found.Settings))
	for at, list := range g.AgreementByK() {
		agreement[at] = list[0]
	}
	return agreement
}
