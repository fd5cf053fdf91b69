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

// families are faces of nearly the widths that letters measures.
const families = `Liberation Sans, Arial, Helvetica, Arimo, sans-serif`

// svg is a canvas that writes SVG: for a file in light colours, or, with classes, for the
// page, whose content security policy allows no style attribute.
type svg struct {
	letters
	b       bytes.Buffer
	classes map[hue]string
	err     error
}

// svgFile begins an SVG file.
func svgFile(width, height float64) *svg {
	s := new(svg)
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" font-family="%[3]s">`, decimal(width), decimal(height), families)
	return s
}

// svgInline begins an SVG for the page; label describes it for readers who cannot see it.
func svgInline(width, height float64, class, label string) *svg {
	s := &svg{classes: classes()}
	fmt.Fprintf(&s.b, `<svg class="%s" role="img" aria-label="%s" viewBox="0 0 %s %s">`, html.EscapeString(class), html.EscapeString(label), decimal(width), decimal(height))
	return s
}

// finish returns the SVG.
func (s *svg) finish() ([]byte, error) {
	s.b.WriteString("</svg>")
	return s.b.Bytes(), s.err
}

// decimal writes a length to a hundredth of a point.
func decimal(x float64) string {
	return strconv.FormatFloat(math.Round(100*x)/100, 'f', -1, 64)
}

func (s *svg) line(k stroke, through ...point) {
	if len(through) > 1 {
		s.path(through, "")
		s.b.WriteString(` fill="none"`)
		s.stroke(k)
		s.b.WriteString("/>")
	}
}

func (s *svg) area(fill hue, opacity float64, around ...point) {
	s.path(around, "Z")
	s.colour("fill", "f-", fill)
	if opacity < 1 {
		fmt.Fprintf(&s.b, ` fill-opacity="%s"`, decimal(opacity))
	}
	s.b.WriteString("/>")
}

func (s *svg) path(points []point, ending string) {
	s.b.WriteString(`<path d="`)
	for i, p := range points {
		s.b.WriteByte("ML"[min(i, 1)])
		s.b.WriteString(decimal(p.x) + " " + decimal(p.y))
	}
	s.b.WriteString(ending + `"`)
}

func (s *svg) dot(fill hue, at point, radius float64) {
	s.circle(at, radius)
	s.colour("fill", "f-", fill)
	s.b.WriteString("/>")
}

func (s *svg) ring(k stroke, at point, radius float64) {
	s.circle(at, radius)
	s.b.WriteString(` fill="none"`)
	s.stroke(k)
	s.b.WriteString("/>")
}

func (s *svg) circle(at point, radius float64) {
	fmt.Fprintf(&s.b, `<circle cx="%s" cy="%s" r="%s"`, decimal(at.x), decimal(at.y), decimal(radius))
}

func (s *svg) text(l lettering, at point, text string) {
	fmt.Fprintf(&s.b, `<text x="%s" y="%s" font-size="%s"`, decimal(at.x), decimal(at.y), decimal(l.size))
	if l.bold {
		s.b.WriteString(` font-weight="bold"`)
	}
	if l.anchor != start {
		fmt.Fprintf(&s.b, ` text-anchor="%s"`, [...]string{"start", "middle", "end"}[l.anchor])
	}
	s.colour("fill", "f-", l.hue)
	s.b.WriteString(">" + html.EscapeString(text) + "</text>")
}

func (s *svg) picture(img image.Image, in frame) {
	data, err := dataURL(img)
	if err != nil {
		s.err = err
	}
	fmt.Fprintf(&s.b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" image-rendering="pixelated" href="%s"/>`, decimal(in.left), decimal(in.top), decimal(in.width()), decimal(in.height()), data)
}

// dataURL is the image as a PNG in a URL.
func dataURL(img image.Image) (string, error) {
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// stroke writes how a line is drawn.
func (s *svg) stroke(k stroke) {
	s.colour("stroke", "l-", k.hue)
	fmt.Fprintf(&s.b, ` stroke-width="%s"`, decimal(k.width))
	if k.dashes != nil {
		var list []string
		for _, d := range k.dashes {
			list = append(list, decimal(d))
		}
		fmt.Fprintf(&s.b, ` stroke-dasharray="%s"`, strings.Join(list, " "))
	}
}

// colour writes a colour as a class of the page, or as it is.
func (s *svg) colour(attribute, prefix string, h hue) {
	if class := s.classes[h]; class != "" {
		fmt.Fprintf(&s.b, ` class="%s%s"`, prefix, class)
		return
	}
	fmt.Fprintf(&s.b, ` %s="%s"`, attribute, h)
}
