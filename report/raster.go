package report

import (
	"image"
	"image/draw"
	"image/png"
	"io"
	"math"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	dots "golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// dotsPerPoint gives 192 dots per inch, twice the usual density of a screen.
const dotsPerPoint = 192.0 / 72

// raster is a canvas that draws into an image of dots.
type raster struct {
	textMeasurer
	img *image.RGBA
}

func newRaster(width, height float64) *raster {
	return &raster{img: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*dotsPerPoint)), int(math.Ceil(height*dotsPerPoint))))}
}

func (r *raster) encodePNG(w io.Writer) error { return png.Encode(w, r.img) }

// fillOutlines fills the inside of the outlines. An outline runs clockwise, or anticlockwise around a hole.
func (r *raster) fillOutlines(h hue, opacity float64, outlines ...[]point) {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, outline := range outlines {
		for _, p := range outline {
			low, high = point{min(low.x, p.x), min(low.y, p.y)}, point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	dot := func(x float64) int { return int(math.Floor(x * dotsPerPoint)) }
	box := image.Rect(dot(low.x), dot(low.y), dot(high.x)+2, dot(high.y)+2).Intersect(r.img.Bounds())
	if box.Empty() {
		return
	}
	paint := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, outline := range outlines {
		for i, p := range outline {
			x, y := float32(p.x*dotsPerPoint)-float32(box.Min.X), float32(p.y*dotsPerPoint)-float32(box.Min.Y)
			if i == 0 {
				paint.MoveTo(x, y)
			} else {
				paint.LineTo(x, y)
			}
		}
		paint.ClosePath()
	}
	paint.Draw(r.img, box, image.NewUniform(h.toNRGBA(uint8(255*opacity+0.5))), image.Point{})
}

func (r *raster) fillArea(h hue, opacity float64, around ...point) {
	r.fillOutlines(h, opacity, around)
}

func (r *raster) fillDot(h hue, at point, radius float64) {
	r.fillOutlines(h, 1, circlePolygon(at, radius))
}

func (r *raster) drawRing(s stroke, at point, radius float64) {
	r.fillOutlines(s.hue, 1, circlePolygon(at, radius+s.width/2), reversePoints(circlePolygon(at, radius-s.width/2)))
}

// drawLine paints each segment of the line as a rectangle, with discs at the joints.
func (r *raster) drawLine(s stroke, through ...point) {
	half := s.width / 2
	var outlines [][]point
	for _, piece := range cutIntoDashes(s.dashes, through) {
		for i := 1; i < len(piece); i++ {
			a, b := piece[i-1], piece[i]
			length := math.Hypot(b.x-a.x, b.y-a.y)
			if length == 0 {
				continue
			}
			dx, dy := half*(b.x-a.x)/length, half*(b.y-a.y)/length
			outlines = append(outlines, []point{{a.x + dy, a.y - dx}, {b.x + dy, b.y - dx}, {b.x - dy, b.y + dx}, {a.x - dy, a.y + dx}})
			if i > 1 {
				outlines = append(outlines, circlePolygon(a, half))
			}
		}
	}
	r.fillOutlines(s.hue, 1, outlines...)
}

func circlePolygon(at point, radius float64) []point {
	const corners = 32
	around := make([]point, corners)
	for i := range around {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		around[i] = point{at.x + radius*cos, at.y + radius*sin}
	}
	return around
}

func reversePoints(points []point) []point {
	out := make([]point, len(points))
	for i, p := range points {
		out[len(points)-1-i] = p
	}
	return out
}

func (r *raster) drawText(l lettering, at point, s string) {
	switch width := r.textWidth(l, s); l.anchor {
	case anchorMiddle:
		at.x -= width / 2
	case anchorEnd:
		at.x -= width
	}
	d := font.Drawer{Dst: r.img, Src: image.NewUniform(l.hue), Face: r.fontFace(l.size*dotsPerPoint, l.bold), Dot: dots.Point26_6{X: toDots(at.x), Y: toDots(at.y)}}
	d.DrawString(s)
}

func toDots(points float64) dots.Int26_6 {
	return dots.Int26_6(math.Round(points * dotsPerPoint * 64))
}

func (r *raster) drawPicture(img image.Image, in frame) {
	to := image.Rect(int(math.Round(in.left*dotsPerPoint)), int(math.Round(in.top*dotsPerPoint)), int(math.Round(in.right*dotsPerPoint)), int(math.Round(in.bottom*dotsPerPoint)))
	xdraw.NearestNeighbor.Scale(r.img, to, img, img.Bounds(), draw.Over, nil)
}
