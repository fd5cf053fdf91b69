// Package drawing offers the surfaces on which report draws, as SVG and as PNG, with their colours and fonts.
package drawing

import (
	"image"
	"io"
	"math"
)

// Point is a position on a canvas, in points (1/72 inch) from its upper left corner.
type Point struct{ X, Y float64 }

// Frame is a rectangle on a canvas, given by its sides, in points.
type Frame struct{ Left, Top, Right, Bottom float64 }

// Width returns the width in points.
func (f Frame) Width() float64 { return f.Right - f.Left }

// Height returns the height in points.
func (f Frame) Height() float64 { return f.Bottom - f.Top }

// Corners returns the corners clockwise.
func (f Frame) Corners() []Point {
	return []Point{{f.Left, f.Top}, {f.Right, f.Top}, {f.Right, f.Bottom}, {f.Left, f.Bottom}}
}

// Stroke is the style of a line.
type Stroke struct {
	Hue    Hue
	Width  float64
	Dashes []float64 // lengths of dashes and gaps, alternating; nil for a solid line
}

// Anchor is the part of a text (start, middle or end) that is placed at the text's position.
type Anchor int

// The parts of a text that can be placed at its position.
const (
	AnchorStart Anchor = iota
	AnchorMiddle
	AnchorEnd
)

// Lettering is the style of a text.
type Lettering struct {
	Hue    Hue
	Size   float64
	Bold   bool
	Anchor Anchor
}

// Canvas is a surface on which charts are drawn: an SVG (svg.go) or an image of dots (raster.go).
type Canvas interface {
	DrawLine(s Stroke, through ...Point)
	FillArea(fill Hue, opacity float64, around ...Point)
	FillDot(fill Hue, at Point, radius float64)
	DrawRing(s Stroke, at Point, radius float64)
	DrawText(l Lettering, baseline Point, s string)
	DrawPicture(img image.Image, in Frame)
	TextWidth(l Lettering, s string) float64 // in points
}

func cutIntoDashes(dashes []float64, through []Point) [][]Point {
	if len(dashes) == 0 {
		return [][]Point{through}
	}
	var pieces [][]Point
	n, left := 0, dashes[0]
	piece := through[:min(1, len(through)):min(1, len(through))]
	endPiece := func() {
		if n%2 == 0 {
			pieces = append(pieces, piece)
		}
		n++
		left, piece = dashes[n%len(dashes)], nil
	}
	for i := 1; i < len(through); i++ {
		from, to := through[i-1], through[i]
		length := math.Hypot(to.X-from.X, to.Y-from.Y)
		for at := 0.0; length-at > left; {
			at += left
			corner := Point{from.X + (to.X-from.X)*at/length, from.Y + (to.Y-from.Y)*at/length}
			piece = append(piece, corner)
			endPiece()
			piece = append(piece, corner)
			from, length, at = corner, length-at, 0
		}
		left -= length
		piece = append(piece, to)
	}
	if n%2 == 0 && len(piece) > 1 {
		pieces = append(pieces, piece)
	}
	return pieces
}

// TickLettering returns the style of the numbers at axes.
func TickLettering(at Anchor) Lettering { return Lettering{Hue: TickHue, Size: 10, Anchor: at} }

// LabelLettering returns the style of the texts at axes, rings and legends.
func LabelLettering(at Anchor) Lettering { return Lettering{Hue: InkHue, Size: 10, Anchor: at} }

// Painter is a picture that can be drawn into a file: a chart, a heat map or a mask.
type Painter interface {
	SizeInPoints() (width, height float64)
	PaintInto(to Canvas, body Frame) error
}

// WriteSVG writes the picture as an SVG file in light colours.
func WriteSVG(w io.Writer, p Painter) error {
	width, height := p.SizeInPoints()
	s := newFileSVG(width, height)
	if err := paintWithMargins(s, p); err != nil {
		return err
	}
	b, err := s.closeSVG()
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// WritePNG writes the picture as a PNG file in light colours.
func WritePNG(w io.Writer, p Painter) error {
	r := newRaster(p.SizeInPoints())
	if err := paintWithMargins(r, p); err != nil {
		return err
	}
	return r.encodePNG(w)
}

func paintWithMargins(to Canvas, p Painter) error {
	width, height := p.SizeInPoints()
	page := Frame{0, 0, width, height}
	to.FillArea(PaperHue, 1, page.Corners()...)
	return p.PaintInto(to, Frame{12, 10, width - 12, height - 10})
}
