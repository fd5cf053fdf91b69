package chart

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

// RankPlot shows the mean ranks of several methods on an axis, the best at its left. A bar joins methods whose ranks
// differ by less than the critical difference, as in Figure 1 of Demšar, Statistical comparisons of classifiers over
// multiple data sets, JMLR 7 (2006).
type RankPlot struct {
	Title    string
	Names    []string
	Ranks    []float64 // mean ranks of Names; 1 is the best
	Critical float64   // critical difference; if it is NaN, it is not drawn
	Alike    [][2]int  // bars: positions of the first and last method that a bar joins, in the order of the ranks
}

// WriteSVG writes the plot as an SVG file in light colours.
func (r RankPlot) WriteSVG(w io.Writer) error { return drawing.WriteSVG(w, r) }

// Distances in the plot, in points.
const (
	rankWidth       = 760
	rankMargin      = 190 // left and right of the axis, for names
	rankAxisTop     = 78  // distance of the axis from the top of the plot
	rankLineHeight  = 16  // between lines of names
	rankBarDistance = 7   // between bars
)

// SizeInPoints implements drawing.Painter: it returns the size of the plot, which grows with the number of names.
func (r RankPlot) SizeInPoints() (width, height float64) {
	return rankWidth, float64(rankAxisTop + 34 + rankBarDistance*len(r.Alike) + rankLineHeight*((len(r.Names)+1)/2))
}

// PaintInto implements drawing.Painter: it draws the axis, the names at their mean ranks, and the bars.
func (r RankPlot) PaintInto(to drawing.Canvas, body drawing.Frame) error {
	if len(r.Names) != len(r.Ranks) {
		return fmt.Errorf("report: %d names and %d ranks", len(r.Names), len(r.Ranks))
	}
	DrawTitle(to, body, r.Title)
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
	const left, right = rankMargin, rankWidth - rankMargin
	x := func(rank float64) float64 {
		return left + (right-left)*(min(max(rank, 1), float64(last))-1)/float64(last-1)
	}
	line := drawing.Stroke{Hue: drawing.InkHue, Width: 0.75}
	to.DrawLine(line, drawing.Point{X: left, Y: rankAxisTop}, drawing.Point{X: right, Y: rankAxisTop})
	for rank := 1; rank <= last; rank += (last + 29) / 30 {
		at := x(float64(rank))
		to.DrawLine(line, drawing.Point{X: at, Y: rankAxisTop}, drawing.Point{X: at, Y: rankAxisTop - 4})
		to.DrawText(drawing.Lettering{Hue: drawing.TickHue, Size: 9, Anchor: drawing.AnchorMiddle}, drawing.Point{X: at, Y: rankAxisTop - 8}, fmt.Sprint(rank))
	}
	if r.Critical > 0 && !math.IsInf(r.Critical, 1) {
		y, barEnd := rankAxisTop-26.0, x(min(1+r.Critical, float64(last)))
		bar := drawing.Stroke{Hue: drawing.MarkHue, Width: 1.5}
		to.DrawLine(bar, drawing.Point{X: left, Y: y}, drawing.Point{X: barEnd, Y: y})
		for _, edge := range []float64{left, barEnd} {
			to.DrawLine(bar, drawing.Point{X: edge, Y: y - 3}, drawing.Point{X: edge, Y: y + 3})
		}
		to.DrawText(drawing.Lettering{Hue: drawing.InkHue, Size: 9}, drawing.Point{X: barEnd + 6, Y: y + 3}, fmt.Sprintf("critical difference %.2f", r.Critical))
	}
	for i, set := range r.Alike {
		if set[0] < 0 || set[1] >= len(order) {
			return fmt.Errorf("report: set %v of %d ranks", set, len(order))
		}
		y := rankAxisTop + float64(6+rankBarDistance*i)
		to.DrawLine(drawing.Stroke{Hue: drawing.ChosenHue, Width: 3}, drawing.Point{X: x(r.Ranks[order[set[0]]]) - 2, Y: y}, drawing.Point{X: x(r.Ranks[order[set[1]]]) + 2, Y: y})
	}
	half := (len(order) + 1) / 2
	for i, j := range order {
		// The names of the better half are at the left, with the best on top. The other names are at the right, with
		// the worst on top. So lines do not cross.
		row, side, text, gap := i, left-14.0, drawing.LabelLettering(drawing.AnchorEnd), -4.0
		if i >= half {
			row, side, text, gap = len(order)-1-i, right+14.0, drawing.LabelLettering(drawing.AnchorStart), 4
		}
		y := rankAxisTop + float64(18+rankBarDistance*len(r.Alike)+rankLineHeight*row)
		at := x(r.Ranks[j])
		to.DrawLine(drawing.Stroke{Hue: drawing.TickHue, Width: 0.75}, drawing.Point{X: at, Y: rankAxisTop}, drawing.Point{X: at, Y: y}, drawing.Point{X: side, Y: y})
		to.DrawText(text, drawing.Point{X: side + gap, Y: y + 3.5}, drawing.PrintableText(fmt.Sprintf("%s  %.2f", r.Names[j], r.Ranks[j]), 34))
	}
	return nil
}
