package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/numeric/elbow"
	"github.com/ufs-stream/ufs-stream/stream"
)

// describedChart is a chart of the page with a description and notes.
type describedChart struct {
	Chart
	slug  string // part of the chart's file name
	label string // description for readers who cannot see the chart
	notes []string
}

func countingNumbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

func isFinite(n stream.Number) bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// errorsByCount returns the errors of s over the numbers of features that have one, from 0 features, for which the
// error is 1 by definition. Both are nil if no error is known.
func errorsByCount(s *stream.Selection) (x, y []float64) {
	for _, f := range s.Selected {
		if isFinite(f.Error) {
			x, y = append(x, float64(f.Rank)), append(y, float64(f.Error))
		}
	}
	if len(x) > 0 {
		x, y = append([]float64{0}, x...), append([]float64{1}, y...)
	}
	return x, y
}

// explainedChart draws the share explained over the number of features, in percent. It marks the number of features
// that the selection recommends, or the elbow if the selection does not recommend a number.
func explainedChart(s *stream.Selection) *describedChart {
	x, left := errorsByCount(s)
	if x == nil {
		return nil
	}
	what, last := groupOrFeature(s), len(x)-1
	y := convert.Each(left, func(e float64) float64 { return 100 * (1 - e) })
	c := &describedChart{slug: "explained", Chart: Chart{
		Title: fmt.Sprintf("%s: share of %s that k %ss explain", s.Method, strings.TrimPrefix(errorMeasure(s), "the "), what), XLabel: what + "s k", YLabel: "explained, %", WholeX: true,
		Series: []Series{{Name: "explained", X: x, Y: y}},
	}}
	c.label = fmt.Sprintf("Line chart: the share explained rises from 0 %% with no %s to %s with %s.", what, percentText(1-left[last]), numberText(x[last]))
	marked := elbow.FindElbow(x, left)
	if size := recommendedSize(s); size.k > 0 {
		marked = slices.Index(x, float64(size.k))
		if marked >= 0 {
			c.Marks = append(c.Marks, Mark{X: x[marked], Y: y[marked], Label: "recommended " + numberText(x[marked])})
		}
		c.label += fmt.Sprintf(" Recommended are %s.", countNoun(size.k, what))
	} else {
		c.markElbow(what, x, left)
	}
	if marked != last {
		c.Marks = append(c.Marks, Mark{X: x[last], Y: y[last], Label: "chosen k = " + numberText(x[last])})
	}
	return c
}

// markElbow marks the elbow of the values y that fall over x, on the first line of the chart.
func (c *describedChart) markElbow(what string, x, y []float64) {
	e := elbow.FindElbow(x, y)
	if e < 0 {
		c.notes = append(c.notes, "The curve has no elbow: it nowhere leaves the chord between its ends to the left.")
		return
	}
	c.Marks = append(c.Marks, Mark{X: x[e], Y: c.Series[0].Y[e], Label: "elbow " + numberText(x[e])})
	c.label += fmt.Sprintf(" Its elbow is at %s.", numberText(x[e]))
	c.notes = append(c.notes, fmt.Sprintf("Elbow at %s: the point furthest from the chord between the ends, both axes scaled to [0, 1] (Satopää et al. 2011). It belongs to the range shown; a longer curve may have another.", countNoun(int(x[e]), what)))
}

func scoreChart(s *stream.Selection) *describedChart {
	var y []float64
	for _, f := range s.Scores {
		if isFinite(f.Score) {
			y = append(y, float64(f.Score))
		}
	}
	if len(y) < 2 {
		return nil
	}
	slices.Sort(y)
	if y[0] == y[len(y)-1] {
		return nil
	}
	order := "lower is better"
	if !s.LowerIsBetter {
		slices.Reverse(y)
		order = "higher is better"
	}
	x := countingNumbers(len(y))
	c := &describedChart{slug: "scores", Chart: Chart{
		Title: s.Method + ": scores of all features", XLabel: "rank", YLabel: "score (" + order + ")", WholeX: true,
		Series: []Series{{Name: "score", X: x, Y: y}},
	}}
	c.label = fmt.Sprintf("Line chart: the scores of %s in the order of the ranking, from %s to %s.", countNoun(len(y), "feature"), numberText(y[0]), numberText(y[len(y)-1]))
	c.markElbow("feature", x, y)
	if k := len(s.Selected); !s.HasGroups() && k <= len(y) && (len(c.Marks) == 0 || c.Marks[0].X != x[k-1]) {
		c.Marks = append(c.Marks, Mark{X: x[k-1], Y: y[k-1], Label: "chosen k = " + numberText(x[k-1])})
	}
	return c
}

func convergenceChart(s *stream.Selection) *describedChart {
	if len(s.Objective) < 2 || objectiveIsError(s) {
		return nil
	}
	x, y := countingNumbers(len(s.Objective)), []float64(nil)
	rose := 0
	for i, v := range s.Objective {
		y = append(y, float64(v))
		if i > 0 && float64(v) > y[i-1] {
			rose++
		}
	}
	last := len(y) - 1
	c := &describedChart{slug: "convergence", Chart: Chart{
		Title: s.Method + ": objective", XLabel: "iteration", YLabel: "objective", WholeX: true, Series: []Series{{Name: "objective", X: x, Y: y}},
	}}
	c.label = fmt.Sprintf("Line chart: the objective goes from %s to %s in %d steps.", numberText(y[0]), numberText(y[last]), len(y))
	state := "It converged."
	if !s.Converged {
		state = "It did not converge: allow more iterations, or a larger tolerance."
	}
	course := "The objective fell, or stayed, in every step. "
	if rose > 0 {
		course = fmt.Sprintf("The objective rose in %s. ", countNoun(rose, "step"))
	}
	c.notes = append(c.notes, course+state)
	return c
}

// objectiveIsError reports whether the objective after iteration k is the error of the first k features. This is the
// case for the greedy methods, which add one feature in each iteration.
func objectiveIsError(s *stream.Selection) bool {
	if len(s.Objective) != len(s.Selected)+1 {
		return false
	}
	for i, f := range s.Selected {
		if s.Objective[i+1] != f.Error {
			return false
		}
	}
	return true
}

func residualChart(s *stream.Selection) *describedChart {
	var x, zu, e []float64
	nonzero := false
	for _, t := range s.Trace {
		x, zu, e = append(x, float64(t.Iteration)), append(zu, float64(t.ResidualZU)), append(e, float64(t.ResidualE))
		nonzero = nonzero || t.ResidualZU > 0 || t.ResidualE > 0
	}
	if !nonzero || len(x) < 2 {
		return nil
	}
	return &describedChart{slug: "residuals", label: "Line chart: the residuals of the constraints over the iterations.", Chart: Chart{
		Title: s.Method + ": residuals", XLabel: "iteration", YLabel: "residual (Frobenius norm)", WholeX: true, LogY: true,
		Series: []Series{{Name: "Z − U", X: x, Y: zu}, {Name: "E", X: x, Y: e}},
	}}
}
