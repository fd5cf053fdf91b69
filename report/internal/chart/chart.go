// Package chart draws line charts, and the ranks of methods on an axis.
package chart

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

// Chart is a line chart. Points that cannot be drawn (NaN, beyond ±1e300, or not positive on a log axis) leave a gap.
type Chart struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool
	WholeX                bool // X has ticks only at whole numbers
	Series                []Series
	Marks                 []Mark
}

// Series is one line of a chart. X and Y have equal lengths. Low and High are nil, or have the same length and give the
// ends of a spread around Y. A spread over few points is drawn as error bars, a spread over many points as a band.
type Series struct {
	Name            string
	X, Y, Low, High []float64
}

// Mark is a point of interest, drawn as a ring with its label above it.
type Mark struct {
	X, Y  float64
	Label string
}

func (c Chart) checkSeries() error {
	for i, s := range c.Series {
		n := len(s.X)
		if len(s.Y) != n || s.Low != nil && len(s.Low) != n || s.High != nil && len(s.High) != n || (s.Low == nil) != (s.High == nil) {
			return fmt.Errorf("report: series %d (%q) has %d x, %d y, %d low, %d high", i, s.Name, n, len(s.Y), len(s.Low), len(s.High))
		}
	}
	return nil
}

// Drawable reports whether any point of the chart can be drawn.
func (c Chart) Drawable() bool {
	for _, s := range c.Series {
		for i := range s.X {
			if i < len(s.Y) && isDrawable(s.X[i], c.LogX) && isDrawable(s.Y[i], c.LogY) {
				return true
			}
		}
	}
	return false
}

func isDrawable(x float64, log bool) bool {
	if log {
		return x >= 1e-300 && x <= 1e300
	}
	return math.Abs(x) <= 1e300
}

// Width and height of charts in files, in points.
const (
	fileWidth  = 640
	fileHeight = 400
)

// WriteSVG writes the chart as an SVG file in light colours, with its title and legend.
func (c Chart) WriteSVG(w io.Writer) error { return drawing.WriteSVG(w, c) }

// WritePNG writes the chart as a PNG file in light colours, with its title and legend.
func (c Chart) WritePNG(w io.Writer) error { return drawing.WritePNG(w, c) }

// SizeInPoints implements drawing.Painter: it returns the size of a chart in a file.
func (c Chart) SizeInPoints() (width, height float64) { return fileWidth, fileHeight }

// PaintInto implements drawing.Painter: it draws the title, the legend and the lines into body.
func (c Chart) PaintInto(to drawing.Canvas, body drawing.Frame) error {
	if err := c.checkSeries(); err != nil {
		return err
	}
	c.drawPlot(to, c.drawTitleAndLegend(to, body))
	return nil
}

// InlineSVG draws the chart for the page, without title and legend, because the page shows these as text.
func (c Chart) InlineSVG(width, height float64, class, label string) (string, error) {
	if err := c.checkSeries(); err != nil {
		return "", err
	}
	return drawing.InlineSVG(width, height, class, label, func(to drawing.Canvas) {
		c.drawPlot(to, drawing.Frame{Left: 0, Top: 0, Right: width, Bottom: height})
	})
}

// SortByX sorts the points of the series.
func (s *Series) SortByX() {
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.X[a], s.X[b]) })
	for _, values := range []*[]float64{&s.X, &s.Y, &s.Low, &s.High} {
		sorted := convert.Each(order, func(from int) float64 { return (*values)[from] })
		*values = sorted
	}
}

func (c Chart) drawTitleAndLegend(to drawing.Canvas, frame drawing.Frame) drawing.Frame {
	frame = DrawTitle(to, frame, c.Title)
	if len(c.Series) < 2 {
		return frame
	}
	style := drawing.Lettering{Hue: drawing.InkHue, Size: 10}
	const swatch, gap, line = 18, 14, 15
	at := drawing.Point{X: frame.Left, Y: frame.Top + line}
	for i, s := range c.Series {
		name := drawing.PrintableText(s.Name, 48)
		width := swatch + to.TextWidth(style, name) + gap
		if at.X > frame.Left && at.X+width > frame.Right {
			at = drawing.Point{X: frame.Left, Y: at.Y + line}
		}
		to.DrawLine(SeriesStroke(i), drawing.Point{X: at.X, Y: at.Y - 4}, drawing.Point{X: at.X + swatch - 5, Y: at.Y - 4})
		to.DrawText(style, drawing.Point{X: at.X + swatch, Y: at.Y}, name)
		at.X += width
	}
	frame.Top = at.Y + 8
	return frame
}

// DrawTitle draws a title, if any, at the top of the frame and returns the space below it.
func DrawTitle(to drawing.Canvas, in drawing.Frame, s string) drawing.Frame {
	if s == "" {
		return in
	}
	style := drawing.Lettering{Hue: drawing.InkHue, Size: 13, Bold: true}
	line := drawing.PrintableText(s, 120)
	for n := utf8.RuneCountInString(line); n > 1 && to.TextWidth(style, line) > in.Width(); n-- {
		line = drawing.TruncateText(line, n-1)
	}
	to.DrawText(style, drawing.Point{X: in.Left, Y: in.Top + 13}, line)
	in.Top += 24
	return in
}
