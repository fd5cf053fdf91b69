package tuning

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RandomAlike names the contender that has as many random selections to choose from as a method has settings.
const RandomAlike = "random columns tuned alike"

// Method is a method whose settings labels choose.
type Method struct {
	Title string
	Flags []string // flags of select
	Grids []Grid   // the settings to choose from
}

// Grid is a call of path. Its flags follow the flags of the method, and then come its weights, each with several values.
type Grid struct{ Flags, Weights []string }

// Result is the best of a method's settings and numbers of features by the labels.
type Result struct {
	Set      string
	Method   string
	Settings int // number of settings
	Count    int
	Flags    []string                 // the setting: flags of select after the flags of the method
	Chosen   stream.Evaluated         // the scores by which it was chosen
	Highest  map[string]stream.Spread // the score of the highest mean of any setting and number, by its field
	Again    stream.Evaluated         // the scores of the same setting with fresh seeds
	Default  stream.Evaluated         // the scores of the method's default at this number of features with the same seeds; empty for random
}

// setting is a selection that labels judge. Its flags, after the flags of its method, have select make it.
type setting struct {
	flags []string
	file  string
}

// TuneMethod chooses the best of the settings of a method on a set by the mean of a score, which is a field of the results of
// eval. The second result is chosen likewise from random selections, of which there are as many as settings in the
// grids. If ties decided a setting, it is not judged, because its selection is no result of the method. note is called
// before every path.
func (r *Runner) TuneMethod(ctx context.Context, s Set, m Method, field string, note func(text string)) (best, alike Result, err error) {
	random := Method{Title: RandomAlike, Flags: []string{"--method", "random"}}
	best, alike = Result{Set: s.Title, Method: m.Title}, Result{Set: s.Title, Method: random.Title}
	draws := 0
	for i, g := range m.Grids {
		note(fmt.Sprintf("grid %d of %d: %s", i+1, len(m.Grids), strings.Join(slices.Concat(g.Flags, g.Weights), " ")))
		settings, tried, err := r.solveGrid(ctx, s, m, g)
		if err != nil {
			return best, alike, fmt.Errorf("%s: %w", m.Title, err)
		}
		if err := r.judgeSettings(ctx, s, settings, field, &best); err != nil {
			return best, alike, err
		}
		if settings, err = r.drawSettings(ctx, s, random, draws, tried); err != nil {
			return best, alike, err
		}
		if err := r.judgeSettings(ctx, s, settings, field, &alike); err != nil {
			return best, alike, err
		}
		draws += tried
	}
	if best.Settings == 0 {
		return best, alike, fmt.Errorf("%s: column order decided every setting of the grid: there is no result", m.Title)
	}
	if best.Again, err = r.repeatSetting(ctx, s, m, best.Flags, best.Count); err == nil {
		if best.Default, err = r.repeatSetting(ctx, s, m, nil, best.Count); err == nil {
			alike.Again, err = r.repeatSetting(ctx, s, random, alike.Flags, alike.Count)
		}
	}
	return best, alike, err
}

// solveGrid returns the settings of a grid that ties did not decide, and the number of all settings.
func (r *Runner) solveGrid(ctx context.Context, s Set, m Method, g Grid) (settings []setting, tried int, err error) {
	args := slices.Concat(s.commonFlags(slices.Max(s.Counts), s.Seed), s.SelectFlags, m.Flags, g.Flags, g.Weights)
	solved, _, err := runOnce(ctx, r, "path", args, func(to *stream.Grid) (workshop.Cost, error) { return r.Shop.RunJSON(ctx, to, "path", args...) })
	if err != nil {
		return nil, 0, err
	}
	for _, x := range solved.Settings {
		if x.DecidedByTies || len(x.Selected) < solved.K {
			continue
		}
		sel := &stream.Selection{Method: solved.Method, K: solved.K, Features: solved.Features, Options: solved.Options}
		for i, name := range x.Selected {
			sel.Selected = append(sel.Selected, stream.Selected{Rank: i + 1, Name: name})
		}
		file, err := r.writeSelection(ctx, sel)
		if err != nil {
			return nil, 0, err
		}
		flags := slices.Clone(g.Flags)
		for _, weight := range x.WeightTexts() {
			flags = append(flags, "--"+weight[0], weight[1])
		}
		settings = append(settings, setting{flags, file})
	}
	return settings, len(solved.Settings), nil
}

