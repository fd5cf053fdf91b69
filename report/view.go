package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxBriefRunes bounds the number of runes of a name in running text and summaries. The ranking has full names.
const maxBriefRunes = 100

// Maximal lengths of lists in the page. If a list is longer, the page states how many entries are not shown.
const (
	firstRows   = 50    // of a ranking, before it is unfolded
	maxRows     = 10000 // of a ranking
	maxInputs   = 50
	maxLeftOut  = 200
	maxWarnings = 100
)

// pageView has the finished texts and figures of the page, so that writing it needs no logic.
type pageView struct {
	Title    string
	Version  string
	Lead     string
	Opening  openingView // opening text about several selections
	Compare  *compareView
	Sections []sectionView
}

// sectionView is the section of the page about one document.
type sectionView struct {
	ID, Name, File, Kind, Lead string
	Folded                     bool // the section is folded, because there are several documents of its kind
	spell                      stream.Spelling

	Opening  openingView
	Chosen   *chosenView
	Facts    []fact
	Warnings listView[string]
	Run      []fact
	Options  []fact
	Inputs   listView[markup]
	Mask     *maskView
	Curves   []chartView // charts of the explained share, the scores and measures over the number of features
	Ranking  *rankingView
	Columns  *columnsView
	Map      *mapView
	NoMap    string // why there is no map
	Alike    *correlationsView
	Progress []chartView // charts of the convergence
	Heat     *heatView
	Eval     markup
	Settings markup // all settings of the grid
}

type fact struct{ Name, Value, Note string }

// listView is the part of a list that the page shows, and a text with the number of entries that it does not show.
type listView[T any] struct {
	Shown []T
	More  string
}

func newListView[T, V any](list []T, maxShown int, view func(T) V) listView[V] {
	var v listView[V]
	for _, x := range list[:min(maxShown, len(list))] {
		v.Shown = append(v.Shown, view(x))
	}
	if n := len(list) - maxShown; n > 0 {
		v.More = countText(int64(n))
	}
	return v
}

func sameValue[T any](x T) T { return x }

// chartView is a chart at two widths; the page shows one of them.
type chartView struct {
	Title    string
	Pictures markup
	Legend   []legendItem
	Notes    []string
}

type legendItem struct{ Class, Name string }

func (c *describedChart) chartView() (chartView, error) {
	v := chartView{Title: c.Title, Notes: c.notes}
	for _, f := range []struct {
		width, height float64
		class         string
	}{{460, 270, "chart wide"}, {330, 250, "chart narrow"}} {
		s, err := c.InlineSVG(f.width, f.height, f.class, c.label)
		if err != nil {
			return v, err
		}
		v.Pictures += markup(s)
	}
	if len(c.Series) > 1 {
		for i, s := range c.Series {
			v.Legend = append(v.Legend, legendItem{fmt.Sprintf("f-s%d", i%len(drawing.SeriesHues())), s.Name})
		}
	}
	return v, nil
}

func drawChartViews(list ...*describedChart) ([]chartView, error) {
	var views []chartView
	for _, c := range list {
		if c == nil || !c.Drawable() {
			continue
		}
		v, err := c.chartView()
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// heatView is a heat map as a table of the page. The CSS classes h0 to h10 are the colours of cells.
type heatView struct {
	RowHead, Head string
	Columns       []string
	Rows          []heatRow
	Marked        string
	Notes         []string
}

type heatRow struct {
	Name  string
	Cells []heatCell
}

type heatCell struct {
	Class, Value, Title string
	Marked              bool
}

func (h *heatMap) tableView() *heatView {
	v := &heatView{RowHead: h.rowHead, Head: h.columnHead, Columns: h.columns, Marked: h.markedLabel}
	for r, name := range h.rows {
		row := heatRow{Name: name}
		for c, x := range h.cell[r] {
			cell := heatCell{Value: fixedText(x, 2), Class: "none", Marked: h.marked == [2]int{r, c}}
			if !math.IsNaN(x) {
				cell.Class = fmt.Sprintf("h%d", int(10*min(max(x, 0), 1)+0.5))
			}
			row.Cells = append(row.Cells, cell)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func (p Page) buildView() (*pageView, error) {
	v := &pageView{Title: "Feature selection report", Version: p.Version}
	kinds := map[string]int{}
	for i := range p.Documents {
		kinds[p.Documents[i].documentKind()]++
	}
	list := p.selectionsShown()
	names := p.documentNames()
	for i := range p.Documents {
		d := &p.Documents[i]
		s, err := d.buildSection(sectionID(i), names[i], p.evaluationSentence(d), p.Spelling, max(leastColumnRows, maxColumnRows/max(1, len(list))))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		s.Folded = kinds[s.Kind] > 1
		v.Sections = append(v.Sections, *s)
	}
	var err error
	if v.Compare, err = compareSelections(list); err != nil {
		return nil, err
	}
	if v.Compare != nil {
		v.Opening = combinedOpening(list, v.Compare)
	}
	var parts []string
	for _, k := range []string{"selection", "curve", "grid", "evaluation"} {
		if kinds[k] > 0 {
			parts = append(parts, countNoun(kinds[k], k))
		}
	}
	v.Lead = strings.Join(parts, ", ")
	if len(v.Sections) == 1 {
		v.Lead, v.Sections[0].Lead = v.Sections[0].Lead, ""
	}
	return v, nil
}

func sectionID(i int) string { return fmt.Sprintf("s%d", i+1) }

func (p Page) selectionsShown() []pageSelection {
	var list []pageSelection
	names := p.documentNames()
	for i, d := range p.Documents {
		if d.Selection != nil {
			list = append(list, pageSelection{d.Selection, sectionID(i), names[i]})
		}
	}
	return list
}

func (d *Document) buildSection(id, name, judged string, spell stream.Spelling, columnRows int) (*sectionView, error) {
	v := &sectionView{ID: id, Name: name, File: d.Name, Kind: d.documentKind(), spell: spell}
	switch {
	case d.Selection != nil:
		return v, v.fillFromSelection(d.Selection, judged, columnRows)
	case d.Curve != nil:
		return v, v.fillFromCurve(d.Curve)
	case d.Grid != nil:
		return v, v.fillFromGrid(d.Grid)
	}
	return v, v.fillFromEvaluation(d.Evaluation)
}
