package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rankingView is the table of the ranking, with a bar in each row.
type rankingView struct {
	Rows, Rest []rankRow // rows shown at first, and rows shown after unfolding
	Total      string
	More       string // number of rows not shown at all
	Adds       bool   // a bar shows how much the feature lowers the error, otherwise its score
	Explained  bool   // the explained shares are known
	Stands     bool   // it is known which features each chosen feature represents
	Missing    bool   // some features have missing values
	Column     bool   // positions in the input are known
	Lower      bool   // lower scores are better
}

type rankRow struct {
	Rank          int
	Name          string
	Bar           string // width in percent
	BarValue      string
	Score         string
	SortScore     string
	Explained     string
	SortExplained string
	Stands        string
	SortStandsFor int
	SortBar       string
	Missing       string
	SortMissing   string
	Column        stream.Position
}

// newRankingView makes the table. The bar of a feature shows how much the feature lowers the error, or the ratio of its
// score to the largest score.
func newRankingView(s *stream.Selection, groups []featureGroup) *rankingView {
	v := &rankingView{Total: countText(int64(len(s.Selected))), Lower: s.LowerIsBetter, Stands: groups != nil}
	bars := make([]float64, len(s.Selected))
	v.Explained = isFinite(s.Selected[0].Error)
	v.Adds = v.Explained && len(s.Scores) == 0
	before, largest := 1.0, 0.0
	for i, f := range s.Selected {
		bars[i] = float64(f.Score)
		if v.Adds {
			bars[i] = before - float64(f.Error)
			before = float64(f.Error)
		}
		if !math.IsInf(bars[i], 0) && !math.IsNaN(bars[i]) {
			largest = max(largest, math.Abs(bars[i]))
		}
	}
	score := scoreFormatter(s.Selected)
	missing := map[string]float64{}
	for _, c := range s.Columns {
		missing[c.Name] = missingShare(c, s.Rows)
	}
	v.Missing = slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return missing[f.Name] > 0 })
	v.Column = slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return f.Column != stream.Position{} })
	for i, f := range s.Selected[:min(len(s.Selected), maxRows)] {
		r := rankRow{Rank: f.Rank, Name: f.Name, Column: f.Column, Score: score(float64(f.Score)), SortScore: sortKey(float64(f.Score)), SortBar: sortKey(bars[i])}
		r.Bar = barWidth(math.Abs(bars[i]) / largest)
		r.Missing, r.SortMissing = percentText(missing[f.Name]), sortKey(missing[f.Name])
		if v.Adds {
			r.BarValue = percentText(bars[i])
		}
		if v.Explained {
			r.Explained, r.SortExplained = percentText(1-float64(f.Error)), sortKey(1-float64(f.Error))
		}
		if groups != nil {
			r.SortStandsFor = len(groups[i].members)
			r.Stands = countText(int64(r.SortStandsFor))
		}
		if i < firstRows {
			v.Rows = append(v.Rows, r)
		} else {
			v.Rest = append(v.Rest, r)
		}
	}
	if n := len(s.Selected) - maxRows; n > 0 {
		v.More = countText(int64(n))
	}
	return v
}

// barWidth returns the width of the bar for a share, in percent. A share above 1, due to rounding errors, counts as 1.
// The result is empty if share is NaN or infinite.
func barWidth(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return ""
	}
	return fmt.Sprintf("%.1f", 100*min(max(share, 0), 1))
}

// scoreFormatter returns a function that formats scores. All scores get the same number of decimals, unless the scores
// in list are very small, very large or very different in size.
func scoreFormatter(list []stream.Selected) func(float64) string {
	lo, hi := math.Inf(1), 0.0
	for _, f := range list {
		if x := math.Abs(float64(f.Score)); x > 0 && !math.IsInf(x, 0) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if !(lo >= 1e-4 && hi < 1e12 && hi/lo < 1e9) {
		return numberText
	}
	decimals := max(0, min(6, 4-int(math.Floor(math.Log10(hi)))), min(6, 2-int(math.Floor(math.Log10(lo)))))
	return func(x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return numberText(x)
		}
		return drawing.WithMinusSign(drawing.WithThousandsCommas(strconv.FormatFloat(x, 'f', decimals, 64)))
	}
}

// sortKey formats a number for the script that sorts tables. NaN and ±Inf give an empty key, which comes last.
func sortKey(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return fmt.Sprintf("%.6g", x)
}

// maskView shows the chosen pixels over the mean image.
type maskView struct {
	SVG                   markup
	Chosen, LeftOut, Note string
	Low, High             string
}

