package report

import (
	"fmt"
	"io"
	"math"
	"slices"
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
func (r RankPlot) WriteSVG(w io.Writer) error { return writeSVG(w, r) }

// Distances in the plot, in points.
const (
	rankWidth       = 760
	rankMargin      = 190 // left and right of the axis, for names
	rankAxisTop     = 78  // distance of the axis from the top of the plot
	rankLineHeight  = 16  // between lines of names
	rankBarDistance = 7   // between bars
)

func (r RankPlot) sizeInPoints() (width, height float64) {
	return rankWidth, float64(rankAxisTop + 34 + rankBarDistance*len(r.Alike) + rankLineHeight*((len(r.Names)+1)/2))
}

func (r RankPlot) paintInto(to canvas, body frame) error {
	if len(r.Names) != len(r.Ranks) {
		return fmt.Errorf("report: %d names and %d ranks", len(r.Names), len(r.Ranks))
	}
	drawTitle(to, body, r.Title)
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
	line := stroke{hue: inkHue, width: 0.75}
	to.drawLine(line, point{left, rankAxisTop}, point{right, rankAxisTop})
	for rank := 1; rank <= last; rank += (last + 29) / 30 {
		at := x(float64(rank))
		to.drawLine(line, point{at, rankAxisTop}, point{at, rankAxisTop - 4})
		to.drawText(lettering{hue: tickHue, size: 9, anchor: anchorMiddle}, point{at, rankAxisTop - 8}, fmt.Sprint(rank))
	}
	if r.Critical > 0 && !math.IsInf(r.Critical, 1) {
		y, barEnd := rankAxisTop-26.0, x(min(1+r.Critical, float64(last)))
		bar := stroke{hue: markHue, width: 1.5}
		to.drawLine(bar, point{left, y}, point{barEnd, y})
		for _, edge := range []float64{left, barEnd} {
			to.drawLine(bar, point{edge, y - 3}, point{edge, y + 3})
		}
		to.drawText(lettering{hue: inkHue, size: 9}, point{barEnd + 6, y + 3}, fmt.Sprintf("critical difference %.2f", r.Critical))
	}
	for i, set := range r.Alike {
		if set[0] < 0 || set[1] >= len(order) {
			return fmt.Errorf("report: set %v of %d ranks", set, len(order))
		}
		y := rankAxisTop + float64(6+rankBarDistance*i)
		to.drawLine(stroke{hue: chosenHue, width: 3}, point{x(r.Ranks[order[set[0]]]) - 2, y}, point{x(r.Ranks[order[set[1]]]) + 2, y})
	}
	half := (len(order) + 1) / 2
	for i, j := range order {
		// The names of the better half are at the left, with the best on top. The other names are at the right, with
		// the worst on top. So lines do not cross.
		row, side, text, gap := i, left-14.0, labelLettering(anchorEnd), -4.0
		if i >= half {
			row, side, text, gap = len(order)-1-i, right+14.0, labelLettering(anchorStart), 4
		}
		y := rankAxisTop + float64(18+rankBarDistance*len(r.Alike)+rankLineHeight*row)
		at := x(r.Ranks[j])
		to.drawLine(stroke{hue: tickHue, width: 0.75}, point{at, rankAxisTop}, point{at, y}, point{side, y})
		to.drawText(text, point{side + gap, y + 3.5}, printableText(fmt.Sprintf("%s  %.2f", r.Names[j], r.Ranks[j]), 34))
	}
	return nil
}
