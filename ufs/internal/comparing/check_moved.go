package comparing

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// columnSpread holds the mean and the standard deviation of a column in the old data.
type columnSpread struct{ mean, std float64 }

func (c *checker) findMovedColumns(before, now *checkedData) {
	old, rows, leftOut := make(map[string]columnSpread), c.Selection.RowsUsed, c.Selection.LeftOut
	if before == nil && statistics.LacksFeatureReports(c.Selection) {
		c.verdict.Warnings = append(c.verdict.Warnings, stream.Textf("the selection has no reports on its features, so that nobody knows which have moved or are new: select with {details} all, or give {baseline}, statistics of the data that it was made from").Spell(c.Hooks.Spelling))
		return
	}
	if before == nil {
		for _, r := range c.Selection.Columns {
			old[r.Name] = columnSpread{float64(r.Mean), float64(r.Std)}
		}
	} else {
		rows, leftOut = before.bundle.Profile.Rows, before.trial.Selection.LeftOut
		for k, name := range before.names {
			old[name] = columnSpread{before.trial.Means[k], before.trial.Deviations[k]}
		}
	}
	selected := make(map[string]bool)
	for _, name := range choice.FeatureNames(c.Selection) {
		selected[name] = true
	}
	c.findChangedColumns(old, leftOut, now, selected)
	// If old and new rows have the same distribution, the expected stability index is chance times the number of
	// degrees of freedom. With histograms, this number is the number of their groups minus one.
	chance := 1/float64(max(rows, 1)) + 1/float64(now.bundle.Profile.Rows)
	var moved, much []string
	for k, name := range now.names {
		was, known := old[name]
		if !known {
			continue
		}
		m := result.ColumnShift{Name: name, Selected: selected[name], PSI: stream.Number(math.NaN())}
		wider := now.trial.Deviations[k] / was.std
		shift, ratio := (now.trial.Means[k]-was.mean)/was.std, wider*wider
		m.Mean, m.Variance, m.IfNormal = stream.Number(shift), stream.Number(ratio), stream.Number(normalPSI(shift, ratio))
		free := 2.0 // degrees of freedom without histograms: a mean and a variance
		if before != nil && before.bundle.Histograms != nil && now.bundle.Histograms != nil {
			psi := before.bundle.Histograms.PSI(before.trial.Index[before.index[name]], now.bundle.Histograms, now.trial.Index[k])
			m.PSI, m.Groups = stream.Number(psi.Value), psi.Groups
			free = float64(psi.Groups - 1)
		}
		switch index := m.Index() - free*chance; {
		case index >= result.MuchMovedIndex:
			m.Moved = result.MovedMuch
			much = append(much, name)
		case index >= result.SomeMovedIndex:
			m.Moved = result.MovedSome
			moved = append(moved, name)
		}
		c.verdict.Columns = append(c.verdict.Columns, m)
	}
	for _, w := range []struct {
		names []string
		how   string
	}{{much, "much (index from 0.25 on)"}, {moved, "somewhat (index from 0.1 on)"}} {
		if n := len(w.names); n > 0 {
			c.verdict.Warnings = append(c.verdict.Warnings, fmt.Sprintf("%s moved %s: %s", wording.CountNoun(n, "column"), w.how, request.JoinNames(w.names[:min(n, 10)])))
		}
	}
	fresh := namesNotIn(old, now.names)
	fresh = slices.DeleteFunc(fresh, func(name string) bool { return choice.IsLeftOut(name, leftOut) })
	if len(fresh) > 0 {
		c.verdict.Warnings = append(c.verdict.Warnings, fmt.Sprintf("the selection knows nothing of %s: %s", wording.CountNoun(len(fresh), "new column"), request.JoinNames(fresh[:min(len(fresh), 10)])))
	}
}

// findChangedColumns lists columns whose kind changed: features that are no longer features, constant columns with a
// new value, and features that formerly had no value or a single value.
func (c *checker) findChangedColumns(old map[string]columnSpread, leftOut []stream.LeftOut, now *checkedData, selected map[string]bool) {
	nan := stream.Number(math.NaN())
	var changed []string
	add := func(name, moved, why string) {
		c.verdict.Columns = append(c.verdict.Columns, result.ColumnShift{Name: name, Selected: selected[name], PSI: nan, Mean: nan, Variance: nan, IfNormal: nan, Moved: moved, Why: why})
		changed = append(changed, fmt.Sprintf("%s (%s)", request.JoinNames([]string{name}), why))
	}
	whyBefore, whyNow := make(map[string]string), make(map[string]string)
	for _, l := range leftOut {
		whyBefore[l.Name] = l.Why
	}
	for _, l := range now.trial.Selection.LeftOut {
		whyNow[l.Name] = l.Why
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, there := now.index[name]; there {
			continue
		}
		why, moved := cmp.Or(whyNow[name], "no column of this name"), result.Disappeared
		if gram.IsConstant(why) {
			moved = result.BecameConstant
		}
		add(name, moved, why)
	}
	for _, l := range leftOut {
		_, there := now.index[l.Name]
		why := whyNow[l.Name]
		switch {
		case !gram.HoldsNothing(l.Why): // left out by the user, for its type, or as suspicious
		case there:
			add(l.Name, result.CameBack, "it varies; before: "+l.Why)
		case why == "":
			add(l.Name, result.Disappeared, "no column of this name; before: "+l.Why)
		case why != l.Why && gram.HoldsNothing(why):
			add(l.Name, map[bool]string{true: result.BecameConstant, false: result.Disappeared}[gram.IsConstant(why)], why+"; before: "+l.Why)
		}
	}
	if n := len(changed); n > 0 {
		c.verdict.Warnings = append(c.verdict.Warnings, fmt.Sprintf("%s became constant, disappeared or came back: %s", wording.CountNoun(n, "column"), wording.ListFirstNames(changed, 10)))
	}
}

// normalPSI returns the PSI of two normal distributions, which is the sum of the Kullback-Leibler divergences in
// both directions. The means differ by shift standard deviations of the first distribution. The second variance is
// ratio times the first variance.
func normalPSI(shift, ratio float64) float64 {
	return (ratio + 1/ratio - 2 + shift*shift*(1+1/ratio)) / 2
}

func namesNotIn(old map[string]columnSpread, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, known := old[name]; return known })
}
