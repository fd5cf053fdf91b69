package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/chart"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// heatMap is a table of shares from 0 to 1. Each cell shows its share as a colour and a number. NaN is an empty cell.
type heatMap struct {
	title, slug         string
	rowHead, columnHead string // titles of rows and columns
	rows, columns       []string
	cell                [][]float64 // by row and column
	marked              [2]int      // row and column of the marked cell; -1 for none
	markedLabel         string
}

// agreementHeat makes a heat map of a grid, which has a selection for each setting of the method's weights. The rows
// are values of α, the columns values of γ or β. A cell shows how far the selection of a setting agrees with the
// selections of neighbouring settings.
func agreementHeat(g *stream.Grid) *heatMap {
	alpha, second := gridWeights(g)
	h := &heatMap{
		title: fmt.Sprintf("%s: agreement with neighbouring settings, k = %d", g.Method, g.K), slug: "agreement",
		rowHead: "α", columnHead: secondWeightLetter(g), marked: [2]int{-1, -1}, markedLabel: "recommended",
	}
	for _, a := range alpha {
		h.rows = append(h.rows, weightText(a))
		h.cell = append(h.cell, slices.Repeat([]float64{math.NaN()}, len(second)))
	}
	for _, c := range second {
		h.columns = append(h.columns, weightText(c))
	}
	for i, s := range g.Settings {
		r, c := indexOnAxis(alpha, float64(s.Alpha)), indexOnAxis(second, secondWeight(s))
		h.cell[r][c] = float64(s.Agreement)
		if i == g.Recommended {
			h.marked = [2]int{r, c}
		}
	}
	return h
}

// maxGridCells bounds the cells in the table of a grid, because n settings whose weights all differ have n² cells.
const maxGridCells = 10000

func gridCellCount(g *stream.Grid) int {
	alpha, second := gridWeights(g)
	return len(alpha) * len(second)
}

// gridWeights returns the values of the weight α and of the second weight (β or γ), ascending; without α one NaN.
func gridWeights(g *stream.Grid) (alpha, second []float64) {
	for _, s := range g.Settings {
		alpha, second = append(alpha, float64(s.Alpha)), append(second, secondWeight(s))
	}
	return sortedDistinct(alpha), sortedDistinct(second)
}

func secondWeight(s stream.GridSetting) float64 {
	_, v := s.Second()
	return float64(v)
}

func secondWeightLetter(g *stream.Grid) string {
	if len(g.Settings) == 0 {
		return "γ"
	}
	l, _ := g.Settings[0].Second()
	return l
}

// sortedDistinct sorts list and removes repeated values. All NaNs count as one value, which comes first.
func sortedDistinct(list []float64) []float64 {
	slices.Sort(list)
	return slices.CompactFunc(list, func(a, b float64) bool { return a == b || a != a && b != b })
}

func indexOnAxis(axis []float64, value float64) int {
	return slices.IndexFunc(axis, func(x float64) bool { return x == value || x != x && value != value })
}

func weightText(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return drawing.WithMinusSign(strconv.FormatFloat(v, 'g', 6, 64))
}

// Sizes of a cell and of the left and bottom margins, in points.
const (
	cellWidth, cellHeight = 56, 34
	heatLeft, heatBottom  = 150, 60
)

func (h *heatMap) SizeInPoints() (width, height float64) {
	return float64(max(420, heatLeft+30+cellWidth*len(h.columns))), float64(70 + heatBottom + cellHeight*len(h.rows))
}

// maxHeatArea bounds the area of a heat map in a file, in square points. A PNG needs 28 bytes of memory for each of
// them.
const maxHeatArea = 4e6

func (h *heatMap) isSmallEnough() bool {
	width, height := h.SizeInPoints()
	return width*height <= maxHeatArea
}

