package drawing

import (
	"image"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"

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
func (r *raster) fillOutlines(h Hue, opacity float64, outlines ...[]Point) {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, outline := range outlines {
		for _, p := range outline {
			low, high = Point{min(low.X, p.X), min(low.Y, p.Y)}, Point{max(high.X, p.X), max(high.Y, p.Y)}
		}
	}
	dot := func(x float64) int { return int(math.Floor(x * dotsPerPoint)) }
	box := image.Rect(dot(low.X), dot(low.Y), dot(high.X)+2, dot(high.Y)+2).Intersect(r.img.Bounds())
	if box.Empty() {
		return
	}
	paint := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, outline := range outlines {
		for i, p := range outline {
			x, y := float32(p.X*dotsPerPoint)-float32(box.Min.X), float32(p.Y*dotsPerPoint)-float32(box.Min.Y)
			if i == 0 {
				paint.MoveTo(x, y)
			} else {
				paint.LineTo(x, y)
			}
		}
		paint.ClosePath()
	}
	paint.Draw(r.img, box, image.NewUniform(h.ToNRGBA(uint8(255*opacity+0.5))), image.Point{})
}

func (r *raster) FillArea(h Hue, opacity float64, around ...Point) {
	r.fillOutlines(h, opacity, around)
}

func (r *raster) FillDot(h Hue, at Point, radius float64) {
	r.fillOutlines(h, 1, circlePolygon(at, radius))
}

func (r *raster) DrawRing(s Stroke, at Point, radius float64) {
	inner := circlePolygon(at, radius-s.Width/2)
	slices.Reverse(inner)
	r.fillOutlines(s.Hue, 1, circlePolygon(at, radius+s.Width/2), inner)
}

// DrawLine paints each segment of the line as a rectangle, with discs at the joints.
func (r *raster) DrawLine(s Stroke, through ...Point) {
	half := s.Width / 2
	var outlines [][]Point
	for _, piece := range cutIntoDashes(s.Dashes, through) {
		for i := 1; i < len(piece); i++ {
			a, b := piece[i-1], piece[i]
			length := math.Hypot(b.X-a.X, b.Y-a.Y)
			if length == 0 {
				continue
			}
			dx, dy := half*(b.X-a.X)/length, half*(b.Y-a.Y)/length
			outlines = append(outlines, []Point{{a.X + dy, a.Y - dx}, {b.X + dy, b.Y - dx}, {b.X - dy, b.Y + dx}, {a.X - dy, a.Y + dx}})
			if i > 1 {
				outlines = append(outlines, circlePolygon(a, half))
			}
		}
	}
	r.fillOutlines(s.Hue, 1, outlines...)
}

func circlePolygon(at Point, radius float64) []Point {
	const corners = 32
	around := make([]Point, corners)
	for i := range around {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		around[i] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	return around
}

func (r *raster) DrawText(l Lettering, at Point, s string) {
	switch width := r.TextWidth(l, s); l.Anchor {
	case AnchorMiddle:
		at.X -= width / 2
	case AnchorEnd:
		at.X -= width
	}
	d := font.Drawer{Dst: r.img, Src: image.NewUniform(l.Hue), Face: r.fontFace(l.Size*dotsPerPoint, l.Bold), Dot: dots.Point26_6{X: toDots(at.X), Y: toDots(at.Y)}}
	d.DrawString(s)
}

func toDots(points float64) dots.Int26_6 {
	return dots.Int26_6(math.Round(points * dotsPerPoint * 64))
}

func (r *raster) DrawPicture(img image.Image, in Frame) {
	to := image.Rect(int(math.Round(in.Left*dotsPerPoint)), int(math.Round(in.Top*dotsPerPoint)), int(math.Round(in.Right*dotsPerPoint)), int(math.Round(in.Bottom*dotsPerPoint)))
	xdraw.NearestNeighbor.Scale(r.img, to, img, img.Bounds(), draw.Over, nil)
}
