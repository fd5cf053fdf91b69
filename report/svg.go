package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgFile says how rewriteSVG writes: for a file of its own, or, with a label, for a place
// in the page.
type svgFile struct {
	label string // describes the chart for readers who cannot see it
	class string
}

func (f svgFile) inline() bool { return f.class != "" }

// families are faces with the widths of Liberation Sans, by which vgsvg places text.
const families = `Liberation Sans, Arial, Helvetica, Arimo, sans-serif`

// rewriteSVG replaces style attributes, which the page's content security policy forbids,
// by presentation attributes, or, in the page, by classes.
func rewriteSVG(w io.Writer, canvas *vgsvg.Canvas, f svgFile) error {
	var raw, b bytes.Buffer
	if _, err := canvas.WriteTo(&raw); err != nil {
		return err
	}
	class := classes()
	for d := xml.NewDecoder(&raw); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("report: gonum/plot drew no XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "svg" {
				f.root(&b, t)
				continue
			}
			b.WriteString("<" + t.Name.Local)
			for _, a := range t.Attr {
				switch a.Name.Local {
				case "style":
					f.style(&b, a.Value, class)
				case "href":
					attribute(&b, "href", strings.Replace(a.Value, "data:image/jpg", "data:image/png", 1))
				default:
					attribute(&b, a.Name.Local, a.Value)
				}
			}
			b.WriteString(">")
		case xml.EndElement:
			b.WriteString("</" + t.Name.Local + ">")
		case xml.CharData:
			if s := strings.Trim(string(t), "\n\t"); s != "" {
				b.WriteString(html.EscapeString(s))
			}
		}
	}
	if !f.inline() {
		b.WriteString("\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// root writes the svg element.
func (f svgFile) root(b *bytes.Buffer, t xml.StartElement) {
	b.WriteString("<svg")
	if f.inline() {
		attribute(b, "class", f.class)
		attribute(b, "role", "img")
		attribute(b, "aria-label", f.label)
	} else {
		attribute(b, "xmlns", "http://www.w3.org/2000/svg")
		attribute(b, "font-family", families)
	}
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "viewBox":
			attribute(b, "viewBox", a.Value)
		case "width", "height":
			if !f.inline() {
				attribute(b, a.Name.Local, a.Value)
			}
		}
	}
	b.WriteString(">")
}

// style writes the properties of a style attribute. Faces come from the root.
func (f svgFile) style(b *bytes.Buffer, style string, class map[string]string) {
	var list []string
	for property := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(property, ":")
		value = strings.TrimSpace(value)
		switch name = strings.TrimSpace(name); {
		case strings.HasPrefix(name, "font-") && name != "font-size" && (name != "font-weight" || value != "bold"):
		case f.inline() && name == "fill" && class[value] != "":
			list = append(list, "f-"+class[value])
		case f.inline() && name == "stroke" && class[value] != "":
			list = append(list, "l-"+class[value])
		default:
			attribute(b, name, value)
		}
	}
	if list != nil {
		attribute(b, "class", strings.Join(list, " "))
	}
}

func attribute(b *bytes.Buffer, name, value string) {
	fmt.Fprintf(b, ` %s="%s"`, name, html.EscapeString(value))
}

// inlineSVG is the chart for the page: without title and legend, which the page has in
// its own text.
func (c Chart) inlineSVG(width, height float64, class, label string) (string, error) {
	if err := c.validate(); err != nil {
		return "", err
	}
	canvas := vgsvg.New(vg.Length(width), vg.Length(height))
	c.plot(draw.New(canvas))
	var b bytes.Buffer
	err := rewriteSVG(&b, canvas, svgFile{label: label, class: class})
	return b.String(), err
}