// PaintInto draws the heat map, with the first row at the bottom, as on a y axis.
func (h *heatMap) PaintInto(to drawing.Canvas, body drawing.Frame) error {
	body = chart.DrawTitle(to, body, h.title)
	to.DrawText(drawing.LabelLettering(drawing.AnchorStart), drawing.Point{X: body.Left, Y: body.Top + 10}, h.rowHead)
	a := chart.Axes{
		Frame: drawing.Frame{Left: body.Left + heatLeft - 10, Top: body.Top + 18, Right: body.Right, Bottom: body.Bottom - 32},
		X:     chart.Scale{Lo: -0.5, Hi: float64(len(h.columns)) - 0.5}, Y: chart.Scale{Lo: -0.5, Hi: float64(len(h.rows)) - 0.5},
	}
	var names []chart.Tick
	for i, name := range h.columns {
		names = append(names, chart.Tick{Value: float64(i), Label: drawing.PrintableText(name, 24)})
	}
	chart.DrawXAxis(to, a, h.columnHead, names, false)
	box := func(r, c int) drawing.Frame {
		from, end := a.PointAt(float64(c)-.48, float64(r)+.48), a.PointAt(float64(c)+.48, float64(r)-.48)
		return drawing.Frame{Left: from.X, Top: from.Y, Right: end.X, Bottom: end.Y}
	}
	for r, row := range h.cell {
		to.DrawText(drawing.TickLettering(drawing.AnchorEnd), drawing.Point{X: a.Left - 8, Y: a.PointAt(0, float64(r)).Y + 3.5}, drawing.PrintableText(h.rows[r], 24))
		for c, v := range row {
			text := drawing.LabelLettering(drawing.AnchorMiddle)
			if !math.IsNaN(v) {
				to.FillArea(drawing.HeatColour(min(max(v, 0), 1)), 1, box(r, c).Corners()...)
				if v > 0.5 {
					text.Hue = drawing.PaperHue
				}
			}
			centre := a.PointAt(float64(c), float64(r))
			to.DrawText(text, drawing.Point{X: centre.X, Y: centre.Y + 3.5}, fixedText(v, 2))
		}
	}
	if r, c := h.marked[0], h.marked[1]; r >= 0 {
		b := box(r, c).Corners()
		to.DrawLine(drawing.Stroke{Hue: drawing.ChosenHue, Width: 2.5}, append(b, b[0], b[1])...)
	}
	return nil
}

// agreementCurve draws the mean agreement of neighbouring settings over the number k of features: one line for all
// pairs of neighbours, and one line for the pairs that include the recommended setting. The first k features of a
// ranking in the grid count as the selection of k features.
func agreementCurve(g *stream.Grid) *describedChart {
	pairs := neighbouringPairs(g)
	if len(pairs) == 0 {
		return nil
	}
	longest := len(g.Settings[0].Selected)
	for _, s := range g.Settings {
		longest = min(longest, len(s.Selected))
	}
	mean, best := make([]float64, longest), make([]float64, longest)
	recommendedPairs := 0 // number of neighbouring pairs that include the recommended setting
	for _, p := range pairs {
		shared := sharedPrefixCounts(g.Settings[p[0]].Selected[:longest], g.Settings[p[1]].Selected[:longest])
		recommended := p[0] == g.Recommended || p[1] == g.Recommended
		if recommended {
			recommendedPairs++
		}
		for i, n := range shared {
			j := float64(n) / float64(2*(i+1)-n)
			mean[i] += j / float64(len(pairs))
			if recommended {
				best[i] += j
			}
		}
	}
	for i := range best {
		best[i] /= float64(recommendedPairs) // NaN if there are no such pairs
	}
	x, what := countingNumbers(longest), groupOrFeatureOfGrid(g)+"s"
	c := &describedChart{slug: "agreement-over-k", label: "Line chart: how far neighbouring settings agree, over the number of " + what + ".", Chart: Chart{
		Title: g.Method + ": agreement of neighbouring settings over k", XLabel: what + " k", YLabel: "Jaccard index", WholeX: true,
		Series: []Series{{Name: "all neighbours, mean", X: x, Y: mean}},
	}}
	if recommendedPairs > 0 {
		c.Series = append(c.Series, Series{Name: "recommended and its neighbours", X: x, Y: best})
	}
	return c
}

