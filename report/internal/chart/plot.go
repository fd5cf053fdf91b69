package chart

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

func (c Chart) drawPlot(to drawing.Canvas, frame drawing.Frame) {
	a := c.drawAxes(to, frame)
	for i, s := range c.Series {
		c.drawSeries(to, a, i, s)
	}
	c.drawMarks(to, a)
}

// Axes map values to positions in the frame.
type Axes struct {
	drawing.Frame
	X, Y Scale
}

// Scale maps values from lo to hi to the range from 0 to 1.
type Scale struct {
	Lo, Hi float64
	log    bool
}

func (s Scale) positionOf(v float64) float64 {
	if s.log {
		return math.Log(v/s.Lo) / math.Log(s.Hi/s.Lo)
	}
	return (v/2 - s.Lo/2) / (s.Hi/2 - s.Lo/2) // computed with halves, because hi − lo may overflow
}

// PointAt returns the position of the values x and y on the canvas.
func (a Axes) PointAt(x, y float64) drawing.Point {
	return drawing.Point{X: a.Left + a.Width()*a.X.positionOf(x), Y: a.Bottom - a.Height()*a.Y.positionOf(y)}
}

func (c Chart) drawAxes(to drawing.Canvas, frame drawing.Frame) Axes {
	a := Axes{Frame: frame}
	a.X.Lo, a.X.Hi = c.axisRange(true)
	a.Y.Lo, a.Y.Hi = c.axisRange(false)
	a.X.log, a.Y.log = c.LogX, c.LogY
	to.DrawText(drawing.LabelLettering(drawing.AnchorStart), drawing.Point{X: frame.Left, Y: frame.Top + 10}, drawing.PrintableText(c.YLabel, 80))
	a.Top += 24
	a.Bottom -= 32
	ys := TickOptions{log: c.LogY, MaxLabels: max(2, int(a.Height()/36))}.TickMarks(a.Y.Lo, a.Y.Hi)
	widest := 0.0
	for _, t := range ys {
		widest = max(widest, to.TextWidth(drawing.TickLettering(drawing.AnchorEnd), t.Label))
	}
	a.Left += widest + 10
	a.Right -= 14 // room for half of the last x label, and for a ring
	for _, t := range ys {
		if t.Label != "" {
			y := a.PointAt(a.X.Lo, t.Value).Y
			to.DrawLine(drawing.Stroke{Hue: drawing.GridHue, Width: 0.75}, drawing.Point{X: a.Left, Y: y}, drawing.Point{X: a.Right, Y: y})
			to.DrawText(drawing.TickLettering(drawing.AnchorEnd), drawing.Point{X: a.Left - 8, Y: y + 3.5}, t.Label)
		}
	}
	xs := TickOptions{log: c.LogX, Whole: c.WholeX, MaxLabels: max(2, int(a.Width()/70))}.TickMarks(a.X.Lo, a.X.Hi)
	DrawXAxis(to, a, c.XLabel, xs, true)
	return a
}

// DrawXAxis draws the labels of the x axis. If marked is set, it also draws the axis as a line with ticks.
func DrawXAxis(to drawing.Canvas, a Axes, name string, list []Tick, marked bool) {
	if marked {
		to.DrawLine(drawing.Stroke{Hue: drawing.TickHue, Width: 0.5}, drawing.Point{X: a.Left, Y: a.Bottom}, drawing.Point{X: a.Right, Y: a.Bottom})
	}
	for _, t := range list {
		x := a.PointAt(t.Value, a.Y.Lo).X
		if marked {
			length := 3.5
			if t.Label == "" {
				length = 2
			}
			to.DrawLine(drawing.Stroke{Hue: drawing.TickHue, Width: 0.5}, drawing.Point{X: x, Y: a.Bottom}, drawing.Point{X: x, Y: a.Bottom + length})
		}
		if t.Label != "" {
			to.DrawText(drawing.TickLettering(drawing.AnchorMiddle), drawing.Point{X: x, Y: a.Bottom + 14}, t.Label)
		}
	}
	to.DrawText(drawing.LabelLettering(drawing.AnchorMiddle), drawing.Point{X: (a.Left + a.Right) / 2, Y: a.Bottom + 29}, drawing.PrintableText(name, 80))
}

// SeriesStroke returns the style of the line with index i.
func SeriesStroke(i int) drawing.Stroke {
	hues := drawing.SeriesHues()
	s := drawing.Stroke{Hue: hues[i%len(hues)], Width: 1.75}
	switch i / len(hues) % 3 {
	case 1:
		s.Dashes = []float64{6, 3}
	case 2:
		s.Dashes = []float64{2, 2}
	}
	return s
}

