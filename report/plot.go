package report

import (
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sans is the face of all chart text.
func sans(size vg.Length, weight xfont.Weight) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size}
}

// textStyle is text of a colour and size, to the right of and above its point.
func textStyle(c color.Color, size vg.Length) text.Style {
	return text.Style{Color: c, Font: sans(size, xfont.WeightNormal), XAlign: draw.XLeft, YAlign: draw.YBottom, Handler: plot.DefaultTextHandler}
}

// newPlot is a plot in our style: no frame, pale grid lines, small text.
func newPlot(xlabel, ylabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{}
		a.Padding = 0
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = sans(10, xfont.WeightNormal), ink
		a.Label.Padding = 3
		a.Tick.Label.Font, a.Tick.Label.Color = sans(10, xfont.WeightNormal), soft
		a.Tick.LineStyle = draw.LineStyle{Color: soft, Width: 0.5}
		a.Tick.Length = 3
	}
	p.Y.Tick.LineStyle, p.Y.Tick.Length = draw.LineStyle{}, 6 // room for error bars, no marks
	p.X.Label.Text, p.Y.Label.Text = printable(xlabel, 80), printable(ylabel, 80)
	return p
}

// plotter lets a function draw in the plot.
type plotter func(draw.Canvas, *plot.Plot)

// Plot implements plot.Plotter.
func (f plotter) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// plot draws axes, series and marks.
func (c Chart) plot(canvas draw.Canvas) {
	p := newPlot(c.XLabel, c.YLabel)
	p.X.Min, p.X.Max = c.span(true)
	p.Y.Min, p.Y.Max = c.span(false)
	size := canvas.Size()
	p.X.Tick.Marker = ticks{log: c.LogX, whole: c.WholeX, most: max(2, int(size.X/70))}
	p.Y.Tick.Marker = ticks{log: c.LogY, most: max(2, int(size.Y/45))}
	if c.LogX {
		p.X.Scale = plot.LogScale{}
	}
	if c.LogY {
		p.Y.Scale = plot.LogScale{}
	}
	p.Add(plotter(gridLines))
	for i, s := range c.Series {
		p.Add(plotter(func(d draw.Canvas, p *plot.Plot) { c.series(d, p, i, s) }))
	}
	p.Add(plotter(c.marks))
	// Half of the last tick label and of a ring would cross the edge.
	p.Draw(draw.Crop(canvas, 2, -14, 2, -16))
}

// gridLines draws a pale line at each labelled tick of y, and the axis of x.
func gridLines(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() {
			c.StrokeLine2(draw.LineStyle{Color: rule, Width: 0.75}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: soft, Width: 0.5}, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
}

// lineStyle is how the i-th series is drawn.
func lineStyle(i int) draw.LineStyle {
	hues := seriesHues()
	style := draw.LineStyle{Color: hues[i%len(hues)], Width: 1.75}
	switch i / len(hues) % 3 {
	case 1:
		style.Dashes = []vg.Length{6, 3}
	case 2:
		style.Dashes = []vg.Length{2, 2}
	}
	return style
}

// fewPoints is the most points that a series shows singly, with error bars and no band.
const fewPoints = 24

func (c Chart) series(d draw.Canvas, p *plot.Plot, index int, s Series) {
	x, y := p.Transforms(&d)
	style := lineStyle(index)
	var run []vg.Point
	var low, high []vg.Point
	flush := func() {
		if len(low) > 1 {
			fill := style.Color.(hue).nrgba(46)
			for i := len(high) - 1; i >= 0; i-- {
				low = append(low, high[i])
			}
			d.FillPolygon(fill, low)
		}
		d.StrokeLines(style, thin(run))
		if len(run) == 1 && len(s.X) > fewPoints {
			d.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: 1.5, Shape: draw.CircleGlyph{}}, run[0])
		}
		run, low, high = nil, nil, nil
	}
	for i := range s.X {
		if !drawable(s.X[i], c.LogX) || !drawable(s.Y[i], c.LogY) {
			flush()
			continue
		}
		at := vg.Point{X: x(s.X[i]), Y: y(s.Y[i])}
		run = append(run, at)
		spread := s.Low != nil && drawable(s.Low[i], c.LogY) && drawable(s.High[i], c.LogY)
		switch {
		case spread && len(s.X) <= fewPoints:
			bar := draw.LineStyle{Color: style.Color, Width: 1}
			from, to := y(s.Low[i]), y(s.High[i])
			d.StrokeLine2(bar, at.X, from, at.X, to)
			d.StrokeLine2(bar, at.X-3, from, at.X+3, from)
			d.StrokeLine2(bar, at.X-3, to, at.X+3, to)
		case spread:
			low = append(low, vg.Point{X: at.X, Y: y(s.Low[i])})
			high = append(high, vg.Point{X: at.X, Y: y(s.High[i])})
		}
		if len(s.X) <= fewPoints {
			d.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: 2.5, Shape: draw.CircleGlyph{}}, at)
		}
	}
	flush()
}

// thin keeps the visible points of a line: in each half point of width the first, the last,
// the lowest and the highest (M4: U. Jugel et al., VLDB 2014).
func thin(line []vg.Point) []vg.Point {
	const column = 0.5
	if len(line) < 4 {
		return line
	}
	var out []vg.Point
	for from := 0; from < len(line); {
		at := math.Floor(float64(line[from].X / column))
		to, lowest, highest := from, from, from
		for ; to < len(line) && math.Floor(float64(line[to].X/column)) == at; to++ {
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

// marks draws rings, and their labels above the first series, on its free side and inside
// the plot.
func (c Chart) marks(d draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&d)
	style := textStyle(mark, 10)
	rises := false
	if len(c.Series) > 0 && len(c.Series[0].Y) > 0 {
		line := c.Series[0].Y
		rises = line[0] < line[len(line)-1]
	}
	for _, m := range c.Marks {
		if !(m.X >= p.X.Min && m.X <= p.X.Max && m.Y >= p.Y.Min && m.Y <= p.Y.Max) {
			continue
		}
		at := vg.Point{X: x(m.X), Y: y(m.Y)}
		d.StrokeLine2(draw.LineStyle{Color: mark, Width: 0.75, Dashes: []vg.Length{2, 2}}, at.X, d.Min.Y, at.X, at.Y-4)
		d.DrawGlyph(draw.GlyphStyle{Color: mark, Radius: 4, Shape: draw.RingGlyph{}}, at)
		label := printable(m.Label, 60)
		width := style.Width(label)
		if rises {
			at.X -= width + 6
		}
		at.X = max(min(at.X+3, d.Max.X-width), d.Min.X)
		d.FillText(style, vg.Point{X: at.X, Y: at.Y + 7}, label)
	}
}
