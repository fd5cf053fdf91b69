package comparing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func (c *checker) findGoneFeatures(now *checkedData) {
	why := make(map[string]string)
	for _, l := range now.trial.Selection.LeftOut {
		why[l.Name] = l.Why
	}
	for _, name := range choice.FeatureNames(c.Selection) {
		if _, there := now.index[name]; !there {
			c.verdict.Gone = append(c.verdict.Gone, stream.LeftOut{Name: name, Why: cmp.Or(why[name], "no column of this name")})
		}
	}
}

// readRecordedErrors reads two errors from the record of the selection: the error of the selection itself, and the
// error of a fresh greedy selection. Both are errors on the data from which the selection was made.
func (c *checker) readRecordedErrors() {
	s := c.Selection
	n := len(s.Selected)
	if n == 0 || !slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return f.Error > 0 }) {
		return // the errors were not recorded and appear as 0 or NaN
	}
	own := float64(s.Selected[n-1].Error)
	if !(own >= 0 && own < 1) {
		return
	}
	c.verdict.OwnError = stream.Number(own)
	if s.GreedyError != nil && *s.GreedyError >= 0 && *s.GreedyError < 1 {
		c.verdict.LostBefore = (c.verdict.OwnError - *s.GreedyError) / (1 - *s.GreedyError)
	}
}

// isMadeFrom reports whether selection s was made from exactly the rows and inputs in now, so that it is as good as
// then.
func isMadeFrom(s *stream.Selection, now *checkedData) bool {
	prints := func(inputs []stream.Input) []string {
		all := convert.Each(inputs, func(in stream.Input) string { return fmt.Sprint(in.Fingerprint, " ", in.Rows) })
		slices.Sort(all)
		return all
	}
	return len(s.Inputs) > 0 && s.RowsUsed == now.bundle.Profile.Rows && slices.Equal(prints(s.Inputs), prints(now.bundle.Inputs))
}

const (
	// plainSigmas is the number of standard errors from which an old correlation counts as plain. Such a correlation
	// is lost if the correlation in the new data is less than half as large.
	plainSigmas = 6
	// representedShare is the share of a column's variance that the selection must explain for the column to count as
	// represented.
	representedShare = 0.5
	// otherDataShare is a share of the explained variance. If a selection loses more than this share, the new data are
	// probably unrelated to the old data, even if a fresh selection does not explain more of the new data.
	otherDataShare = 0.5
)

// findDriftedFeatures lists the selected features that lost all their plain correlations (see plainSigmas) with other
// columns. The content of such a feature was probably replaced, even if other features now explain as much. The old
// correlations come from the selection, which records the correlations between its features. For each other column it
// records the nearest feature, and the share R² of the column's variance that all k features explain. So the squared
// correlation of the column with the nearest feature is at least R²/k, unless features act as suppressors.
func (c *checker) findDriftedFeatures(now *checkedData) {
	chosen := choice.FeatureNames(c.Selection)
	k, g := float64(len(chosen)), now.matrix
	apart, near := make(map[string][]string), make(map[string]bool)
	var offset []float64 // means of the matrix's columns; nil if the columns are centred
	if !c.isCentred {
		offset = now.trial.ColumnOffsets()
	}
	entry := func(i, j int) float64 { return selecting.CentreEntry(g.At(i, j), offset, now.trial.Gram.Weight, i, j) }
	compare := func(feature, other string, before float64) {
		s, isThere := now.index[feature]
		j, isThereToo := now.index[other]
		sigmasBefore := math.Sqrt(float64(now.bundle.Profile.Rows)) * before
		if !isThere || !isThereToo || j == s || !(sigmasBefore >= plainSigmas) {
			return
		}
		if sigmasNow := math.Sqrt(float64(now.bundle.Profile.Rows)) * math.Abs(entry(j, s)) / math.Sqrt(entry(j, j)*entry(s, s)); sigmasNow < sigmasBefore/2 {
			apart[feature] = append(apart[feature], other)
		} else {
			near[feature] = true
		}
	}
	for _, r := range c.Selection.Columns {
		if r.Explained >= representedShare && offset == nil { // otherwise Explained also includes the means
			compare(r.Nearest, r.Name, math.Sqrt(float64(r.Explained)/k))
		}
	}
	if len(c.Selection.Correlations) == len(chosen) && !c.Selection.HasGroups() { // otherwise in another order
		for i, row := range c.Selection.Correlations {
			for j, r := range row[:min(len(row), i)] {
				compare(chosen[i], chosen[j], math.Abs(float64(r)))
				compare(chosen[j], chosen[i], math.Abs(float64(r)))
			}
		}
	}
	for _, name := range chosen {
		if others := apart[name]; len(others) > 0 && !near[name] {
			c.driftedFeatures = append(c.driftedFeatures, fmt.Sprintf("%s (%s)", request.JoinNames([]string{name}), request.JoinNames(others[:min(len(others), 3)])))
		}
	}
}

