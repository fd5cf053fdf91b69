package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// driftView shows how the values of the features differ between the data of two selections.
type driftView struct {
	From, To string
	Rows     []driftRow
	Note     string
}

type driftRow struct {
	Name                string
	Chosen              string // which of the two selections chose the feature
	Shift, Ratio, Nulls string
	Moved               bool // a change exceeds its threshold
}

// Maximal lengths of the lists, and thresholds above which a feature counts as moved.
const (
	maxDriftViews  = 3
	maxDriftRows   = 20
	movedMeanShift = 0.2  // change of the mean, in standard deviations: Cohen's small effect
	movedRatio     = 1.25 // ratio of standard deviations, or its inverse
	movedNulls     = 0.05 // change of the share of missing values
)

// columnShift is the change of one feature between two datasets.
type columnShift struct {
	name                string
	shift, ratio, nulls float64 // see movedMeanShift, movedRatio and movedNulls
}

// magnitude returns the largest of the three changes, each as a multiple of its threshold.
func (m columnShift) magnitude() float64 {
	size := math.Abs(m.shift) / movedMeanShift
	size = max(size, math.Abs(math.Log(m.ratio))/math.Log(movedRatio), math.Abs(m.nulls)/movedNulls)
	if math.IsNaN(size) {
		return 0
	}
	return size
}

// driftViews compares the data of the first selection with the data of each other selection. If several selections have
// the same data, it compares these data once.
func driftViews(list []pageSelection) []driftView {
	var views []driftView
	seen := map[string]bool{inputsKey(list[0].Selection): true}
	for _, s := range list[1:] {
		if of := inputsKey(s.Selection); !seen[of] && len(views) < maxDriftViews {
			seen[of] = true
			if v, ok := newDriftView(list[0], s); ok {
				views = append(views, v)
			}
		}
	}
	return views
}

// inputsKey identifies the data of a selection by the fingerprints and rows of its files. A path replaces a missing
// one.
func inputsKey(s *stream.Selection) string {
	var b strings.Builder
	for _, in := range s.Inputs {
		fmt.Fprintf(&b, "%q %d\n", cmp.Or(in.Fingerprint, in.Path), in.Rows)
	}
	return b.String()
}

func newDriftView(from, to pageSelection) (driftView, bool) {
	before := make(map[string]stream.ColumnReport, len(from.Columns))
	for _, c := range from.Columns {
		before[c.Name] = c
	}
	var moves []columnShift
	for _, c := range to.Columns {
		b, ok := before[c.Name]
		if !ok {
			continue
		}
		moves = append(moves, columnShift{
			c.Name, float64((c.Mean - b.Mean) / b.Std), float64(c.Std / b.Std), missingShare(c, to.Rows) - missingShare(b, from.Rows),
		})
	}
	if len(moves) == 0 {
		return driftView{}, false
	}
	slices.SortStableFunc(moves, func(a, b columnShift) int { return cmp.Compare(b.magnitude(), a.magnitude()) })
	chosenBy := map[string][]string{}
	for _, s := range []pageSelection{from, to} {
		for _, f := range s.Selected {
			chosenBy[f.Name] = append(chosenBy[f.Name], drawing.TruncateText(s.name, maxBriefRunes))
		}
	}
	v := driftView{From: from.name, To: to.name}
	moved := 0
	for i, m := range moves {
		if m.magnitude() >= 1 {
			moved++
		}
		if i < maxDriftRows {
			v.Rows = append(v.Rows, driftRow{
				Name: m.name, Chosen: strings.Join(chosenBy[m.name], ", "), Moved: m.magnitude() >= 1,
				Shift: withPlusOrMinus(fixedText(m.shift, 2)), Ratio: fixedText(m.ratio, 2), Nulls: withPlusOrMinus(fixedText(100*m.nulls, 1)),
			})
		}
	}
	v.Note = fmt.Sprintf("%s of %s that both have moved: the mean by %g standard deviations or more, the standard deviation by a factor of %g, or the share of missing values by %g points.", countText(int64(moved)), countNoun(len(moves), "feature"), movedMeanShift, movedRatio, 100*movedNulls)
	return v, true
}

func withPlusOrMinus(s string) string {
	if strings.HasPrefix(s, "−") || s == "–" {
		return s
	}
	return "+" + s
}
