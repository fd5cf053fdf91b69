package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/png"
	"math"
	"strconv"
	"strings"
)

// fontFamilies are fonts with nearly the same widths as the Go fonts, with which textMeasurer measures text.
const fontFamilies = `Liberation Sans, Arial, Helvetica, Arimo, sans-serif`

// svg is a canvas that writes SVG. An SVG file has light colours. An SVG in the page has CSS classes, because the
// content security policy of the page forbids style attributes.
type svg struct {
	textMeasurer
	b       bytes.Buffer
	classes map[hue]string
	err     error
}

func newFileSVG(width, height float64) *svg {
	s := new(svg)
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" font-family="%[3]s">`, svgNumber(width), svgNumber(height), fontFamilies)
	return s
}

// newInlineSVG begins an SVG for the page. label describes the picture for readers who cannot see it.
func newInlineSVG(width, height float64, class, label string) *svg {
	s := &svg{classes: cssClasses()}
	fmt.Fprintf(&s.b, `<svg class="%s" role="img" aria-label="%s" viewBox="0 0 %s %s">`, html.EscapeString(class), html.EscapeString(label), svgNumber(width), svgNumber(height))
	return s
}

func (s *svg) closeSVG() ([]byte, error) {
	s.b.WriteString("</svg>")
	return s.b.Bytes(), s.err
}

// svgNumber writes a length, rounded to a hundredth of a point.
func svgNumber(x float64) string {
	return strconv.FormatFloat(math.Round(100*x)/100, 'f', -1, 64)
}

func (s *svg) drawLine(k stroke, through ...point) {
	if len(through) > 1 {
		s.writePath(through, "")
		s.b.WriteString(` fill="none"`)
		s.writeStroke(k)
		s.b.WriteString("/>")
	}
}

func (s *svg) fillArea(fill hue, opacity float64, around ...point) {
	s.writePath(around, "Z")
	s.writeColour("fill", "f-", fill)
	if opacity < 1 {
		fmt.Fprintf(&s.b, ` fill-opacity="%s"`, svgNumber(opacity))
	}
	s.b.WriteString("/>")
}

func (s *svg) writePath(points []point, ending string) {
	s.b.WriteString(`<path d="`)
	for i, p := range points {
		s.b.WriteByte("ML"[min(i, 1)])
		s.b.WriteString(svgNumber(p.x) + " " + svgNumber(p.y))
	}
	s.b.WriteString(ending + `"`)
}

func (s *svg) fillDot(fill hue, at point, radius float64) {
	s.writeCircle(at, radius)
	s.writeColour("fill", "f-", fill)
	s.b.WriteString("/>")
}

func (s *svg) drawRing(k stroke, at point, radius float64) {
	s.writeCircle(at, radius)
	s.b.WriteString(` fill="none"`)
	s.writeStroke(k)
	s.b.WriteString("/>")
}

func (s *svg) writeCircle(at point, radius float64) {
	fmt.Fprintf(&s.b, `<circle cx="%s" cy="%s" r="%s"`, svgNumber(at.x), svgNumber(at.y), svgNumber(radius))
}

func (s *svg) drawText(l lettering, at point, text string) {
	fmt.Fprintf(&s.b, `<text x="%s" y="%s" font-size="%s"`, svgNumber(at.x), svgNumber(at.y), svgNumber(l.size))
	if l.bold {
		s.b.WriteString(` font-weight="bold"`)
	}
	if l.anchor != anchorStart {
		fmt.Fprintf(&s.b, ` text-anchor="%s"`, [...]string{"start", "middle", "end"}[l.anchor])
	}
	s.writeColour("fill", "f-", l.hue)
	s.b.WriteString(">" + html.EscapeString(text) + "</text>")
}

func (s *svg) drawPicture(img image.Image, in frame) {
	data, err := dataURL(img)
	if err != nil {
		s.err = err
	}
	fmt.Fprintf(&s.b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" image-rendering="pixelated" href="%s"/>`, svgNumber(in.left), svgNumber(in.top), svgNumber(in.width()), svgNumber(in.height()), data)
}

func dataURL(img image.Image) (string, error) {
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

func (s *svg) writeStroke(k stroke) {
	s.writeColour("stroke", "l-", k.hue)
	fmt.Fprintf(&s.b, ` stroke-width="%s"`, svgNumber(k.width))
	if k.dashes != nil {
		var list []string
		for _, d := range k.dashes {
			list = append(list, svgNumber(d))
		}
		fmt.Fprintf(&s.b, ` stroke-dasharray="%s"`, strings.Join(list, " "))
	}
}

// writeColour writes the CSS class of the colour if the SVG is for the page and there is such a class, else the colour.
func (s *svg) writeColour(attribute, prefix string, h hue) {
	if class := s.classes[h]; class != "" {
		fmt.Fprintf(&s.b, ` class="%s%s"`, prefix, class)
		return
	}
	fmt.Fprintf(&s.b, ` %s="%s"`, attribute, h)
}
