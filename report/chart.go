package report

import (
	"fmt"
	"io"
	"math"
)

// Chart is a line chart. Points that cannot be drawn (NaN, ±Inf, beyond ±1e300, not positive on a log axis) leave a
// gap.
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

// validate refuses series whose slices differ in length.
func (c Chart) validate() error {
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
func (c Chart) WriteSVG(w io.Writer) error { return writeSVG(w, c) }

// WritePNG writes the chart as a PNG file in light colours, with its title and legend.
func (c Chart) WritePNG(w io.Writer) error { return writePNG(w, c) }

func (c Chart) sizeInPoints() (width, height float64) { return fileWidth, fileHeight }

func (c Chart) paintInto(to canvas, body frame) error {
	if err := c.validate(); err != nil {
		return err
	}
	c.drawPlot(to, c.drawHead(to, body))
	return nil
}

// inlineSVG draws the chart for the page, without title and legend, because the page shows these as text.
func (c Chart) inlineSVG(width, height float64, class, label string) (string, error) {
	if err := c.validate(); err != nil {
		return "", err
	}
	s := newInlineSVG(width, height, class, label)
	c.drawPlot(s, frame{0, 0, width, height})
	b, err := s.closeSVG()
	return string(b), err
}

// painter is a picture that can be drawn into a file: a chart, a heat map or a mask.
type painter interface {
	sizeInPoints() (width, height float64)
	paintInto(to canvas, body frame) error
}

func writeSVG(w io.Writer, p painter) error {
	width, height := p.sizeInPoints()
	s := newFileSVG(width, height)
	if err := paintOn(s, p); err != nil {
		return err
	}
	b, err := s.closeSVG()
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func writePNG(w io.Writer, p painter) error {
	r := newRaster(p.sizeInPoints())
	if err := paintOn(r, p); err != nil {
		return err
	}
	return r.encodePNG(w)
}

// paintOn fills the canvas with the background colour, and draws p inside margins.
func paintOn(to canvas, p painter) error {
	width, height := p.sizeInPoints()
	page := frame{0, 0, width, height}
	to.fillArea(paperHue, 1, page.corners()...)
	return p.paintInto(to, frame{12, 10, width - 12, height - 10})
}