func neighbouringPairs(g *stream.Grid) [][2]int {
	alpha, second := gridWeights(g)
	at := make(map[[2]int]int, len(g.Settings))
	for i, s := range g.Settings {
		at[[2]int{indexOnAxis(alpha, float64(s.Alpha)), indexOnAxis(second, secondWeight(s))}] = i
	}
	var pairs [][2]int
	for r := range alpha {
		for c := range second {
			i, ok := at[[2]int{r, c}]
			for _, next := range [][2]int{{r, c + 1}, {r + 1, c}} {
				if j, exists := at[next]; ok && exists {
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
	}
	return pairs
}

// sharedPrefixCounts returns, for each k, how many names the first k names of a and the first k names of b share.
func sharedPrefixCounts(a, b []string) []int {
	seen := make(map[string]bool, len(a))
	both, out := 0, make([]int, len(a))
	for i := range a {
		for _, name := range []string{a[i], b[i]} {
			if seen[name] {
				both++
			}
			seen[name] = true
		}
		out[i] = both
	}
	return out
}

func selectionOfCurve(c *stream.Curve) *stream.Selection {
	s := &stream.Selection{Method: c.Method, Version: c.Version, Seed: c.Seed, Rows: c.Rows, RowsUsed: c.RowsUsed, Features: c.Features,
		Passes: c.Passes, Options: c.Options, Warnings: c.Warnings, Inputs: c.Inputs, Timing: c.Timing, Memory: c.Memory, Size: c.Size, Transfer: c.Transfer}
	for _, p := range c.Points {
		s.Selected = append(s.Selected, stream.Selected{Rank: p.K, Name: p.Name, Members: p.Members, Cost: p.Cost, Score: p.Score, Error: p.Error})
	}
	return s
}

const maxSettings = 400

// renderSettings writes the table of a grid, with a row for each setting of the method's weights.
func renderSettings(g *stream.Grid) markup {
	hasAlpha := slices.ContainsFunc(g.Settings, func(s stream.GridSetting) bool { return isFinite(s.Alpha) })
	heads := formatIf(hasAlpha, "%s", renderHeads("#α")) + renderHeads("#"+secondWeightLetter(g), "#Agreement", "#Objective", "#Iterations", "Converged", "First features")
	number := -1 // of the setting in the grid
	settings := newListView(g.Settings, maxSettings, func(s stream.GridSetting) markup {
		number++
		names := newListView(s.Selected, 4, func(name string) string { return drawing.TruncateText(name, 40) })
		return formatHTML("<tr%s>%s", formatIf(number == g.Recommended, ` class="best"`), formatIf(hasAlpha, "%s", renderNumbers(weightText(float64(s.Alpha))))) +
			renderNumbers(weightText(secondWeight(s)), fixedText(float64(s.Agreement), 2), numberText(float64(s.Objective)), countText(int64(s.Iterations))) +
			formatHTML("<td>%s%s%s</td>", formatIf(s.Converged, "yes"), formatIf(!s.Converged, "<strong>no</strong>"),
				formatNonEmpty(` <span class="soft">%s</span>`, drawing.TruncateText(strings.Join(s.Warnings, "; "), 400))) +
			formatHTML(`<td><bdi class="name">%s%s</bdi>%s</td></tr>`+"\n", strings.Join(names.Shown, ", "), formatIf(names.More != "", " …"), formatIf(number == g.Recommended, " <strong>recommended</strong>"))
	})
	table := renderTable("scroll tall", "All settings", "sortable", heads, renderBody(settings.Shown, sameValue))
	return formatHTML("\n<details>\n<summary>All settings</summary>\n%s%s\n</details>", table, renderMore(settings.More, "settings in the file"))
}
