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

// dotsPerPoint is 192 dots an inch, twice a screen's usual density.
const dotsPerPoint = 192.0 / 72

// raster is a canvas of dots.
type raster struct {
	letters
	img *image.RGBA
}

func newRaster(width, height float64) *raster {
	return &raster{img: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*dotsPerPoint)), int(math.Ceil(height*dotsPerPoint))))}
}

// write writes the image as PNG.
func (r *raster) write(w io.Writer) error { return png.Encode(w, r.img) }

// fill paints what lies inside of the outlines, each of which runs around clockwise, or
// anticlockwise around a hole.
func (r *raster) fill(h hue, opacity float64, outlines ...[]point) {
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
	paint.Draw(r.img, box, image.NewUniform(h.nrgba(uint8(255*opacity+0.5))), image.Point{})
}

func (r *raster) area(h hue, opacity float64, around ...point) { r.fill(h, opacity, around) }

func (r *raster) dot(h hue, at point, radius float64) { r.fill(h, 1, circle(at, radius)) }

func (r *raster) ring(s stroke, at point, radius float64) {
	r.fill(s.hue, 1, circle(at, radius+s.width/2), reversed(circle(at, radius-s.width/2)))
}

// line paints each piece as rectangles, with discs at the joints.
func (r *raster) line(s stroke, through ...point) {
	half := s.width / 2
	var outlines [][]point
	for _, piece := range dashed(s.dashes, through) {
		for i := 1; i < len(piece); i++ {
			a, b := piece[i-1], piece[i]
			length := math.Hypot(b.x-a.x, b.y-a.y)
			if length == 0 {
				continue
			}
			dx, dy := half*(b.x-a.x)/length, half*(b.y-a.y)/length
			outlines = append(outlines, []point{{a.x + dy, a.y - dx}, {b.x + dy, b.y - dx}, {b.x - dy, b.y + dx}, {a.x - dy, a.y + dx}})
			if i > 1 {
				outlines = append(outlines, circle(a, half))
			}
		}
	}
	r.fill(s.hue, 1, outlines...)
}

// circle is a polygon that nobody tells from a circle, clockwise.
func circle(at point, radius float64) []point {
	const corners = 32
	around := make([]point, corners)
	for i := range around {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		around[i] = point{at.x + radius*cos, at.y + radius*sin}
	}
	return around
}

func reversed(points []point) []point {
	out := make([]point, len(points))
	for i, p := range points {
		out[len(points)-1-i] = p
	}
	return out
}

func (r *raster) text(l lettering, at point, s string) {
	switch width := r.measure(l, s); l.anchor {
	case middle:
		at.x -= width / 2
	case end:
		at.x -= width
	}
	d := font.Drawer{Dst: r.img, Src: image.NewUniform(l.hue), Face: r.face(l.size*dotsPerPoint, l.bold), Dot: dots.Point26_6{X: dotsOf(at.x), Y: dotsOf(at.y)}}
	d.DrawString(s)
}

func dotsOf(points float64) dots.Int26_6 {
	return dots.Int26_6(math.Round(points * dotsPerPoint * 64))
}

func (r *raster) picture(img image.Image, in frame) {
	to := image.Rect(int(math.Round(in.left*dotsPerPoint)), int(math.Round(in.top*dotsPerPoint)), int(math.Round(in.right*dotsPerPoint)), int(math.Round(in.bottom*dotsPerPoint)))
	xdraw.NearestNeighbor.Scale(r.img, to, img, img.Bounds(), draw.Over, nil)
}
