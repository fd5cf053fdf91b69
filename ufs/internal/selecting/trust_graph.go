package selecting

import (
	"cmp"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

// recordSampleTrust records the evidence for dependent columns and for clusters in the sample of rows, if the run
// surveyed one. It warns if the columns are independent, or if a method that needs clusters finds none.
func recordSampleTrust(g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) {
	if e.Survey == nil {
		return
	}
	compare := func(t survey.Test, measure string) *stream.Chance {
		if t.Chance == 0 { // no comparison: a single column, too few rows, or sparse rows
			return nil
		}
		return &stream.Chance{Measure: measure, Value: stream.Number(t.Value), Chance: stream.Number(t.Chance), Trusted: t.Trusted}
	}
	d := compare(e.Survey.Dependence, "mean squared correlation of two columns in a sample of the rows, against independent columns")
	measure := "sum of the leading eigenvalues of the graph of a sample of the rows"
	if e.Survey.ByShares {
		measure = "mean share of a column that the graph of a sample of the rows explains"
	}
	c := compare(e.Survey.Clusters, measure+", against rows of the same covariance without clusters")
	if d == nil && c == nil {
		return
	}
	s.Trust = cmp.Or(s.Trust, new(stream.Trust))
	s.Trust.Dependence, s.Trust.Clusters = d, c
	warn := func(format string, args ...any) {
		s.Warnings = append(s.Warnings, stream.Textf(format, args...).Spell(g.Run.Hooks.Spelling))
	}
	switch {
	case d != nil && !d.Trusted:
		warn("the columns are no more correlated than independent ones: no choice of them can represent the others")
	case c != nil && !c.Trusted && g.Run.Bound.Takes.Sample:
		warn("the rows show no clusters beyond what the covariances of the columns explain, and method %s goes by clusters: choose {method} %s", g.Run.Bound.Name, methods.Fallback)
	}
}

// recordGraphTrust records in s how far the graph in e (even if used up) can be trusted, and warns if it cannot.
func recordGraphTrust(g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) {
	if e.Graph == nil || !g.Run.Bound.From.UsesGraph() || e.Graph.Trust() == (anchor.Trust{}) {
		return
	}
	t := e.Graph.Trust()
	s.Trust = cmp.Or(s.Trust, new(stream.Trust))
	chance := &stream.Chance{
		Measure: stream.Textf("alignment of %d chosen features with the graph of the rows, against a copy with permuted columns", t.Features).Spell(nil),
		Value:   stream.Number(t.Value), Chance: stream.Number(t.Chance), Trusted: t.IsTrusted(),
	}
	trustFew := s.K <= t.Few && t.HasStructure() // the graph can be trusted for t.Few features, and no more are chosen
	chance.Trusted = chance.Trusted || trustFew
	if !t.HasStructure() || trustFew {
		chance.Measure = stream.Textf("alignment of %d chosen features with the graph of the rows, against a copy with permuted columns", t.Few).Spell(nil)
		chance.Value, chance.Chance = stream.Number(t.FewValue), stream.Number(t.FewChance)
	}
	s.Trust.Graph = chance
	warn := func(format string, args ...any) {
		s.Warnings = append(s.Warnings, stream.Textf(format, args...).Spell(g.Run.Hooks.Spelling))
	}
	switch {
	case chance.Trusted:
	case t.HasStructure():
		warn("few rows for so many columns: on their graph %d features reach an alignment of %.2f, and %.2f on that of a copy with permuted columns; trust the first %d (%.2f against %.2f), but not the order after them, or choose {method} %s",
			t.Features, t.Value, t.Chance, t.Few, t.FewValue, t.FewChance, methods.Fallback)
	default:
		warn("the graph of the rows shows no more structure than that of a copy with permuted columns (alignment %.2f against %.2f): do not trust the choice; choose {method} %s", t.FewValue, t.FewChance, methods.Fallback)
	}
}
