package ufs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// findGone lists the features of the selection that are none of the new data.
func (c *checker) findGone(now *checked) {
	why := make(map[string]string)
	for _, l := range now.t.s.LeftOut {
		why[l.Name] = l.Why
	}
	for _, name := range featureNames(c.Selection) {
		if _, there := now.at[name]; !there {
			c.v.Gone = append(c.v.Gone, stream.LeftOut{Name: name, Why: cmp.Or(why[name], "no column of this name")})
		}
	}
}

// recall takes from the selection what it explained of the data that it was made from, and what a fresh one did.
func (c *checker) recall() {
	s := c.Selection
	n := len(s.Selected)
	if n == 0 || !slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return f.Error > 0 }) {
		return // nobody knew them: they read as 0 or NaN
	}
	own := float64(s.Selected[n-1].Error)
	if !(own >= 0 && own < 1) {
		return
	}
	c.v.OwnError = stream.Number(own)
	if s.GreedyError != nil && *s.GreedyError >= 0 && *s.GreedyError < 1 {
		c.v.LostBefore = (c.v.OwnError - *s.GreedyError) / (1 - *s.GreedyError)
	}
}

// isMadeFrom reports whether a selection was made from just these rows of these inputs: of them it has lost nothing since.
func isMadeFrom(s *stream.Selection, now *checked) bool {
	prints := func(inputs []stream.Input) []string {
		all := make([]string, len(inputs))
		for i, in := range inputs {
			all[i] = fmt.Sprint(in.Fingerprint, " ", in.Rows)
		}
		slices.Sort(all)
		return all
	}
	return len(s.Inputs) > 0 && s.RowsUsed == now.e.profile.Rows && slices.Equal(prints(s.Inputs), prints(now.e.inputs))
}

const (
	// plainly is the number of standard errors from which the correlation of a feature with one that it stood
	// for was plain; below half of it the two have grown apart.
	plainly = 6
	// stoodFor is the share of a column from which the selection explained it.
	stoodFor = 0.5
	// otherData is the share of what the selection explained from which, if it is lost, the new data may be
	// others altogether, also where no fresh selection explains more of them.
	otherData = 0.5
)

// findStrayed lists the features of the selection that have nothing to do any more with any of the columns that
// they were plainly correlated with: what they hold was replaced, even if others make up for it. A selection
// records the correlations of its features, and the nearest feature of each other column with its share R²
// that all k explain. The nearest of k has a squared correlation of R²/k or more, as far as the features don't
// hide each other.
func (c *checker) findStrayed(now *checked) {
	chosen := featureNames(c.Selection)
	k, g := float64(len(chosen)), now.matrix
	apart, near := make(map[string][]string), make(map[string]bool)
	var offset []float64 // where the matrix is of columns that are not centred
	if !c.centred {
		offset = now.t.offset()
	}
	entry := func(i, j int) float64 { return centredEntry(g, offset, now.t.Gram.Weight, i, j) }
	compare := func(feature, other string, before float64) {
		s, isThere := now.at[feature]
		j, also := now.at[other]
		was := math.Sqrt(float64(now.e.profile.Rows)) * before
		if !isThere || !also || j == s || !(was >= plainly) {
			return
		}
		if is := math.Sqrt(float64(now.e.profile.Rows)) * math.Abs(entry(j, s)) / math.Sqrt(entry(j, j)*entry(s, s)); is < was/2 {
			apart[feature] = append(apart[feature], other)
		} else {
			near[feature] = true
		}
	}
	for _, r := range c.Selection.Columns {
		if r.Explained >= stoodFor && offset == nil { // else it is the means that were explained
			compare(r.Nearest, r.Name, math.Sqrt(float64(r.Explained)/k))
		}
	}
	if len(c.Selection.Correlations) == len(chosen) && !c.Selection.HasGroups() { // else there are none, or in another order
		for i, row := range c.Selection.Correlations {
			for j, r := range row[:min(len(row), i)] {
				compare(chosen[i], chosen[j], math.Abs(float64(r)))
				compare(chosen[j], chosen[i], math.Abs(float64(r)))
			}
		}
	}
	for _, name := range chosen {
		if of := apart[name]; len(of) > 0 && !near[name] {
			c.strayed = append(c.strayed, fmt.Sprintf("%s (%s)", joinNames([]string{name}), joinNames(of[:min(len(of), 3)])))
		}
	}
}

// decide settles the verdict.
func (c *checker) decide() error {
	c.decideFeatures()
	c.decideLoss()
	c.decideMoved()
	v := c.v
	if v.Again {
		v.Undecided = []string{}
		return &stream.StaleError{Text: severalReasons("select again", v.Why)}
	}
	if len(v.Undecided) > 0 {
		return &stream.UndecidedError{Text: severalReasons("cannot tell whether the selection still serves", v.Undecided)}
	}
	return nil
}

