package ufs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// spreadOf is what is known of a column of data before.
type spreadOf struct{ mean, std float64 }

// findMoved compares every feature with what it was before: in the baseline, or else in the
// report of the selection.
func (c *checker) findMoved(before, now *checked) {
	old, rows, leftOut := make(map[string]spreadOf), c.Selection.RowsUsed, c.Selection.LeftOut
	if before == nil && unreported(c.Selection) {
		c.v.Warnings = append(c.v.Warnings, stream.Textf("the selection has no reports on its features, so that nobody knows which have moved or are new: select with {details} all, or give {baseline}, statistics of the data that it was made from").Spell(c.Spelling))
		return
	}
	if before == nil {
		for _, r := range c.Selection.Columns {
			old[r.Name] = spreadOf{float64(r.Mean), float64(r.Std)}
		}
	} else {
		rows, leftOut = before.e.profile.Rows, before.t.s.LeftOut
		for k, name := range before.names {
			old[name] = spreadOf{before.t.mean[k], before.t.std[k]}
		}
	}
	selected := make(map[string]bool)
	for _, name := range featureNames(c.Selection) {
		selected[name] = true
	}
	c.findChanged(old, leftOut, now, selected)
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
	fresh := strangers(old, now.names)
	fresh = slices.DeleteFunc(fresh, func(name string) bool { return isLeftOut(name, leftOut) })
	if len(fresh) > 0 {
		c.v.Warnings = append(c.v.Warnings, fmt.Sprintf("the selection knows nothing of %s: %s", plural(len(fresh), "new column"), joinNames(fresh[:min(len(fresh), 10)])))
	}
}

// findChanged lists the columns that were features before and are none now, that are constant with another
// value, and that are features now and held nothing or one value before.
func (c *checker) findChanged(old map[string]spreadOf, leftOut []stream.LeftOut, now *checked, selected map[string]bool) {
	nan := stream.Number(math.NaN())
	var changed []string
	add := func(name, moved, why string) {
		c.v.Columns = append(c.v.Columns, ColumnShift{Name: name, Selected: selected[name], PSI: nan, Mean: nan, Variance: nan, IfNormal: nan, Moved: moved, Why: why})
		changed = append(changed, fmt.Sprintf("%s (%s)", joinNames([]string{name}), why))
	}
	whyBefore, whyNow := make(map[string]string), make(map[string]string)
	for _, l := range leftOut {
		whyBefore[l.Name] = l.Why
	}
	for _, l := range now.t.s.LeftOut {
		whyNow[l.Name] = l.Why
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, there := now.at[name]; there {
			continue
		}
		why, moved := cmp.Or(whyNow[name], "no column of this name"), Disappeared
		if gram.IsConstant(why) {
			moved = BecameConstant
		}
		add(name, moved, why)
	}
	for _, l := range leftOut {
		_, there := now.at[l.Name]
		why := whyNow[l.Name]
		switch {
		case !gram.HoldsNothing(l.Why): // the user, a type or a suspicion left it out
		case there:
			add(l.Name, CameBack, "it varies; before: "+l.Why)
		case why == "":
			add(l.Name, Disappeared, "no column of this name; before: "+l.Why)
		case why != l.Why && gram.HoldsNothing(why):
			add(l.Name, map[bool]string{true: BecameConstant, false: Disappeared}[gram.IsConstant(why)], why+"; before: "+l.Why)
		}
	}
	if n := len(changed); n > 0 {
		c.v.Warnings = append(c.v.Warnings, fmt.Sprintf("%s became constant, disappeared or came back: %s", plural(n, "column"), firstOf(changed, 10)))
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
