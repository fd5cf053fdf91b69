package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RankPlot shows the mean ranks of several methods on an axis, the best at its left, and joins
// with a bar those that a critical difference does not tell apart: Figure 1 of Demšar,
// Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006).
type RankPlot struct {
	Title    string
	Names    []string
	Ranks    []float64 // of Names, 1 the best
	Critical float64   // difference; NaN draws none
	Alike    [][2]int  // sets to join, as positions in the order of the ranks, inclusive
}

// WriteSVG writes the plot as an SVG file in light colours.
func (r RankPlot) WriteSVG(w io.Writer) error { return writeSVG(w, r) }

// The measures of the plot in points.
const (
	rankWidth  = 760
	rankMargin = 190 // left and right of the axis, for names
	rankAxis   = 78  // from the top
	rankLine   = 16  // between names
	rankBar    = 7   // between bars
)

func (r RankPlot) size() (width, height vg.Length) {
	return rankWidth, vg.Length(rankAxis + 34 + rankBar*len(r.Alike) + rankLine*((len(r.Names)+1)/2))
}

func (r RankPlot) paint(canvas draw.Canvas) error {
	if len(r.Names) != len(r.Ranks) {
		return fmt.Errorf("report: %d names and %d ranks", len(r.Names), len(r.Ranks))
	}
	title(canvas, r.Title)
	order := make([]int, len(r.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case r.Ranks[a] < r.Ranks[b]:
			return -1
		case r.Ranks[a] > r.Ranks[b]:
			return 1
		}
		return 0
	})
	last := max(len(r.Ranks), 2)
	width := vg.Length(rankWidth - 2*rankMargin)
	x := func(rank float64) vg.Length {
		return canvas.Min.X + rankMargin + width*vg.Length(min(max(rank, 1), float64(last))-1)/vg.Length(last-1)
	}
	axis := canvas.Max.Y - rankAxis
	line := draw.LineStyle{Color: ink, Width: 0.75}
	text := textStyle(soft, 9)
	text.XAlign = draw.XCenter
	canvas.StrokeLine2(line, x(1), axis, x(float64(last)), axis)
	for rank := 1; rank <= last; rank += (last + 29) / 30 {
		at := x(float64(rank))
		canvas.StrokeLine2(line, at, axis, at, axis+4)
		canvas.FillText(text, vg.Point{X: at, Y: axis + 6}, fmt.Sprint(rank))
	}
	if r.Critical > 0 && !math.IsInf(r.Critical, 1) {
		y, to := axis+26, x(min(1+r.Critical, float64(last)))
		bar := draw.LineStyle{Color: mark, Width: 1.5}
		canvas.StrokeLine2(bar, x(1), y, to, y)
		for _, end := range []vg.Length{x(1), to} {
			canvas.StrokeLine2(bar, end, y-3, end, y+3)
		}
		canvas.FillText(textStyle(ink, 9), vg.Point{X: to + 6, Y: y - 4}, fmt.Sprintf("critical difference %.2f", r.Critical))
	}
	for i, set := range r.Alike {
		if set[0] < 0 || set[1] >= len(order) {
			return fmt.Errorf("report: set %v of %d ranks", set, len(order))
		}
		y := axis - vg.Length(6+rankBar*i)
		canvas.StrokeLine2(draw.LineStyle{Color: chosen, Width: 3}, x(r.Ranks[order[set[0]]])-2, y, x(r.Ranks[order[set[1]]])+2, y)
	}
	half := (len(order) + 1) / 2
	for i, j := range order {
		// The better half is named at the left, the best on top, the other at the right, the worst
		// on top, so that no two lines cross.
		row, left := i, true
		if i >= half {
			row, left = len(order)-1-i, false
		}
		y := axis - vg.Length(18+rankBar*len(r.Alike)+rankLine*row)
		style, end := textStyle(ink, 10), canvas.Min.X+rankMargin-14
		style.XAlign, style.YAlign = draw.XRight, draw.YCenter
		if !left {
			style.XAlign, end = draw.XLeft, canvas.Max.X-rankMargin+14
		}
		at := x(r.Ranks[j])
		canvas.StrokeLines(draw.LineStyle{Color: soft, Width: 0.75}, []vg.Point{{X: at, Y: axis}, {X: at, Y: y}, {X: end, Y: y}})
		gap := vg.Length(4)
		if left {
			gap = -4
		}
		canvas.FillText(style, vg.Point{X: end + gap, Y: y}, printable(fmt.Sprintf("%s  %.2f", r.Names[j], r.Ranks[j]), 34))
	}
	return nil
}