func (c *checker) decideVerdict() error {
	c.decideByLostFeatures()
	c.decideByLostShare()
	c.decideByMovedColumns()
	v := c.verdict
	if v.Again {
		v.Undecided = []string{}
		return &stream.StaleError{Text: reasonsText("select again", v.Why)}
	}
	if len(v.Undecided) > 0 {
		return &stream.UndecidedError{Text: reasonsText("cannot tell whether the selection still serves", v.Undecided)}
	}
	return nil
}

func reasonsText(conclusion string, reasons []string) stream.Text {
	texts := convert.Each(reasons, func(why string) any { return why })
	return stream.Textf(conclusion+": "+strings.Repeat("; %s", len(texts))[2:], texts...)
}

func (c *checker) addStaleReason(format string, args ...any) {
	c.verdict.Again = true
	c.verdict.Why = append(c.verdict.Why, stream.Textf(format, args...).Spell(c.Hooks.Spelling))
}

func (c *checker) decideByLostFeatures() {
	if goneFeatures := c.verdict.Gone; len(goneFeatures) > 0 {
		names := convert.Each(goneFeatures, func(g stream.LeftOut) string { return fmt.Sprintf("%s (%s)", g.Name, g.Why) })
		c.addStaleReason("%s of the selection: %s", map[bool]string{true: "gone is a feature", false: "gone are features"}[len(goneFeatures) == 1], wording.ListFirstNames(names, 3))
	}
	if n := len(c.driftedFeatures); n > 0 {
		c.addStaleReason("%s of the selection lost what they had in common with other columns (in brackets): %s", wording.CountNoun(n, "feature"), wording.ListFirstNames(c.driftedFeatures, 3))
	}
}

// decideByLostShare decides by the lost share: the part of the share explained by a fresh selection that the checked
// selection does not explain. If the checked selection minimises the error, its lost share must be at most the
// tolerance. Other selections lose something from the start, so only the increase of their lost share counts. The
// baseline, or the record of the selection, has the lost share on the selection's own data. If both lack it, the
// explained share of the new data is compared with the explained share of the selection's own data.
func (c *checker) decideByLostShare() {
	v := c.verdict
	lost, before, own := float64(v.Lost), float64(v.LostBefore), float64(v.OwnError)
	undecided := func(format string, args ...any) {
		v.Undecided = append(v.Undecided, stream.Textf(format, args...).Spell(c.Hooks.Spelling))
	}
	explains := stream.Textf("the selection explains %.2f %% of the new data and a fresh one of as many features %.2f %%", 100*(1-v.Error), 100*(1-v.Fresh))
	since := float64(v.LostOfOwn())
	switch {
	case math.IsNaN(float64(v.LostSince)):
		undecided("the sums of squares of the new data are too large for floating-point numbers")
	case v.RowsUsed <= int64(v.K)+1 && v.Features > v.K:
		undecided("any %s explain all of %s: scan more rows", wording.CountNoun(v.K, "feature"), wording.CountNoun(int(v.RowsUsed), "row"))
	case lost <= c.Tolerance:
		if since > otherDataShare {
			undecided("%v, and of the data that it was made from it explained %.2f %%: these are other data", explains, 100*(1-own))
		}
	case c.aimsAtError:
		c.addStaleReason("%v: %.2f %% of that are lost, and {tolerance} allows %.2f %%", explains, 100*lost, 100*c.Tolerance)
	case !math.IsNaN(before):
		if since := float64(v.LostSince); since > c.Tolerance {
			c.addStaleReason("%v: %.2f %% of that are lost, on the data before it were %.2f %%, so that %.2f %% of what it explained there are lost since, and {tolerance} allows %.2f %%",
				explains, 100*lost, 100*before, 100*since, 100*c.Tolerance)
		}
	case !math.IsNaN(own):
		if since > c.Tolerance {
			c.addStaleReason("%v; of the data that it was made from it explained %.2f %%: %.2f %% of that are lost, and {tolerance} allows %.2f %%", explains, 100*(1-own), 100*since, 100*c.Tolerance)
		}
	default:
		why := stream.Textf("method %s does not aim at the least error", v.Method)
		if c.isConstrained {
			why = stream.Textf("the selection was bound to groups, columns of several features, costs or what may be chosen, and a fresh one is not")
		}
		undecided("%v: %.2f %% of that are lost, more than the {tolerance} of %.2f %%, but %v, and nothing records what it explained before: give {baseline}, statistics of the data that it was made from", explains, 100*lost, 100*c.Tolerance, why)
	}
}

func (c *checker) decideByMovedColumns() {
	v, addReason := c.verdict, c.addStaleReason
	if c.PSILimit > 0 {
		var names []string
		for i := range v.Columns {
			switch col := &v.Columns[i]; {
			case col.Why != "":
				names = append(names, fmt.Sprintf("%s (%s)", request.JoinNames([]string{col.Name}), col.Why))
			case col.Index() >= c.PSILimit:
				names = append(names, request.JoinNames([]string{col.Name}))
			}
		}
		if n := len(names); n > 0 {
			addReason("%s moved by {psi-limit} %v or more: %s", wording.CountNoun(n, "column"), c.PSILimit, wording.ListFirstNames(names, 10))
		}
	}
}
