package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/chart"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnMap is a picture of the correlations between columns. It implements drawing.Painter.
type columnMap struct {
	title  string
	places []mappedColumn // the chosen ones first, so that a small dot on one of them is seen
	reach  float64        // the largest coordinate
	chosen int            // number of chosen columns
}

type mappedColumn struct {
	stream.MapColumn
	rank int // 0 if the column is not chosen
}

// maxMapped bounds the columns drawn, because a file may have any number.
const maxMapped = 1000

func newColumnMap(s *stream.Selection) *columnMap {
	if s.Map == nil {
		return nil
	}
	m := &columnMap{title: s.Method + ": map of the columns by their correlations", reach: 0.1}
	rank := map[string]int{}
	for _, f := range s.Selected {
		for _, name := range f.Features() {
			rank[name] = f.Rank
		}
	}
	for _, c := range s.Map.Columns[:min(len(s.Map.Columns), maxMapped)] {
		if math.Abs(float64(c.X)) <= 1 && math.Abs(float64(c.Y)) <= 1 { // so not NaN
			m.places = append(m.places, mappedColumn{c, rank[c.Name]})
			m.reach = max(m.reach, math.Abs(float64(c.X)), math.Abs(float64(c.Y)))
			m.chosen += min(rank[c.Name], 1)
		}
	}
	if len(m.places) < 2 {
		return nil
	}
	slices.SortStableFunc(m.places, func(a, b mappedColumn) int { return min(b.rank, 1) - min(a.rank, 1) })
	return m
}

// SizeInPoints implements drawing.Painter.
func (m *columnMap) SizeInPoints() (width, height float64) { return 480, 500 }

// PaintInto implements drawing.Painter.
func (m *columnMap) PaintInto(to drawing.Canvas, body drawing.Frame) error {
	m.drawPlaces(to, chart.DrawTitle(to, body, m.title))
	return nil
}

func (m *columnMap) drawPlaces(to drawing.Canvas, in drawing.Frame) {
	side := min(in.Width(), in.Height())
	in.Right, in.Bottom = in.Left+side, in.Top+side
	limit := 1.08 * m.reach
	a := chart.Axes{Frame: in, X: chart.Scale{Lo: -limit, Hi: limit}, Y: chart.Scale{Lo: -limit, Hi: limit}}
	rule := drawing.Stroke{Hue: drawing.GridHue, Width: 1}
	to.DrawLine(rule, a.PointAt(-limit, 0), a.PointAt(limit, 0))
	to.DrawLine(rule, a.PointAt(0, -limit), a.PointAt(0, limit))
	for _, r := range []float64{0.25, 0.5, 0.75, 1} {
		if r <= limit {
			to.DrawRing(rule, a.PointAt(0, 0), r/limit*side/2)
			at := a.PointAt(r, 0)
			to.DrawText(drawing.TickLettering(drawing.AnchorEnd), drawing.Point{X: at.X - 2, Y: at.Y + 10}, fmt.Sprint(r))
		}
	}
	for _, c := range m.places {
		hue, radius := drawing.SeriesHues()[7], 2.5
		if c.rank > 0 {
			hue, radius = drawing.SeriesHues()[1], 4
		}
		to.FillDot(hue, a.PointAt(float64(c.X), float64(c.Y)), radius)
	}
	var labels []drawing.Point
	for _, c := range m.places[:m.chosen] {
		at := a.PointAt(float64(c.X), float64(c.Y))
		taken := func(p drawing.Point) bool { return math.Abs(p.X-at.X) < 15 && math.Abs(p.Y-at.Y) < 10 }
		if !slices.ContainsFunc(labels, taken) {
			labels = append(labels, at)
			to.DrawText(drawing.LabelLettering(drawing.AnchorStart), drawing.Point{X: at.X + 5, Y: at.Y - 4}, countText(int64(c.rank)))
		}
	}
}

// mapView is the map in the page. Names has a line for each dot, in the order in which they are drawn.
type mapView struct {
	SVG    markup
	Names  string
	Chosen string
	Note   string
}

func newMapView(s *stream.Selection) (*mapView, error) {
	m := newColumnMap(s)
	if m == nil {
		return nil, nil
	}
	near := map[string]string{}
	for _, c := range s.Columns {
		if c.Nearest != "" && c.Correlation != nil {
			near[c.Name] = fmt.Sprintf(", near %s, r %s", drawing.PrintableText(c.Nearest, maxTagRunes), fixedText(float64(*c.Correlation), 2))
		}
	}
	var names []string
	for _, c := range m.places {
		line := drawing.PrintableText(c.Name, maxTagRunes)
		if c.rank > 0 {
			line += ", chosen, rank " + countText(int64(c.rank))
		} else {
			line += near[c.Name]
		}
		names = append(names, line)
	}
	const side = 400
	label := fmt.Sprintf("Map of %s by their correlations, %d of them chosen. The arrow keys read them out.", countNoun(len(m.places), "column"), m.chosen)
	svg, err := drawing.InlineSVG(side, side, "plane", label, func(to drawing.Canvas) {
		m.drawPlaces(to, drawing.Frame{Left: 0, Top: 0, Right: side, Bottom: side})
	})
	v := &mapView{SVG: markup(svg), Names: strings.Join(names, "\n"), Chosen: countText(int64(m.chosen)) + " chosen, with their ranks"}
	v.Note = fmt.Sprintf("Far from the centre, columns that are near each other go together (r near 1), and opposite ones have r near −1. Columns at the centre have little to do with the picture: its axes, the correlations with the first two principal components, show %s of the variance of the columns here.", percentText(float64(s.Map.Shown)))
	if n := s.Features - len(m.places); n > 0 {
		v.Note += fmt.Sprintf(" Not shown: %s.", countNoun(n, "other column"))
	}
	return v, err
}

func missingMapText(s *stream.Selection) string {
	switch {
	case newColumnMap(s) != nil:
		return ""
	case len(s.Selected) > 100 && s.Correlations == nil:
		return "There is no map of the columns: it is drawn for up to 100 chosen features."
	case len(s.Selected) < 2 && len(s.Columns) < 2:
		return ""
	}
	return "There is no map of the columns: the selection does not record one. A new one by a method that has the correlations of all columns, as greedy has, does, unless it is made from a sketch."
}
