package report

import (
	"image"
	"math"
)

// point is a position on a canvas, in points (1/72 inch) from its upper left corner.
type point struct{ x, y float64 }

// frame is an upright rectangle.
type frame struct{ left, top, right, bottom float64 }

func (f frame) width() float64  { return f.right - f.left }
func (f frame) height() float64 { return f.bottom - f.top }

// corners returns the corners clockwise.
func (f frame) corners() []point {
	return []point{{f.left, f.top}, {f.right, f.top}, {f.right, f.bottom}, {f.left, f.bottom}}
}

// stroke is the style of a line.
type stroke struct {
	hue    hue
	width  float64
	dashes []float64 // lengths of dashes and gaps, alternating; nil for a solid line
}

// anchor is the part of a text (start, middle or end) that is placed at the text's position.
type anchor int

const (
	anchorStart anchor = iota
	anchorMiddle
	anchorEnd
)

// lettering is the style of a text.
type lettering struct {
	hue    hue
	size   float64
	bold   bool
	anchor anchor
}

// canvas is a surface on which charts are drawn: an SVG (svg.go) or an image of dots (raster.go).
type canvas interface {
	drawLine(s stroke, through ...point)
	fillArea(fill hue, opacity float64, around ...point)
	fillDot(fill hue, at point, radius float64)
	drawRing(s stroke, at point, radius float64)
	drawText(l lettering, baseline point, s string)
	drawPicture(img image.Image, in frame)
	textWidth(l lettering, s string) float64 // in points
}

// cutIntoDashes cuts the line through the given points into dashes. Each dash is a list of points.
func cutIntoDashes(dashes []float64, through []point) [][]point {
	if len(dashes) == 0 {
		return [][]point{through}
	}
	var pieces [][]point
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
		length := math.Hypot(to.x-from.x, to.y-from.y)
		for at := 0.0; length-at > left; {
			at += left
			corner := point{from.x + (to.x-from.x)*at/length, from.y + (to.y-from.y)*at/length}
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
