package report

import (
	"cmp"
	"fmt"
	"html/template"
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

// groupsView lists the chosen features, each with the features that it represents.
type groupsView struct {
	Groups, Rest []groupView // groups shown at first, and groups shown after unfolding
	More         string
	Note         string
}

type groupView struct {
	Rank    int
	Name    string
	Count   string
	Members []memberView
	More    string
}

type memberView struct{ Name, Explained, Bar string }

func newGroupsView(groups []featureGroup) *groupsView {
	if groups == nil {
		return nil
	}
	v, members, alone := new(groupsView), 0, 0
	for _, g := range groups {
		members += len(g.members)
		if len(g.members) == 0 {
			alone++
			continue
		}
		if len(v.Groups)+len(v.Rest) == maxGroups {
			continue
		}
		one := groupView{Rank: g.Rank, Name: g.Name, Count: countText(int64(len(g.members)))}
		list := newListView(g.members, maxMembers, func(c stream.ColumnReport) memberView {
			return memberView{Name: drawing.TruncateText(c.Name, maxBriefRunes), Explained: percentText(float64(c.Explained)), Bar: barWidth(float64(c.Explained))}
		})
		one.Members, one.More = list.Shown, list.More
		if len(v.Groups) < firstGroups {
			v.Groups = append(v.Groups, one)
		} else {
			v.Rest = append(v.Rest, one)
		}
	}
	if n := len(groups) - alone - len(v.Groups) - len(v.Rest); n > 0 {
		v.More = countText(int64(n))
	}
	v.Note = fmt.Sprintf("%s were not chosen. Each stands here with the chosen feature that it is most alike (largest absolute cosine), and the share of its sum of squares that the whole selection explains.", countNoun(members, "feature"))
	if alone > 0 {
		v.Note += fmt.Sprintf(" %s of those chosen stand for themselves alone.", countText(int64(alone)))
	}
	return v
}

// maskView shows the chosen pixels over the mean image.
type maskView struct {
	SVG                   template.HTML
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
	v.SVG = template.HTML(b.String()) // has only numbers, base64 and names of pixels
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

// missingView lists the features with missing values, sorted by the share of missing values in descending order.
type missingView struct {
	Rows []missingRow
	Note string
}

type missingRow struct {
	Name, Nulls, NaNs, Infs, Share, Bar string
	Chosen                              bool
}

// maxMissingRows bounds the list of features with missing values.
const maxMissingRows = 50

func newMissingView(s *stream.Selection) *missingView {
	chosen := make(map[string]bool, len(s.Selected))
	for _, f := range s.Selected {
		chosen[f.Name] = true
	}
	var list []stream.ColumnReport
	taken := 0
	for _, c := range s.Columns {
		if missingShare(c, s.Rows) > 0 {
			list = append(list, c)
			if chosen[c.Name] {
				taken++
			}
		}
	}
	if list == nil {
		return nil
	}
	slices.SortStableFunc(list, func(a, b stream.ColumnReport) int {
		return cmp.Compare(missingShare(b, s.Rows), missingShare(a, s.Rows))
	})
	v := &missingView{Note: fmt.Sprintf("%s of %s have missing values, %s of them chosen.", countText(int64(len(list))), countNoun(len(s.Columns), "feature"), countText(int64(taken)))}
	if n := len(list) - maxMissingRows; n > 0 {
		v.Note += fmt.Sprintf(" The %d with the most are shown.", maxMissingRows)
	}
	for _, c := range list[:min(maxMissingRows, len(list))] {
		v.Rows = append(v.Rows, missingRow{
			c.Name, countText(c.Nulls), countText(c.NaNs), countText(c.Infs), percentText(missingShare(c, s.Rows)), barWidth(missingShare(c, s.Rows)), chosen[c.Name],
		})
	}
	return v
}
