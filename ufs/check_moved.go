package ufs

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// spreadOf is what is known of a column of data before.
type spreadOf struct{ mean, std float64 }

// findMoved compares every feature with what it was before: in the baseline, or else in the
// report of the selection.
func (c *checker) findMoved(before, now *checked) {
	old, rows := make(map[string]spreadOf), c.Selection.RowsUsed
	if before == nil && unreported(c.Selection) {
		c.v.Warnings = append(c.v.Warnings, stream.Textf("the selection has no reports on its features, so that nobody knows which have moved or are new: select with {details} all, or give {baseline}, statistics of the data that it was made from").Spell(c.Spelling))
		return
	}
	if before == nil {
		for _, r := range c.Selection.Columns {
			old[r.Name] = spreadOf{float64(r.Mean), float64(r.Std)}
		}
	} else {
		rows = before.e.profile.Rows
		for k, name := range before.names {
			old[name] = spreadOf{before.t.mean[k], before.t.std[k]}
		}
	}
	selected := make(map[string]bool)
	for _, name := range featureNames(c.Selection) {
		selected[name] = true
	}
	// Of two samples of one distribution an index is that much on average, for each group but one.
	chance := 1/float64(max(rows, 1)) + 1/float64(now.e.profile.Rows)
	var moved, much []string
	for k, name := range now.names {
		was, known := old[name]
		if !known {
			continue
		}
		m := ColumnShift{Name: name, Selected: selected[name], PSI: stream.Number(math.NaN())}
		wider := now.t.std[k] / was.std
		shift, ratio := (now.t.mean[k]-was.mean)/was.std, wider*wider
		m.Mean, m.Variance, m.IfNormal = stream.Number(shift), stream.Number(ratio), stream.Number(ifNormal(shift, ratio))
		free := 2.0 // a mean and a variance
		if before != nil && before.e.spread != nil && now.e.spread != nil {
			psi := before.e.spread.PSI(before.t.index[before.at[name]], now.e.spread, now.t.index[k])
			m.PSI, m.Groups = stream.Number(psi.Value), psi.Groups
			free = float64(psi.Groups - 1)
		}
		switch index := m.Index() - free*chance; {
		case index >= muchMoved:
			m.Moved = MovedMuch
			much = append(much, name)
		case index >= someMoved:
			m.Moved = MovedSome
			moved = append(moved, name)
		}
		c.v.Columns = append(c.v.Columns, m)
	}
	for _, w := range []struct {
		names []string
		how   string
	}{{much, "much (index from 0.25 on)"}, {moved, "somewhat (index from 0.1 on)"}} {
		if n := len(w.names); n > 0 {
			c.v.Warnings = append(c.v.Warnings, fmt.Sprintf("%s moved %s: %s", plural(n, "column"), w.how, joinNames(w.names[:min(n, 10)])))
		}
	}
	if fresh := strangers(old, now.names); len(fresh) > 0 {
		c.v.Warnings = append(c.v.Warnings, fmt.Sprintf("the selection knows nothing of %s: %s", plural(len(fresh), "new column"), joinNames(fresh[:min(len(fresh), 10)])))
	}
}

// ifNormal is the index of two normal distributions, the sum of their divergences both ways:
// the second has its mean shifted by so many deviations of the first, and that many times its
// variance.
func ifNormal(shift, ratio float64) float64 {
	return (ratio + 1/ratio - 2 + shift*shift*(1+1/ratio)) / 2
}

// strangers are the names that are not among the columns of before.
func strangers(old map[string]spreadOf, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, known := old[name]; return known })
}
