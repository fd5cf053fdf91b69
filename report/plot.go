package report

import "math"

func (c Chart) drawPlot(to canvas, in frame) {
	a := c.drawAxes(to, in)
	for i, s := range c.Series {
		c.drawSeries(to, a, i, s)
	}
	c.drawMarks(to, a)
}

// axes map values to positions in the frame.
type axes struct {
	frame
	x, y scale
}

// scale maps values from lo to hi to the range from 0 to 1.
type scale struct {
	lo, hi float64
	log    bool
}

func (s scale) position(v float64) float64 {
	if s.log {
		return math.Log(v/s.lo) / math.Log(s.hi/s.lo)
	}
	return (v/2 - s.lo/2) / (s.hi/2 - s.lo/2) // computed with halves, because hi − lo may overflow
}

func (a axes) pointAt(x, y float64) point {
	return point{a.left + a.width()*a.x.position(x), a.bottom - a.height()*a.y.position(y)}
}

func tickLettering(at anchor) lettering { return lettering{hue: tickHue, size: 10, anchor: at} }

// labelLettering returns the style of the texts at axes, rings and legends.
func labelLettering(at anchor) lettering { return lettering{hue: inkHue, size: 10, anchor: at} }

// drawAxes draws the y axis with its name above it and pale lines at its ticks, and the x axis with its name below it.
func (c Chart) drawAxes(to canvas, in frame) axes {
	a := axes{frame: in}
	a.x.lo, a.x.hi = c.axisRange(true)
	a.y.lo, a.y.hi = c.axisRange(false)
	a.x.log, a.y.log = c.LogX, c.LogY
	to.drawText(labelLettering(anchorStart), point{in.left, in.top + 10}, printableText(c.YLabel, 80))
	a.top += 24
	a.bottom -= 32
	ys := tickOptions{log: c.LogY, maxLabels: max(2, int(a.height()/36))}.tickMarks(a.y.lo, a.y.hi)
	widest := 0.0
	for _, t := range ys {
		widest = max(widest, to.textWidth(tickLettering(anchorEnd), t.label))
	}
	a.left += widest + 10
	a.right -= 14 // room for half of the last x label, and for a ring
	for _, t := range ys {
		if t.label != "" {
			y := a.pointAt(a.x.lo, t.value).y
			to.drawLine(stroke{hue: gridHue, width: 0.75}, point{a.left, y}, point{a.right, y})
			to.drawText(tickLettering(anchorEnd), point{a.left - 8, y + 3.5}, t.label)
		}
	}
	xs := tickOptions{log: c.LogX, whole: c.WholeX, maxLabels: max(2, int(a.width()/70))}.tickMarks(a.x.lo, a.x.hi)
	drawXAxis(to, a, c.XLabel, xs, true)
	return a
}

// drawXAxis draws the labels of the x axis. If marked is set, it also draws the axis as a line with ticks.
func drawXAxis(to canvas, a axes, name string, list []tick, marked bool) {
	if marked {
		to.drawLine(stroke{hue: tickHue, width: 0.5}, point{a.left, a.bottom}, point{a.right, a.bottom})
	}
	for _, t := range list {
		x := a.pointAt(t.value, a.y.lo).x
		if marked {
			length := 3.5
			if t.label == "" {
				length = 2
			}
			to.drawLine(stroke{hue: tickHue, width: 0.5}, point{x, a.bottom}, point{x, a.bottom + length})
		}
		if t.label != "" {
			to.drawText(tickLettering(anchorMiddle), point{x, a.bottom + 14}, t.label)
		}
	}
	to.drawText(labelLettering(anchorMiddle), point{(a.left + a.right) / 2, a.bottom + 29}, printableText(name, 80))
}

func seriesStroke(i int) stroke {
	hues := seriesHues()
	s := stroke{hue: hues[i%len(hues)], width: 1.75}
	switch i / len(hues) % 3 {
	case 1:
		s.dashes = []float64{6, 3}
	case 2:
		s.dashes = []float64{2, 2}
	}
	return s
}

// maxErrorBarPoints is the largest number of points of a series that is drawn with dots and error bars. A longer series
// is drawn with a band.
const maxErrorBarPoints = 24

func (c Chart) drawSeries(to canvas, a axes, index int, s Series) {
	style := seriesStroke(index)
	var run, low, high []point
	flush := func() {
		if len(low) > 1 {
			to.fillArea(style.hue, 0.18, append(low, reversePoints(high)...)...)
		}
		to.drawLine(style, removeHiddenPoints(run)...)
		if len(run) == 1 && len(s.X) > maxErrorBarPoints {
			to.fillDot(style.hue, run[0], 1.5)
		}
		run, low, high = nil, nil, nil
	}
	for i := range s.X {
		if !isDrawable(s.X[i], c.LogX) || !isDrawable(s.Y[i], c.LogY) {
			flush()
			continue
		}
		at := a.pointAt(s.X[i], s.Y[i])
		run = append(run, at)
		spread := s.Low != nil && isDrawable(s.Low[i], c.LogY) && isDrawable(s.High[i], c.LogY)
		switch {
		case spread && len(s.X) <= maxErrorBarPoints:
			bar := stroke{hue: style.hue, width: 1}
			from, end := a.pointAt(s.X[i], s.Low[i]), a.pointAt(s.X[i], s.High[i])
			to.drawLine(bar, from, end)
			for _, p := range []point{from, end} {
				to.drawLine(bar, point{p.x - 3, p.y}, point{p.x + 3, p.y})
			}
		case spread:
			low, high = append(low, a.pointAt(s.X[i], s.Low[i])), append(high, a.pointAt(s.X[i], s.High[i]))
		}
		if len(s.X) <= maxErrorBarPoints {
			to.fillDot(style.hue, at, 2.5)
		}
	}
	flush()
}

// removeHiddenPoints removes the points that do not change the picture of a line. In each vertical strip of half a
// point width it keeps the first, the last, the lowest and the highest point (method M4: U. Jugel et al., VLDB 2014).
func removeHiddenPoints(line []point) []point {
	const column = 0.5
	if len(line) < 4 {
		return line
	}
	var out []point
	for from := 0; from < len(line); {
		at := math.Floor(line[from].x / column)
		to, lowest, highest := from, from, from
		for ; to < len(line) && math.Floor(line[to].x/column) == at; to++ {
			if line[to].y < line[lowest].y {
				lowest = to
			}
			if line[to].y > line[highest].y {
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
func (c Chart) drawMarks(to canvas, a axes) {
	style := lettering{hue: markHue, size: 10}
	rises := false
	if len(c.Series) > 0 && len(c.Series[0].Y) > 0 {
		line := c.Series[0].Y
		rises = line[0] < line[len(line)-1]
	}
	for _, m := range c.Marks {
		if !(m.X >= a.x.lo && m.X <= a.x.hi && m.Y >= a.y.lo && m.Y <= a.y.hi) {
			continue
		}
		at := a.pointAt(m.X, m.Y)
		to.drawLine(stroke{hue: markHue, width: 0.75, dashes: []float64{2, 2}}, point{at.x, a.bottom}, point{at.x, at.y + 4})
		to.drawRing(stroke{hue: markHue, width: 1}, at, 4)
		label := printableText(m.Label, 60)
		width := to.textWidth(style, label)
		y := at.y - 8
		switch {
		case rises:
			at.x -= width + 6
		case at.x+3+width > a.right && at.y+18 < a.bottom: // a falling line lies above the ring
			at.x -= width + 9
			y = at.y + 16
		}
		to.drawText(style, point{max(min(at.x+3, a.right-width), a.left), y}, label)
	}
}
