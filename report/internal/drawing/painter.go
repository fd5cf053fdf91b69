package drawing

import "io"

// Painter is a picture that can be drawn into a file: a chart, a heat map or a mask.
type Painter interface {
	SizeInPoints() (width, height float64)
	PaintInto(to Canvas, body Frame) error
}

// WriteSVG writes the picture as an SVG file in light colours.
func WriteSVG(w io.Writer, p Painter) error {
	width, height := p.SizeInPoints()
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

// WritePNG writes the picture as a PNG file in light colours.
func WritePNG(w io.Writer, p Painter) error {
	r := newRaster(p.SizeInPoints())
	if err := paintOn(r, p); err != nil {
		return err
	}
	return r.encodePNG(w)
}

func paintOn(to Canvas, p Painter) error {
	width, height := p.SizeInPoints()
	page := Frame{0, 0, width, height}
	to.FillArea(PaperHue, 1, page.Corners()...)
	return p.PaintInto(to, Frame{12, 10, width - 12, height - 10})
}
