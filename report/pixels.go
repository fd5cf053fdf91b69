package report

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"strconv"

	"gonum.org/v1/plot"
	pl "gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ufs-stream/ufs-stream/stream"
)

// pixels is a grid of features named px_R_C, in any order.
type pixels struct {
	rows, cols int
	mean       []float64 // by row; NaN where no feature is
	chosen     []pixel   // by rank
	leftOut    int       // pixels without a feature
	others     int       // other features
}

// pixel is a chosen one.
type pixel struct{ row, col, rank int }

// mostSide bounds the sides of a grid: a name may hold any number.
const mostSide = 4096

// pixelGrid finds the grid of pixels in the features of s. It is nil unless at least half
// of the features, and one chosen feature, have names of pixels.
func pixelGrid(s *stream.Selection) *pixels {
	name := regexp.MustCompile(`^px_([0-9]{1,4})_([0-9]{1,4})$`)
	parse := func(s string) (r, c int, ok bool) {
		m := name.FindStringSubmatch(s)
		if m == nil {
			return 0, 0, false
		}
		r, _ = strconv.Atoi(m[1])
		c, _ = strconv.Atoi(m[2])
		return r, c, r < mostSide && c < mostSide
	}
	var p pixels
	n := 0
	grow := func(s string) bool {
		r, c, ok := parse(s)
		if ok {
			p.rows, p.cols = max(p.rows, r+1), max(p.cols, c+1)
			n++
		}
		return ok
	}
	for _, c := range s.Columns {
		if !grow(c.Name) {
			p.others++
		}
	}
	for _, l := range s.LeftOut {
		grow(l.Name) // a constant pixel belongs to the image
	}
	for _, f := range s.Selected {
		if r, c, ok := parse(f.Name); ok && r < p.rows && c < p.cols {
			p.chosen = append(p.chosen, pixel{r, c, f.Rank})
		}
	}
	// A few scattered names span no image.
	if len(p.chosen) == 0 || n < p.others || p.rows*p.cols > 16*n+256 {
		return nil
	}
	p.mean = make([]float64, p.rows*p.cols)
	for i := range p.mean {
		p.mean[i] = math.NaN()
	}
	for _, c := range s.Columns {
		if r, col, ok := parse(c.Name); ok {
			p.mean[r*p.cols+col] = float64(c.Mean)
		}
	}
	for _, v := range p.mean {
		if math.IsNaN(v) {
			p.leftOut++
		}
	}
	return &p
}

// spread is the range of the means; lo > hi without any.
func (p *pixels) spread() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range p.mean {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// picture is the mean image, black at the lowest mean and white at the highest, each pixel
// scale × scale; a pixel without a feature takes the colour none.
func (p *pixels) picture(scale int, none color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, p.cols*scale, p.rows*scale))
	lo, hi := p.spread()
	for i, v := range p.mean {
		c := none
		if !math.IsNaN(v) {
			g := uint8(128)
			if hi > lo {
				g = uint8(255*(v/2-lo/2)/(hi/2-lo/2) + 0.5) // halves: hi − lo may overflow
			}
			c = color.NRGBA{R: g, G: g, B: g, A: 255}
		}
		p.fill(img, i/p.cols, i%p.cols, scale, c)
	}
	return img
}

func (p *pixels) fill(img *image.NRGBA, row, col, scale int, c color.NRGBA) {
	for y := row * scale; y < (row+1)*scale; y++ {
		for x := col * scale; x < (col+1)*scale; x++ {
			img.SetNRGBA(x, y, c)
		}
	}
}

// png is the mean image, one pixel each, transparent where no feature is.
func (p *pixels) png() ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, p.picture(1, color.NRGBA{}))
	return b.Bytes(), err
}

// mask draws the pixels to a file.
type mask struct {
	*pixels
	title string
}

// scale is the side of a pixel in dots, for an image of at least 480.
func (m mask) scale() int { return max(1, (480+max(m.rows, m.cols)-1)/max(m.rows, m.cols)) }

func (m mask) size() (width, height vg.Length) {
	side := vg.Length(360) / vg.Length(max(m.rows, m.cols))
	return max(300, side*vg.Length(m.cols)+60), side*vg.Length(m.rows) + 110
}

func (m mask) paint(canvas draw.Canvas) error {
	body := title(canvas, m.title)
	style := textStyle(ink, 10)
	at := body.Min
	for _, e := range []struct {
		hue  hue
		name string
	}{{chosen, "chosen"}, {absent, "left out"}, {0x808080, "mean of the others"}} {
		if e.hue == absent && m.leftOut == 0 {
			continue
		}
		canvas.FillPolygon(e.hue, []vg.Point{at, {X: at.X + 9, Y: at.Y}, {X: at.X + 9, Y: at.Y + 9}, {X: at.X, Y: at.Y + 9}})
		canvas.FillText(style, vg.Point{X: at.X + 14, Y: at.Y - 1}, e.name)
		at.X += 28 + style.Width(e.name)
	}
	body.Min.Y += 20
	p := newPlot("column", "row")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(m.cols), 0, float64(m.rows)
	p.X.Tick.Marker = ticks{whole: true, most: 6}
	p.Y.Tick.Marker = downward{float64(m.rows)}
	scale := m.scale()
	img := m.picture(scale, absent.nrgba(255))
	for _, c := range m.chosen {
		m.fill(img, c.row, c.col, scale, chosen.nrgba(255))
	}
	p.Add(pl.NewImage(img, 0, 0, float64(m.cols), float64(m.rows)))
	p.Draw(body)
	return nil
}

// downward are ticks of rows, the first at the top.
type downward struct{ rows float64 }

// Ticks implements plot.Ticker.
func (d downward) Ticks(lo, hi float64) []plot.Tick {
	list := ticks{whole: true, most: 6}.linear(lo, hi)
	for i := range list {
		list[i].Value = d.rows - list[i].Value
	}
	return list
}
