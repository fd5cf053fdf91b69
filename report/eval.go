package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// evaluationMeasure is a quality measure of an evaluation, with a column in the table.
type evaluationMeasure struct {
	name, slug, about string
	clustering        bool // the measure is computed from clusterings
	value             func(*stream.Evaluated) *stream.Spread
}

func singleValueSpread(n stream.Number) *stream.Spread {
	return &stream.Spread{Mean: n, Std: stream.Number(math.NaN())}
}

func allMeasures() []evaluationMeasure {
	var all []evaluationMeasure
	addScores := func(clustering bool, scores func(*stream.Evaluated) []stream.ClusterScore) {
		for i, score := range scores(new(stream.Evaluated)) {
			all = append(all, evaluationMeasure{score.Title, strings.ReplaceAll(score.Field, "_", "-"), score.About, clustering,
				func(r *stream.Evaluated) *stream.Spread { return scores(r)[i].Spread }})
		}
	}
	addScores(true, (*stream.Evaluated).ClusterScores)
	addScores(false, (*stream.Evaluated).ClassifierScores)
	stability := func(index func(*stream.Stability) stream.Number) func(*stream.Evaluated) *stream.Spread {
		return func(r *stream.Evaluated) *stream.Spread {
			if r.Stability == nil {
				return nil
			}
			return singleValueSpread(index(r.Stability))
		}
	}
	return append(all,
		evaluationMeasure{"Reconstruction error", "reconstruction", "share of the sum of squares that the features leave unexplained", false, func(r *stream.Evaluated) *stream.Spread { return singleValueSpread(r.Reconstruction) }},
		evaluationMeasure{"Redundancy", "redundancy", "mean absolute correlation between the features", false, func(r *stream.Evaluated) *stream.Spread { return singleValueSpread(r.Redundancy) }},
		evaluationMeasure{"Stability (Jaccard)", "jaccard", "mean Jaccard index of the selections from resampled rows", false, stability(func(s *stream.Stability) stream.Number { return s.Jaccard })},
		evaluationMeasure{"Stability (Nogueira)", "nogueira", "the same corrected for chance (Nogueira et al. 2018)", false, stability(func(s *stream.Stability) stream.Number { return s.Nogueira })},
	)
}

func presentMeasures(e *stream.Evaluation) []evaluationMeasure {
	var list []evaluationMeasure
	for _, m := range allMeasures() {
		for i := range e.Results {
			if v := m.value(&e.Results[i]); v != nil && !math.IsNaN(float64(v.Mean)) {
				list = append(list, m)
				break
			}
		}
	}
	return list
}

// evaluationChart draws measure m over the number k of features, with one line for each name of a result. It returns
// nil if every name has results for a single k only.
func evaluationChart(e *stream.Evaluation, m evaluationMeasure) *Chart {
	c := &Chart{Title: m.name + " over the number of features", XLabel: "features", YLabel: m.name, WholeX: true}
	at := map[string]int{}
	several := false
	for i := range e.Results {
		r := &e.Results[i]
		v := m.value(r)
		if v == nil || math.IsNaN(float64(v.Mean)) {
			continue
		}
		n, ok := at[r.Name]
		if !ok {
			n = len(c.Series)
			at[r.Name] = n
			c.Series = append(c.Series, Series{Name: r.Name})
		}
		s := &c.Series[n]
		several = several || len(s.X) > 0 && s.X[len(s.X)-1] != float64(r.K)
		mean, std := float64(v.Mean), float64(v.Std)
		s.X, s.Y = append(s.X, float64(r.K)), append(s.Y, mean)
		s.Low, s.High = append(s.Low, mean-std), append(s.High, mean+std)
	}
	if !several {
		return nil
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range c.Series {
		s := &c.Series[i]
		s.SortByX()
		if n := len(s.X); n > 1 {
			lo, hi = min(lo, s.X[0]), max(hi, s.X[n-1])
		}
	}
	// A series with a single k, such as that of all features, becomes a horizontal line for comparison.
	for i := range c.Series {
		if s := &c.Series[i]; len(s.X) == 1 && lo < hi && (s.X[0] < lo || s.X[0] > hi) {
			s.Name = fmt.Sprintf("%s (%s)", s.Name, countNoun(int(s.X[0]), "feature"))
			s.X = []float64{lo, hi}
			s.Y, s.Low, s.High = slices.Repeat(s.Y, 2), slices.Repeat(s.Low, 2), slices.Repeat(s.High, 2)
		}
	}
	return c
}