func (r *Runner) drawSettings(ctx context.Context, s Set, random Method, first, count int) (settings []setting, err error) {
	for i := range count {
		flags := []string{"--seed", strconv.Itoa(first + i + 1)}
		file, _, _, err := r.SelectFeatures(ctx, s, slices.Max(s.Counts), s.Seed, slices.Concat(random.Flags, flags))
		if err != nil {
			return nil, err
		}
		settings = append(settings, setting{flags, file})
	}
	return settings, nil
}

// judgeSettings scores settings by the labels, for each number of features, and keeps the one with the highest mean of
// the field in best.
func (r *Runner) judgeSettings(ctx context.Context, s Set, settings []setting, field string, best *Result) error {
	var selections []string
	for i, x := range settings {
		selections = append(selections, fmt.Sprintf("%d=%s", i, x.file))
	}
	for _, k := range s.Counts {
		if selections == nil {
			break
		}
		e, err := r.JudgeSelections(ctx, s, k, s.Seed, s.ChoiceFlags, selections, nil)
		if err != nil {
			return err
		}
		for i, x := range settings {
			best.raiseHighest(e.Results[i])
			most, _ := ScoreOf(best.Chosen, field)
			if score, ok := ScoreOf(e.Results[i], field); ok && (best.Count == 0 || score.Mean > most.Mean) {
				best.Count, best.Flags, best.Chosen = k, x.flags, e.Results[i]
			}
		}
	}
	best.Settings += len(settings)
	return nil
}

func (r *Result) raiseHighest(e stream.Evaluated) {
	if r.Highest == nil {
		r.Highest = make(map[string]stream.Spread)
	}
	for _, s := range e.ClusterScores() {
		if most, known := r.Highest[s.Field]; s.Spread != nil && (!known || s.Mean > most.Mean) {
			r.Highest[s.Field] = *s.Spread
		}
	}
}

// repeatSetting selects and judges with fresh seeds, the same ones for every setting of the set.
func (r *Runner) repeatSetting(ctx context.Context, s Set, m Method, flags []string, k int) (stream.Evaluated, error) {
	seed := s.Seed + 1
	file, _, _, err := r.SelectFeatures(ctx, s, slices.Max(s.Counts), seed, slices.Concat(m.Flags, flags))
	if err != nil {
		return stream.Evaluated{}, fmt.Errorf("%s again: %w", m.Title, err)
	}
	e, err := r.JudgeSelections(ctx, s, k, seed, nil, []string{"again=" + file}, nil)
	if err != nil {
		return stream.Evaluated{}, err
	}
	return e.Results[0], nil
}

// ScoreOf returns a score of a result of eval by its field in JSON. It returns false if the result does not have it.
func ScoreOf(r stream.Evaluated, field string) (stream.Spread, bool) {
	for _, s := range r.ClusterScores() {
		if s.Field == field && s.Spread != nil {
			return *s.Spread, true
		}
	}
	return stream.Spread{}, false
}

// NMIRuns returns the NMI of each run of a result, for the tests of package judge.
func NMIRuns(r stream.Evaluated) []float64 {
	runs := make([]float64, len(r.NMIRuns))
	for i, nmi := range r.NMIRuns {
		runs[i] = float64(nmi)
	}
	return runs
}

// Tests are the probabilities that a difference of the NMI of two results over runs is chance. They are NaN if a result
// lacks the NMI of its runs.
type Tests struct {
	TwoTailed, OneTailed float64 // Welch's t-test
	Wilcoxon             float64 // two-sided
}

// CompareRuns tests whether the NMI of a and b differ, or for OneTailed, whether that of a is higher. Runs of the same seed
// are pairs for Wilcoxon's test.
func CompareRuns(a, b stream.Evaluated) Tests {
	x, y := NMIRuns(a), NMIRuns(b)
	t := judge.WelchTest(x, y)
	if len(x) != len(y) {
		return Tests{t.P, t.OneSided(), judge.WilcoxonTest(nil, nil).P}
	}
	return Tests{t.P, t.OneSided(), judge.WilcoxonTest(x, y).P}
}
