package report

import (
	"image"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/report/internal/chart"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pixelImage is an image whose pixels are features named px_ROW_COLUMN, or px_ROW_COLUMN_BAND. The bands of a picture
// stand side by side in the image.
type pixelImage struct {
	rows, cols int       // of the image, all bands included
	bands      int       // at least 1
	mean       []float64 // means of the pixels, row by row; NaN for a pixel without a feature
	chosen     []pixel   // sorted by rank
	leftOut    int       // number of pixels without a feature
	others     int       // number of features that are not pixels
}

// pixel is a chosen pixel. name has only letters, digits and underscores.
type pixel struct {
	name           string
	row, col, rank int
}

// maxPixelSide bounds width and height of the image, because a feature's name may contain any number.
const maxPixelSide = 4096

// findPixels finds an image in the features of s. It returns nil unless at least half of the features, and at least one
// chosen feature, have names of pixels. Names with a band are of pixels only if no feature is named px_ROW_COLUMN.
func findPixels(s *stream.Selection) *pixelImage {
	name := regexp.MustCompile(`^px_([0-9]{1,4})_([0-9]{1,4})$`)
	if !slices.ContainsFunc(s.Columns, func(c stream.ColumnReport) bool { return name.MatchString(c.Name) }) {
		name = regexp.MustCompile(`^px_([0-9]{1,4})_([0-9]{1,4})_([0-9]{1,4})$`)
	}
	parse := func(s string) (place [3]int, ok bool) { // row, column, band
		m := name.FindStringSubmatch(s)
		if m == nil {
			return place, false
		}
		for i, text := range m[1:] {
			place[i], _ = strconv.Atoi(text)
		}
		return place, max(place[0], place[1], place[2]) < maxPixelSide
	}
	var p pixelImage
	var shape [3]int
	n := 0
	grow := func(s string) bool {
		place, ok := parse(s)
		if ok {
			for i, v := range place {
				shape[i] = max(shape[i], v+1)
			}
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
	p.rows, p.cols, p.bands = shape[0], shape[1]*shape[2], shape[2]
	for _, f := range s.Selected {
		for _, name := range f.Features() {
			if at, ok := parse(name); ok && at[0] < shape[0] && at[1] < shape[1] && at[2] < shape[2] {
				p.chosen = append(p.chosen, pixel{name, at[0], at[2]*shape[1] + at[1], f.Rank})
			}
		}
	}
	// A few scattered names do not form an image.
	if len(p.chosen) == 0 || n < p.others || p.rows*p.cols > 16*n+256 {
		return nil
	}
	p.mean = make([]float64, p.rows*p.cols)
	for i := range p.mean {
		p.mean[i] = math.NaN()
	}
	for _, c := range s.Columns {
		if at, ok := parse(c.Name); ok {
			p.mean[at[0]*p.cols+at[2]*shape[1]+at[1]] = float64(c.Mean)
		}
	}
	for _, v := range p.mean {
		if math.IsNaN(v) {
			p.leftOut++
		}
	}
	return &p
}

func (p *pixelImage) meanRange() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range p.mean {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

func (p *pixelImage) meanImage(leftOutColour color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, p.cols, p.rows))
	lo, hi := p.meanRange()
	for i, v := range p.mean {
		c := leftOutColour
		if !math.IsNaN(v) {
			g := uint8(128)
			if hi > lo {
				g = uint8(255*(v/2-lo/2)/(hi/2-lo/2) + 0.5) // in halves, because hi − lo may overflow
			}
			c = color.NRGBA{R: g, G: g, B: g, A: 255}
		}
		img.SetNRGBA(i%p.cols, i/p.cols, c)
	}
	return img
}

// mask is a picture for a file: the mean image, with the chosen pixels in another colour.
type mask struct {
	*pixelImage
	title string
}

func (m mask) SizeInPoints() (width, height float64) {
	side := 360 / float64(max(m.rows, m.cols))
	return max(300, side*float64(m.cols)+60), side*float64(m.rows) + 126
}

func (m mask) PaintInto(to drawing.Canvas, body drawing.Frame) error {
	body = chart.DrawTitle(to, body, m.title)
	at := drawing.Point{X: body.Left, Y: body.Bottom}
	for _, e := range []struct {
		hue  drawing.Hue
		name string
	}{{drawing.ChosenHue, "chosen"}, {drawing.LeftOutHue, "left out"}, {0x808080, "mean of the others"}} {
		if e.hue == drawing.LeftOutHue && m.leftOut == 0 {
			continue
		}
		to.FillArea(e.hue, 1, drawing.Frame{Left: at.X, Top: at.Y - 9, Right: at.X + 9, Bottom: at.Y}.Corners()...)
		to.DrawText(drawing.LabelLettering(drawing.AnchorStart), drawing.Point{X: at.X + 14, Y: at.Y - 1}, e.name)
		at.X += 28 + to.TextWidth(drawing.LabelLettering(drawing.AnchorStart), e.name)
	}
	to.DrawText(drawing.LabelLettering(drawing.AnchorStart), drawing.Point{X: body.Left, Y: body.Top + 10}, "row")
	a := chart.Axes{
		Frame: drawing.Frame{Left: body.Left + 34, Top: body.Top + 18, Right: body.Right, Bottom: body.Bottom - 52},
		X:     chart.Scale{Hi: float64(m.cols)}, Y: chart.Scale{Hi: float64(m.rows)},
	}
	side := min(a.Height()/float64(m.rows), a.Width()/float64(m.cols))
	a.Right, a.Bottom = a.Left+side*float64(m.cols), a.Top+side*float64(m.rows)
	for _, t := range (chart.TickOptions{Whole: true, MaxLabels: 6}).TickMarks(0, float64(m.rows)) { // the first row is on top
		to.DrawText(drawing.TickLettering(drawing.AnchorEnd), drawing.Point{X: a.Left - 8, Y: a.PointAt(0, float64(m.rows)-t.Value).Y + 3.5}, t.Label)
	}
	label, width := "column", 1.0
	if m.bands > 1 {
		label, width = "band", float64(m.cols)/float64(m.bands)
	}
	ticks := chart.TickOptions{Whole: true, MaxLabels: 6}.TickMarks(0, float64(m.cols)/width)
	for i := range ticks {
		ticks[i].Value *= width
	}
	chart.DrawXAxis(to, a, label, ticks, true)
	img := m.meanImage(drawing.LeftOutHue.ToNRGBA(255))
	for _, c := range m.chosen {
		img.SetNRGBA(c.col, c.row, drawing.ChosenHue.ToNRGBA(255))
	}
	to.DrawPicture(img, a.Frame)
	return nil
}