func newMaskView(s *stream.Selection) (*maskView, error) {
	p := findPixels(s)
	if p == nil {
		return nil, nil
	}
	png, err := drawing.DataURL(p.meanImage(color.NRGBA{}))
	if err != nil {
		return nil, err
	}
	lo, hi := p.meanRange()
	v := &maskView{Chosen: countNoun(len(p.chosen), "chosen pixel"), Low: numberText(lo), High: numberText(hi)}
	if p.leftOut > 0 {
		v.LeftOut = countNoun(p.leftOut, "pixel") + " without a feature: constant or left out"
	}
	if p.others > 0 {
		v.Note = fmt.Sprintf("%s are no pixels and not shown here.", countNoun(p.others, "feature"))
	}
	var b strings.Builder
	bands := ""
	if p.bands > 1 {
		bands = fmt.Sprintf(", %d bands side by side", p.bands)
	}
	fmt.Fprintf(&b, `<svg class="mask" viewBox="0 0 %d %d" role="img" aria-label="%s over the mean image of %d rows by %d columns%s.">`, p.cols, p.rows, v.Chosen, p.rows, p.cols/p.bands, bands)
	fmt.Fprintf(&b, `<image width="%d" height="%d" preserveAspectRatio="none" href="%s"/>`, p.cols, p.rows, png)
	for _, c := range p.chosen {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="1" height="1"><title>%s: rank %d</title></rect>`, c.col, c.row, c.name, c.rank)
	}
	b.WriteString("</svg>")
	v.SVG = markup(b.String()) // has only numbers, base64 and names of pixels
	return v, nil
}

// mergeLegend returns the common legend of mask v and the earlier masks. earlier is the legend of the earlier masks, or
// nil if v is the first mask. The legend has the ends of the grey scale only if they are the same for all masks.
func (v *maskView) mergeLegend(earlier *maskView) *maskView {
	key := &maskView{Chosen: "chosen pixels", Low: v.Low, High: v.High}
	if v.LeftOut != "" || earlier != nil && earlier.LeftOut != "" {
		key.LeftOut = "without a feature: constant or left out"
	}
	if earlier != nil && (earlier.Low != v.Low || earlier.High != v.High) {
		key.Low, key.High = "", ""
	}
	return key
}

func missingShare(c stream.ColumnReport, rows int64) float64 {
	if rows <= 0 {
		return 0
	}
	return float64(c.Nulls+c.NaNs+c.Infs) / float64(rows)
}

func missingText(c stream.ColumnReport, rows int64) string {
	if missingShare(c, rows) == 0 {
		return ""
	}
	var parts []string
	for _, n := range []struct {
		count int64
		what  string
	}{{c.Nulls, "null"}, {c.NaNs, "NaN"}, {c.Infs, "infinite"}} {
		if n.count > 0 {
			parts = append(parts, countText(n.count)+" "+n.what)
		}
	}
	return fmt.Sprintf("%s (%s)", percentText(missingShare(c, rows)), strings.Join(parts, ", "))
}

// columnsView is the table of all columns: the chosen ones, the left-out ones, and the others, sorted by their
// absolute correlation with their nearest chosen one.
type columnsView struct {
	Rows, Rest []columnRow // rows shown at first, and rows shown after unfolding
	Total      string
	More       string // number of columns not shown at all
	Note       string
}

type columnRow struct {
	Name, Role, Near, SortRole       string // Near is the nearest chosen feature, which follows Role
	R, Explained, Mean, Std, Missing string
}

// maxColumnRows bounds the rows of about 130 bytes in the tables of columns of a page. leastColumnRows is the number that
// the table of one of many selections may have.
const (
	maxColumnRows   = 1000
	leastColumnRows = 200
)

func newColumnsView(s *stream.Selection, maxShown int) *columnsView {
	if len(s.Columns)+len(s.LeftOut) == 0 {
		return nil
	}
	rank, missing, missingChosen := map[string]int{}, 0, 0
	for _, f := range s.Selected {
		for _, name := range f.Features() {
			rank[name] = f.Rank
		}
	}
	var chosen, others []stream.ColumnReport
	for _, c := range s.Columns {
		_, isChosen := rank[c.Name]
		if isChosen {
			chosen = append(chosen, c)
		} else {
			others = append(others, c)
		}
		if missingShare(c, s.Rows) > 0 {
			missing++
			if isChosen {
				missingChosen++
			}
		}
	}
	slices.SortStableFunc(chosen, func(a, b stream.ColumnReport) int { return rank[a.Name] - rank[b.Name] })
	sortByCorrelation(others)
	v := &columnsView{Total: countText(int64(len(s.Columns) + len(s.LeftOut)))}
	add := func(r columnRow) {
		switch n := len(v.Rows) + len(v.Rest); {
		case n < firstRows:
			v.Rows = append(v.Rows, r)
		case n < maxShown:
			v.Rest = append(v.Rest, r)
		}
	}
	row := func(c stream.ColumnReport) columnRow {
		r := columnRow{Name: c.Name, Explained: percentText(float64(c.Explained)), Mean: numberText(float64(c.Mean)), Std: numberText(float64(c.Std)), Missing: missingText(c, s.Rows)}
		if c.Correlation != nil {
			r.R = fixedText(float64(*c.Correlation), 2)
		}
		return r
	}
	for _, c := range chosen {
		r := row(c)
		r.Role, r.SortRole, r.R = "chosen, rank "+countText(int64(rank[c.Name])), fmt.Sprint(rank[c.Name]), ""
		add(r)
	}
	for _, l := range stream.BySeverity(s.LeftOut)[:min(len(s.LeftOut), maxLeftOut)] {
		add(columnRow{Name: l.Name, Role: "left out: " + drawing.TruncateText(l.Why, 400), SortRole: fmt.Sprint(len(s.Selected) + 2)})
	}
	for _, c := range others {
		r := row(c)
		r.Role, r.SortRole = "not chosen", fmt.Sprint(len(s.Selected)+1)
		if n, ok := rank[c.Nearest]; ok {
			r.Role, r.Near, r.SortRole = "near ", c.Nearest, fmt.Sprintf("%d.5", n)
		}
		add(r)
	}
	if n := len(s.Columns) + len(s.LeftOut) - len(v.Rows) - len(v.Rest); n > 0 {
		v.More = countText(int64(n))
	}
	v.Note = "Role: near stands before the chosen feature that the column is most alike (largest absolute cosine), r is their correlation. Explained: the share of the column that the whole selection explains."
	if missing > 0 {
		v.Note += fmt.Sprintf(" %s of %s have missing values, %s of them chosen.", countText(int64(missing)), countNoun(len(s.Columns), "feature"), countText(int64(missingChosen)))
	}
	return v
}
