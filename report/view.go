package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// briefName bounds the runes of a name in running text and summaries; the ranking has all.
const briefName = 100

// How much of a list the page shows, before it says how much more there is.
const (
	firstRows    = 50    // of a ranking, before the rest is unfolded
	mostRows     = 10000 // of a ranking
	firstGroups  = 20    // before the rest is unfolded
	mostGroups   = 1000
	mostMembers  = 40
	mostInputs   = 50
	mostLeftOut  = 200
	mostWarnings = 100
)

// pageView is the input of the templates: text and figures, no decisions.
type pageView struct {
	Title    string
	Policy   string
	Style    template.CSS
	Script   template.JS
	Version  string
	Lead     string
	Opening  openingView // of several selections
	Compare  *compareView
	Sections []sectionView
}

// sectionView is one document.
type sectionView struct {
	ID, Name, File, Kind, Lead string
	Folded                     bool // one of several of its kind
	spell                      stream.Spelling

	Opening  openingView
	Chosen   *chosenView
	Facts    []fact
	Warnings listView[string]
	Run      []fact
	Options  []fact
	Inputs   listView[inputView]
	LeftOut  listView[leftView]
	Mask     *maskView
	Curves   []chartView // the error, the scores, a measure over k
	Ranking  *rankingView
	Groups   *groupsView
	Alike    *alikeView
	Missing  *missingView
	Progress []chartView // convergence
	Heat     *heatView
	Eval     *evalView
	Settings *settingsView
}

type fact struct{ Name, Value, Note string }

// listView is the shown part of a list, and how many more there are.
type listView[T any] struct {
	Shown []T
	More  string
}

func listOf[T, V any](list []T, most int, view func(T) V) listView[V] {
	var v listView[V]
	for _, x := range list[:min(most, len(list))] {
		v.Shown = append(v.Shown, view(x))
	}
	if n := len(list) - most; n > 0 {
		v.More = count(int64(n))
	}
	return v
}

func same[T any](x T) T { return x }

type inputView struct{ Path, Rows, Bytes, Fingerprint string }

type leftView struct{ Name, Why string }

// chartView is a chart at two widths; the page shows one.
type chartView struct {
	Title        string
	Wide, Narrow template.HTML
	Legend       []legendItem
	Notes        []string
}

type legendItem struct{ Class, Name string }

// chart draws c for the page. What is in the SVG is escaped by rewriteSVG.
func (c *shown) chart() (chartView, error) {
	v := chartView{Title: c.Title, Notes: c.notes}
	for _, f := range []struct {
		to            *template.HTML
		width, height float64
		class         string
	}{{&v.Wide, 460, 270, "chart wide"}, {&v.Narrow, 330, 250, "chart narrow"}} {
		s, err := c.inlineSVG(f.width, f.height, f.class, c.label)
		if err != nil {
			return v, err
		}
		*f.to = template.HTML(s)
	}
	if len(c.Series) > 1 {
		for i, s := range c.Series {
			v.Legend = append(v.Legend, legendItem{fmt.Sprintf("f-s%d", i%len(seriesHues())), s.Name})
		}
	}
	return v, nil
}

// charts draws the charts that are not nil.
func charts(list ...*shown) ([]chartView, error) {
	var views []chartView
	for _, c := range list {
		if c == nil || !c.Drawable() {
			continue
		}
		v, err := c.chart()
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// heatView is a table of shares; class h0 to h10 is the colour of a cell.
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

func (h *heat) view() *heatView {
	v := &heatView{RowHead: h.rowHead, Head: h.head, Columns: h.columns, Marked: h.markedAs}
	for r, name := range h.rows {
		row := heatRow{Name: name}
		for c, x := range h.cell[r] {
			cell := heatCell{Value: fixed(x, 2), Class: "none", Marked: h.marked == [2]int{r, c}}
			if !math.IsNaN(x) {
				cell.Class = fmt.Sprintf("h%d", int(10*min(max(x, 0), 1)+0.5))
			}
			row.Cells = append(row.Cells, cell)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// view builds everything the page shows.
func (p Page) view() (*pageView, error) {
	v := &pageView{Title: "Feature selection report", Version: p.Version}
	kinds := map[string]int{}
	for i := range p.Documents {
		kinds[p.Documents[i].kind()]++
	}
	list := p.selections()
	names := p.names()
	for i := range p.Documents {
		d := &p.Documents[i]
		s, err := d.view(placeOf(i), names[i], p.judged(d), p.Spelling)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		s.Folded = kinds[s.Kind] > 1
		v.Sections = append(v.Sections, *s)
	}
	var err error
	if v.Compare, err = compare(list); err != nil {
		return nil, err
	}
	if v.Compare != nil {
		v.Opening = openingTogether(list, v.Compare)
	}
	var parts []string
	for _, k := range []string{"selection", "curve", "grid", "evaluation"} {
		if kinds[k] > 0 {
			parts = append(parts, plural(kinds[k], k))
		}
	}
	v.Lead = strings.Join(parts, ", ")
	if len(v.Sections) == 1 {
		v.Lead, v.Sections[0].Lead = v.Sections[0].Lead, ""
	}
	return v, nil
}

// placeOf is the id of the i-th document in the page.
func placeOf(i int) string { return fmt.Sprintf("s%d", i+1) }

// selections are those of the documents that are selections.
func (p Page) selections() []named {
	var list []named
	names := p.names()
	for i, d := range p.Documents {
		if d.Selection != nil {
			list = append(list, named{d.Selection, placeOf(i), names[i]})
		}
	}
	return list
}

func (d *Document) view(id, name, judged string, spell stream.Spelling) (*sectionView, error) {
	v := &sectionView{ID: id, Name: name, File: d.Name, Kind: d.kind(), spell: spell}
	switch {
	case d.Selection != nil:
		return v, v.selection(d.Selection, judged)
	case d.Curve != nil:
		return v, v.curve(d.Curve)
	case d.Grid != nil:
		return v, v.grid(d.Grid)
	}
	return v, v.evaluation(d.Evaluation)
}
