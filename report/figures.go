package report

import (
	"fmt"
	"github.com/ufs-stream/ufs-stream/report/internal/chart"
	"io"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The pictures that [Page.Figures] draws, which other programs may draw, too.
type (
	// Chart is a line chart.
	Chart = chart.Chart
	// Series is one line of a chart.
	Series = chart.Series
	// Mark is a point of interest in a chart.
	Mark = chart.Mark
	// RankPlot shows the mean ranks of several methods on an axis.
	RankPlot = chart.RankPlot
)

// Figure is a chart, heat map or mask of the page that can be written as a file.
type Figure struct {
	Name    string // a file name without extension: letters, digits, - and _ only
	content drawing.Painter
}

// WriteSVG writes the figure as an SVG file.
func (f Figure) WriteSVG(w io.Writer) error { return drawing.WriteSVG(w, f.content) }

// WritePNG writes the figure as a PNG file.
func (f Figure) WritePNG(w io.Writer) error { return drawing.WritePNG(w, f.content) }

// Figures returns the figures of the page, in the order of the page and with distinct names. It leaves out heat maps
// that are too large to draw.
func (p Page) Figures() []Figure {
	var list []Figure
	taken := map[string]bool{}
	add := func(doc, slug string, of drawing.Painter) {
		name := fileName(doc) + "-" + slug
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d-%s", fileName(doc), n, slug)
		}
		taken[name] = true
		list = append(list, Figure{name, of})
	}
	if list := p.selectionsShown(); len(list) > 1 {
		var selections []*stream.Selection
		var names []string
		for _, s := range list {
			selections, names = append(selections, s.Selection), append(names, s.name)
		}
		if c := combinedExplainedChart(list); c != nil && c.Drawable() {
			add("selections", c.slug, c.Chart)
		}
		if h, _ := newOverlapHeatMap(selections, names); h.isSmallEnough() {
			add("selections", h.slug, h)
		}
	}
	for i := range p.Documents {
		d := &p.Documents[i]
		chart := func(c *describedChart) {
			if c != nil && c.Drawable() {
				add(d.shortName(), c.slug, c.Chart)
			}
		}
		switch {
		case d.Selection != nil:
			chart(explainedChart(d.Selection))
			chart(scoreChart(d.Selection))
			if m := findPixels(d.Selection); m != nil {
				add(d.shortName(), "mask", mask{m, fmt.Sprintf("%s: %s", d.Selection.Method, countNoun(len(m.chosen), "chosen pixel"))})
			}
			if m := newColumnMap(d.Selection); m != nil {
				add(d.shortName(), "map", m)
			}
			chart(convergenceChart(d.Selection))
			chart(residualChart(d.Selection))
		case d.Curve != nil:
			chart(explainedChart(selectionOfCurve(d.Curve)))
		case d.Grid != nil:
			if h := agreementHeat(d.Grid); h.isSmallEnough() {
				add(d.shortName(), h.slug, h)
			}
			chart(agreementCurve(d.Grid))
		case d.Evaluation != nil:
			for _, m := range presentMeasures(d.Evaluation) {
				if c := evaluationChart(d.Evaluation, m); c != nil {
					chart(&describedChart{Chart: *c, slug: m.slug})
				}
			}
		}
	}
	return list
}

func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, drawing.TruncateText(s, 60))
	if s == "" {
		return "result"
	}
	return s
}