// severalReasons is what they are reasons for, and the reasons.
func severalReasons(what string, reasons []string) stream.Text {
	texts := make([]any, len(reasons))
	for i, why := range reasons {
		texts[i] = why
	}
	return stream.Textf(what+": "+strings.Repeat("; %s", len(texts))[2:], texts...)
}

// again adds a reason to select again.
func (c *checker) again(format string, args ...any) {
	c.v.Again = true
	c.v.Why = append(c.v.Why, stream.Textf(format, args...).Spell(c.Spelling))
}

// decideFeatures finds the reasons that lie in single features of the selection.
func (c *checker) decideFeatures() {
	if gone := c.v.Gone; len(gone) > 0 {
		var names []string
		for _, g := range gone {
			names = append(names, fmt.Sprintf("%s (%s)", g.Name, g.Why))
		}
		c.again("%s of the selection: %s", map[bool]string{true: "gone is a feature", false: "gone are features"}[len(gone) == 1], firstOf(names, 3))
	}
	if n := len(c.strayed); n > 0 {
		c.again("%s of the selection lost what they had in common with other columns (in brackets): %s", plural(n, "feature"), firstOf(c.strayed, 3))
	}
}

// firstOf is a list of names that is cut off after the first n.
func firstOf(names []string, n int) string {
	more := ""
	if len(names) > n {
		more = fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names[:min(len(names), n)], ", ") + more
}

// decideLoss compares what was lost with the tolerance. A selection that aims at the least error has lost nothing
// to a fresh one on its own data; of another the baseline or its own record says what it had lost then. Where
// neither does, what it explains now is compared with what it explained.
func (c *checker) decideLoss() {
	v := c.v
	lost, before, own := float64(v.Lost), float64(v.LostBefore), float64(v.OwnError)
	undecided := func(format string, args ...any) {
		v.Undecided = append(v.Undecided, stream.Textf(format, args...).Spell(c.Spelling))
	}
	explains := stream.Textf("the selection explains %.2f %% of the new data and a fresh one of as many features %.2f %%", 100*(1-v.Error), 100*(1-v.Fresh))
	since := float64(v.LostOfOwn())
	switch {
	case math.IsNaN(float64(v.LostSince)):
		undecided("sums of squares of the new data are beyond what numbers hold")
	case v.RowsUsed <= int64(v.K)+1 && v.Features > v.K:
		undecided("any %s explain all of %s: scan more rows", plural(v.K, "feature"), plural(int(v.RowsUsed), "row"))
	case lost <= c.Tolerance:
		if since > otherData {
			undecided("%v, and of the data that it was made from it explained %.2f %%: these are other data", explains, 100*(1-own))
		}
	case c.greedy:
		c.again("%v: %.2f %% of that are lost, and {tolerance} allows %.2f %%", explains, 100*lost, 100*c.Tolerance)
	case !math.IsNaN(before):
		if since := float64(v.LostSince); since > c.Tolerance {
			c.again("%v: %.2f %% of that are lost, on the data before it were %.2f %%, so that %.2f %% of what it explained there are lost since, and {tolerance} allows %.2f %%",
				explains, 100*lost, 100*before, 100*since, 100*c.Tolerance)
		}
	case !math.IsNaN(own):
		if since > c.Tolerance {
			c.again("%v; of the data that it was made from it explained %.2f %%: %.2f %% of that are lost, and {tolerance} allows %.2f %%", explains, 100*(1-own), 100*since, 100*c.Tolerance)
		}
	default:
		why := stream.Textf("method %s does not aim at the least error", v.Method)
		if c.bound {
			why = stream.Textf("the selection was bound to groups, columns of several features, costs or what may be chosen, and a fresh one is not")
		}
		undecided("%v: %.2f %% of that are lost, more than the {tolerance} of %.2f %%, but %v, and nothing records what it explained before: give {baseline}, statistics of the data that it was made from", explains, 100*lost, 100*c.Tolerance, why)
	}
}

// decideMoved finds the columns that moved by the limit or more.
func (c *checker) decideMoved() {
	v, again := c.v, c.again
	if c.PSILimit > 0 {
		var names []string
		for i := range v.Columns {
			switch col := &v.Columns[i]; {
			case col.Why != "":
				names = append(names, fmt.Sprintf("%s (%s)", joinNames([]string{col.Name}), col.Why))
			case col.Index() >= c.PSILimit:
				names = append(names, joinNames([]string{col.Name}))
			}
		}
		if n := len(names); n > 0 {
			again("%s moved by {psi-limit} %v or more: %s", plural(n, "column"), c.PSILimit, firstOf(names, 10))
		}
	}
}
