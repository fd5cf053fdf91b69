package drawing

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// fontFamilies are fonts with nearly the same widths as the Go fonts, with which textMeasurer measures text.
const fontFamilies = `Liberation Sans, Arial, Helvetica, Arimo, sans-serif`

// svg is a canvas that writes SVG. An SVG file has light colours. An SVG in the page has CSS classes, because the
// content security policy of the page forbids style attributes.
type svg struct {
	textMeasurer
	b       bytes.Buffer
	classes map[Hue]string
	err     error
}

func newFileSVG(width, height float64) *svg {
	s := new(svg)
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" font-family="%[3]s">`, SvgNumber(width), SvgNumber(height), fontFamilies)
	return s
}

// InlineSVG returns the SVG for the page of the picture that draw paints. label describes the picture for readers who
// cannot see it.
func InlineSVG(width, height float64, class, label string, draw func(Canvas)) (string, error) {
	s := &svg{classes: CSSClasses()}
	fmt.Fprintf(&s.b, `<svg class="%s" role="img" aria-label="%s" viewBox="0 0 %s %s">`, html.EscapeString(class), html.EscapeString(label), SvgNumber(width), SvgNumber(height))
	draw(s)
	b, err := s.closeSVG()
	return string(b), err
}

func (s *svg) closeSVG() ([]byte, error) {
	s.b.WriteString("</svg>")
	return s.b.Bytes(), s.err
}

// SvgNumber writes a length, rounded to a hundredth of a point.
func SvgNumber(x float64) string {
	return strconv.FormatFloat(math.Round(100*x)/100, 'f', -1, 64)
}

func (s *svg) DrawLine(k Stroke, through ...Point) {
	if len(through) > 1 {
		s.writePath(through, "")
		s.b.WriteString(` fill="none"`)
		s.writeStroke(k)
		s.b.WriteString("/>")
	}
}

func (s *svg) FillArea(fill Hue, opacity float64, around ...Point) {
	s.writePath(around, "Z")
	s.writeColour("fill", "f-", fill)
	if opacity < 1 {
		fmt.Fprintf(&s.b, ` fill-opacity="%s"`, SvgNumber(opacity))
	}
	s.b.WriteString("/>")
}

func (s *svg) writePath(points []Point, closing string) {
	s.b.WriteString(`<path d="`)
	for i, p := range points {
		s.b.WriteByte("ML"[min(i, 1)])
		s.b.WriteString(SvgNumber(p.X) + " " + SvgNumber(p.Y))
	}
	s.b.WriteString(closing + `"`)
}

func (s *svg) FillDot(fill Hue, at Point, radius float64) {
	s.writeCircle(at, radius)
	s.writeColour("fill", "f-", fill)
	s.b.WriteString("/>")
}

func (s *svg) DrawRing(k Stroke, at Point, radius float64) {
	s.writeCircle(at, radius)
	s.b.WriteString(` fill="none"`)
	s.writeStroke(k)
	s.b.WriteString("/>")
}

func (s *svg) writeCircle(at Point, radius float64) {
	fmt.Fprintf(&s.b, `<circle cx="%s" cy="%s" r="%s"`, SvgNumber(at.X), SvgNumber(at.Y), SvgNumber(radius))
}

func (s *svg) DrawText(l Lettering, at Point, text string) {
	fmt.Fprintf(&s.b, `<text x="%s" y="%s" font-size="%s"`, SvgNumber(at.X), SvgNumber(at.Y), SvgNumber(l.Size))
	if l.Bold {
		s.b.WriteString(` font-weight="bold"`)
	}
	if l.Anchor != AnchorStart {
		fmt.Fprintf(&s.b, ` text-anchor="%s"`, [...]string{"start", "middle", "end"}[l.Anchor])
	}
	s.writeColour("fill", "f-", l.Hue)
	s.b.WriteString(">" + html.EscapeString(text) + "</text>")
}

func (s *svg) DrawPicture(img image.Image, in Frame) {
	data, err := DataURL(img)
	if err != nil {
		s.err = err
	}
	fmt.Fprintf(&s.b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" image-rendering="pixelated" href="%s"/>`, SvgNumber(in.Left), SvgNumber(in.Top), SvgNumber(in.Width()), SvgNumber(in.Height()), data)
}

// DataURL returns img as a PNG in the form that an address in SVG or HTML may have.
func DataURL(img image.Image) (string, error) {
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

func (s *svg) writeStroke(k Stroke) {
	s.writeColour("stroke", "l-", k.Hue)
	fmt.Fprintf(&s.b, ` stroke-width="%s"`, SvgNumber(k.Width))
	if k.Dashes != nil {
		list := convert.Each(k.Dashes, SvgNumber)
		fmt.Fprintf(&s.b, ` stroke-dasharray="%s"`, strings.Join(list, " "))
	}
}

func (s *svg) writeColour(attribute, prefix string, h Hue) {
	if class := s.classes[h]; class != "" {
		fmt.Fprintf(&s.b, ` class="%s%s"`, prefix, class)
		return
	}
	fmt.Fprintf(&s.b, ` %s="%s"`, attribute, h)
}
