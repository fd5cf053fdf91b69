package ufs

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// judgeGraph says in s what is known of the trust in the graph that e holds, or held, and warns
// where there is none.
func (g *gatherer) judgeGraph(e *gathered, s *stream.Selection) {
	t := g.trust
	if e.graph != nil && g.From == method.FromGraph {
		t = e.graph.Trust()
	}
	if t == (anchor.Trust{}) {
		return
	}
	if s.Trust == nil {
		s.Trust = new(stream.Trust)
	}
	chance := &stream.Chance{
		Measure: stream.Textf("alignment of %d chosen features with the graph of the rows, against a copy with permuted columns", t.Features).Spell(nil),
		Value:   stream.Number(t.Value), Chance: stream.Number(t.Chance), Trusted: t.Trusted(),
	}
	trustFew := s.K <= t.Few && t.Structured() // more is not chosen
	chance.Trusted = chance.Trusted || trustFew
	if !t.Structured() || trustFew {
		chance.Measure = stream.Textf("alignment of %d chosen features with the graph of the rows, against a copy with permuted columns", t.Few).Spell(nil)
		chance.Value, chance.Chance = stream.Number(t.FewValue), stream.Number(t.FewChance)
	}
	s.Trust.Graph = chance
	warn := func(format string, args ...any) {
		s.Warnings = append(s.Warnings, stream.Textf(format, args...).Spell(g.Spelling))
	}
	switch {
	case chance.Trusted:
	case t.Structured():
		warn("few rows for so many columns: on their graph %d features reach an alignment of %.2f, and %.2f on that of a copy with permuted columns; trust the first %d (%.2f against %.2f), and no order behind them, or choose {method} %s",
			t.Features, t.Value, t.Chance, t.Few, t.FewValue, t.FewChance, methods.Fallback)
	case g.From == method.FromGraph:
		warn("the graph of the rows shows no more structure than that of a copy with permuted columns (alignment %.2f against %.2f): do not trust the choice; choose {method} %s", t.FewValue, t.FewChance, methods.Fallback)
	default:
		warn("the graph of the rows shows no more structure than that of a copy with permuted columns (alignment %.2f against %.2f): no clusters are to be expected of these features", t.FewValue, t.FewChance)
	}
}