// maxErrorBarPoints is the largest number of points of a series that is drawn with dots and error bars. A longer series
// is drawn with a band.
const maxErrorBarPoints = 24

func (c Chart) drawSeries(to drawing.Canvas, a Axes, index int, s Series) {
	style := SeriesStroke(index)
	var run, low, high []drawing.Point
	flush := func() {
		if len(low) > 1 {
			slices.Reverse(high)
			to.FillArea(style.Hue, 0.18, append(low, high...)...)
		}
		to.DrawLine(style, RemoveHiddenPoints(run)...)
		if len(run) == 1 && len(s.X) > maxErrorBarPoints {
			to.FillDot(style.Hue, run[0], 1.5)
		}
		run, low, high = nil, nil, nil
	}
	for i := range s.X {
		if !isDrawable(s.X[i], c.LogX) || !isDrawable(s.Y[i], c.LogY) {
			flush()
			continue
		}
		at := a.PointAt(s.X[i], s.Y[i])
		run = append(run, at)
		spread := s.Low != nil && isDrawable(s.Low[i], c.LogY) && isDrawable(s.High[i], c.LogY)
		switch {
		case spread && len(s.X) <= maxErrorBarPoints:
			bar := drawing.Stroke{Hue: style.Hue, Width: 1}
			from, end := a.PointAt(s.X[i], s.Low[i]), a.PointAt(s.X[i], s.High[i])
			to.DrawLine(bar, from, end)
			for _, p := range []drawing.Point{from, end} {
				to.DrawLine(bar, drawing.Point{X: p.X - 3, Y: p.Y}, drawing.Point{X: p.X + 3, Y: p.Y})
			}
		case spread:
			low, high = append(low, a.PointAt(s.X[i], s.Low[i])), append(high, a.PointAt(s.X[i], s.High[i]))
		}
		if len(s.X) <= maxErrorBarPoints {
			to.FillDot(style.Hue, at, 2.5)
		}
	}
	flush()
}

// RemoveHiddenPoints removes the points that do not change the picture of a line. In each vertical strip of half a
// point width it keeps the first, the last, the lowest and the highest point (method M4: U. Jugel et al., VLDB 2014).
func RemoveHiddenPoints(line []drawing.Point) []drawing.Point {
	const column = 0.5
	if len(line) < 4 {
		return line
	}
	var out []drawing.Point
	for from := 0; from < len(line); {
		at := math.Floor(line[from].X / column)
		to, lowest, highest := from, from, from
		for ; to < len(line) && math.Floor(line[to].X/column) == at; to++ {
			if line[to].Y < line[lowest].Y {
				lowest = to
			}
			if line[to].Y > line[highest].Y {
				highest = to
			}
		}
		last := -1
		for _, i := range []int{from, min(lowest, highest), max(lowest, highest), to - 1} {
			if i > last {
				out = append(out, line[i])
				last = i
			}
		}
		from = to
	}
	return out
}

// drawMarks draws a ring and a label for each mark. It places a label inside the plot, on the side of the ring that the
// line of the first series leaves free.
func (c Chart) drawMarks(to drawing.Canvas, a Axes) {
	style := drawing.Lettering{Hue: drawing.MarkHue, Size: 10}
	rises := false
	if len(c.Series) > 0 && len(c.Series[0].Y) > 0 {
		line := c.Series[0].Y
		rises = line[0] < line[len(line)-1]
	}
	for _, m := range c.Marks {
		if !(m.X >= a.X.Lo && m.X <= a.X.Hi && m.Y >= a.Y.Lo && m.Y <= a.Y.Hi) {
			continue
		}
		at := a.PointAt(m.X, m.Y)
		to.DrawLine(drawing.Stroke{Hue: drawing.MarkHue, Width: 0.75, Dashes: []float64{2, 2}}, drawing.Point{X: at.X, Y: a.Bottom}, drawing.Point{X: at.X, Y: at.Y + 4})
		to.DrawRing(drawing.Stroke{Hue: drawing.MarkHue, Width: 1}, at, 4)
		label := drawing.PrintableText(m.Label, 60)
		width := to.TextWidth(style, label)
		y := at.Y - 8
		switch {
		case rises && at.X-width-3 >= a.Left: // a rising line lies below the ring to its left
			at.X -= width + 6
		case rises:
			y = at.Y + 16
		case at.X+3+width > a.Right && at.Y+18 < a.Bottom: // a falling line lies above the ring
			at.X -= width + 9
			y = at.Y + 16
		}
		to.DrawText(style, drawing.Point{X: max(min(at.X+3, a.Right-width), a.Left), Y: y}, label)
	}
}
