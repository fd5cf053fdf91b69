package report

import (
	"image"
	"image/color"
	"math"
	"regexp"
	"strconv"

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
		for _, name := range f.Features() {
			if r, c, ok := parse(name); ok && r < p.rows && c < p.cols {
				p.chosen = append(p.chosen, pixel{r, c, f.Rank})
			}
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

// picture is the mean image, black at the lowest mean and white at the highest; a pixel
// without a feature takes the colour none.
func (p *pixels) picture(none color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, p.cols, p.rows))
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
		img.SetNRGBA(i%p.cols, i/p.cols, c)
	}
	return img
}

// mask draws the pixels to a file.
type mask struct {
	*pixels
	title string
}

func (m mask) size() (width, height float64) {
	side := 360 / float64(max(m.rows, m.cols))
	return max(300, side*float64(m.cols)+60), side*float64(m.rows) + 126
}

func (m mask) paint(to canvas, body frame) error {
	body = title(to, body, m.title)
	at := point{body.left, body.bottom}
	for _, e := range []struct {
		hue  hue
		name string
	}{{chosen, "chosen"}, {absent, "left out"}, {0x808080, "mean of the others"}} {
		if e.hue == absent && m.leftOut == 0 {
			continue
		}
		to.area(e.hue, 1, frame{at.x, at.y - 9, at.x + 9, at.y}.corners()...)
		to.text(labelText(start), point{at.x + 14, at.y - 1}, e.name)
		at.x += 28 + to.measure(labelText(start), e.name)
	}
	to.text(labelText(start), point{body.left, body.top + 10}, "row")
	a := axes{
		frame: frame{body.left + 34, body.top + 18, body.right, body.bottom - 52},
		x:     scale{hi: float64(m.cols)}, y: scale{hi: float64(m.rows)},
	}
	a.right = a.left + a.height()*float64(m.cols)/float64(m.rows)
	for _, t := range (ticks{whole: true, most: 6}).of(0, float64(m.rows)) { // the first row is on top
		to.text(tickText(end), point{a.left - 8, a.at(0, float64(m.rows)-t.value).y + 3.5}, t.label)
	}
	underneath(to, a, "column", ticks{whole: true, most: 6}.of(0, float64(m.cols)), true)
	img := m.picture(absent.nrgba(255))
	for _, c := range m.chosen {
		img.SetNRGBA(c.col, c.row, chosen.nrgba(255))
	}
	to.picture(img, a.frame)
	return nil
}
