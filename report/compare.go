package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/report/internal/chart"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

type pageSelection struct {
	*stream.Selection
	id, name string
}

type compareView struct {
	Rows    []comparisonRow
	Curves  []chartView // at most one
	Overlap *heatView
	Masks   []markup
	Key     *maskView // the legend of the masks
	Table   *rankTableView
	Drift   []driftView
}

// comparisonRow is the row of one selection in the comparison. Explained is a share of the quantity that Of names.
type comparisonRow struct {
	ID, Name, Method, K          string
	Size, Rule, Explained, Of    string
	Trust, Rows, Elapsed, Memory string
	SortElapsed, SortMemory      string
	Spark                        markup
	Distrusted                   bool
}

func compareSelections(list []pageSelection) (*compareView, error) {
	if len(list) < 2 {
		return nil, nil
	}
	v := &compareView{Table: newRankTableView(list), Drift: driftViews(list)}
	var selections []*stream.Selection
	var names []string
	line := 0 // index of the selection's line in the chart of explained shares
	for _, s := range list {
		selections, names = append(selections, s.Selection), append(names, s.name)
		v.Rows = append(v.Rows, newComparisonRow(s, line))
		if explainedChart(s.Selection) != nil {
			line++
		}
		mask, err := newMaskView(s.Selection)
		if err != nil {
			return nil, err
		}
		if mask != nil {
			v.Masks = append(v.Masks, formatHTML(`<div><a href="#%s">%s</a>%s</div>`, s.id, renderBrief(s.name), mask.SVG))
			v.Key = mask.mergeLegend(v.Key)
		}
	}
	if len(v.Masks) < 2 {
		v.Masks = nil
	}
	var err error
	if v.Curves, err = drawChartViews(combinedExplainedChart(list)); err != nil {
		return nil, err
	}
	h, shared := newOverlapHeatMap(selections, names)
	v.Overlap = h.tableView()
	for r, row := range shared {
		for c, n := range row {
			v.Overlap.Rows[r].Cells[c].Title = countNoun(n, "feature") + " in common"
		}
	}
	return v, nil
}

// newComparisonRow makes the row of selection s. line is the index of the line of s in the chart of explained shares.
func newComparisonRow(s pageSelection, line int) comparisonRow {
	row := comparisonRow{
		ID: s.id, Name: s.name, Method: drawing.TruncateText(s.Method, 60), K: countText(int64(len(s.Selected))),
		Explained: percentText(explainedShare(s.Selection)), Of: briefErrorMeasure(s.Selection), Trust: trustVerdict(s.Selection),
		Rows: countText(s.RowsUsed), Elapsed: durationText(s.Timing.Wall), Memory: bytesText(s.Memory.PeakRSS), Spark: drawSparkline(s.Selection, line),
		SortElapsed: sortKey(s.Timing.Wall), SortMemory: fmt.Sprint(s.Memory.PeakRSS),
	}
	if z := recommendedSizeOrElbow(s.Selection); z.k > 0 {
		row.Size, row.Rule = countText(int64(z.k)), z.source
	}
	if math.IsNaN(explainedShare(s.Selection)) {
		row.Of = ""
	}
	row.Distrusted = strings.Contains(row.Trust, "no") && row.Trust != ""
	return row
}

// drawSparkline draws the explained share over the number of features for a table cell, in the colour of the
// selection's line in the chart of all. line is the index of that line. The result is empty if the shares are unknown.
func drawSparkline(s *stream.Selection, line int) markup {
	const width, height = 72, 18
	points := []drawing.Point{{X: 0, Y: height}}
	for _, f := range s.Selected {
		if isFinite(f.Error) {
			at := drawing.Point{X: width * float64(f.Rank) / float64(len(s.Selected)), Y: height * min(max(float64(f.Error), 0), 1)}
			points = append(points, at)
		}
	}
	if len(points) < 3 {
		return ""
	}
	picture, _ := drawing.InlineSVG(width, height+1, "spark", "Explained over k", func(to drawing.Canvas) {
		to.DrawLine(drawing.Stroke{Hue: chart.SeriesStroke(line).Hue, Width: 1.5}, chart.RemoveHiddenPoints(points)...)
	}) // only embedded pictures can cause an error
	return markup(picture)
}

func combinedExplainedChart(list []pageSelection) *describedChart {
	c := &describedChart{slug: "explained", Chart: Chart{
		Title: "Share that k features explain", XLabel: "features k", YLabel: "explained, %", WholeX: true,
	}}
	measures := map[string][]string{}
	for _, s := range list {
		one := explainedChart(s.Selection)
		if one == nil {
			continue
		}
		line := one.Series[0]
		line.Name = s.name
		of := errorMeasure(s.Selection)
		measures[of] = append(measures[of], s.name)
		c.Series = append(c.Series, line)
		if i := slices.Index(line.X, float64(recommendedSizeOrElbow(s.Selection).k)); i > 0 {
			c.Marks = append(c.Marks, Mark{X: line.X[i], Y: line.Y[i]})
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.label = fmt.Sprintf("Line chart: the share explained over the number of features, of %s. The table above has the shares at the end.", countNoun(len(c.Series), "selection"))
	c.notes = append(c.notes, "Rings: the number of features worth keeping, or the elbow.")
	if slices.ContainsFunc(list, func(s pageSelection) bool { return inputsKey(s.Selection) != inputsKey(list[0].Selection) }) {
		c.notes = append(c.notes, "The selections are of different data: their shares do not compare.")
	}
	if len(measures) > 1 {
		var parts []string
		for _, of := range slices.Sorted(maps.Keys(measures)) {
			names := convert.Each(measures[of], func(n string) string { return drawing.TruncateText(n, maxBriefRunes) })
			parts = append(parts, of+" for "+strings.Join(names, ", "))
		}
		c.notes = append(c.notes, "These are shares of different things, and compare only within one: "+strings.Join(parts, "; ")+".")
	}
	return c
}
