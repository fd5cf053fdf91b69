package main

import (
	"math"

	"github.com/ufs-stream/ufs-stream/baseline"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rank runs the baselines, which need the profile only.
func (r *request) rank(e *evidence, s *stream.Selection) error {
	std, err := gram.NewStandardizer(e.profile, e.columns, r.scale, r.fill())
	if err != nil {
		return place(err, e)
	}
	used := usedColumns{index: std.Columns, mean: std.Mean, std: std.Std, filled: std.Filled}
	scores := baseline.Variance(std)
	if e.wanted != nil {
		used, scores = used.keep(e.wanted, scores)
	}
	cols := used.columns(e)
	s.LeftOut = append(s.LeftOut, e.unlisted(std.LeftOut)...)
	s.Warnings = append(s.Warnings, std.Warnings...)
	s.Features = len(cols)
	s.K = r.method.k
	if s.K == 0 {
		s.K = min(defaultK, len(cols))
	}
	if err := atMost(s.K, len(cols), s.LeftOut); err != nil {
		return err
	}
	if r.chosen.name == "random" {
		scores = baseline.Random(cols, r.limits.seed)
	}
	order, warnings := baseline.Rank(scores, cols, s.K)
	s.Warnings = append(s.Warnings, warnings...)
	rankUp(e, used, order, scores, s)
	return nil
}

// rankUp puts a ranking into s.
func rankUp(e *evidence, used usedColumns, order []int, scores []float64, s *stream.Selection) {
	cols := used.columns(e)
	for t, j := range order {
		s.Selected = append(s.Selected, stream.Selected{
			Rank: t + 1, Name: cols[j].Name, Column: j,
			Score: stream.Number(scores[j]), Error: stream.Number(math.NaN()),
		})
	}
	for j, c := range cols {
		s.Scores = append(s.Scores, stream.Score{Name: c.Name, Score: stream.Number(scores[j])})
		s.Columns = append(s.Columns, reportColumn(e, used, j))
	}
}

// keep is the part of u, and of the scores beside it, that is wanted.
func (u usedColumns) keep(wanted []bool, scores []float64) (usedColumns, []float64) {
	var kept usedColumns
	var keptScores []float64
	for k, j := range u.index {
		if wanted[j] {
			kept.index = append(kept.index, j)
			kept.mean, kept.std = append(kept.mean, u.mean[k]), append(kept.std, u.std[k])
			kept.filled = append(kept.filled, u.filled[k])
			keptScores = append(keptScores, scores[k])
		}
	}
	return kept, keptScores
}
