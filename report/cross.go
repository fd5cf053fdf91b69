package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

const maxRankTableRows = 400

// rankTableView is a table with a row for each feature and a column for each selection. A cell has a rank.
type rankTableView struct {
	Names []string
	Rows  []rankTableRow
	Note  string
	More  string
}

type rankTableRow struct {
	Name  string
	Cells []rankTableCell // a cell is empty if the selection does not have the feature
	Count int             // number of selections that have the feature
}

type rankTableCell struct{ Class, Rank string }

// newRankTableView makes the table. It sorts features by the number of selections that have the feature, then by rank.
func newRankTableView(list []pageSelection) *rankTableView {
	v := new(rankTableView)
	type row struct {
		name  string
		ranks []int
		in    int     // number of selections that have the feature
		score float64 // sum of earlyScore over the selections
	}
	at := map[string]int{}
	var rows []row
	for i, s := range list {
		v.Names = append(v.Names, s.name)
		for _, f := range s.Selected {
			n, ok := at[f.Name]
			if !ok {
				n = len(rows)
				at[f.Name] = n
				rows = append(rows, row{name: f.Name, ranks: make([]int, len(list))})
			}
			r := &rows[n]
			if r.ranks[i] == 0 { // a file may contain a name twice
				r.ranks[i] = f.Rank
				r.in++
				r.score += earlyScore(f.Rank, len(s.Selected))
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.in, a.in), cmp.Compare(b.score, a.score))
	})
	all, several := 0, 0
	for _, r := range rows {
		if r.in == len(list) {
			all++
		}
		if r.in > 1 {
			several++
		}
	}
	every := "none"
	if all > 0 {
		every = countText(int64(all))
	}
	v.Note = fmt.Sprintf("Together they chose %s: %s in every selection", countNoun(len(rows), "feature"), every)
	if len(list) > 2 {
		v.Note += fmt.Sprintf(", %s in more than one", countText(int64(several)))
	}
	v.Note += "."
	for _, r := range rows[:min(len(rows), maxRankTableRows)] {
		line := rankTableRow{Name: r.name, Count: r.in}
		for i, rank := range r.ranks {
			var cell rankTableCell
			if rank > 0 {
				cell = rankTableCell{fmt.Sprintf("h%d", 1+int(4*earlyScore(rank, len(list[i].Selected)))), countText(int64(rank))}
			}
			line.Cells = append(line.Cells, cell)
		}
		v.Rows = append(v.Rows, line)
	}
	if n := len(rows) - maxRankTableRows; n > 0 {
		v.More = countText(int64(n))
	}
	return v
}

// earlyScore returns 1 for the first of the given number of ranks. It falls linearly to 1/ranks for the last rank.
func earlyScore(rank, ranks int) float64 { return 1 - float64(rank-1)/float64(ranks) }

// featureGroup is a chosen feature and the features that it represents, the most correlated first. A feature that was
// not chosen is represented by its nearest chosen feature.
type featureGroup struct {
	stream.Selected
	members []stream.ColumnReport
}

// featureGroups returns the groups in the order of the ranking, or nil if s does not record nearest features.
func featureGroups(s *stream.Selection) []featureGroup {
	groups := make([]featureGroup, len(s.Selected))
	at := make(map[string]int, len(groups))
	for i, f := range s.Selected {
		groups[i].Selected = f
		for _, name := range f.Features() {
			at[name] = i
		}
	}
	found := false
	for _, c := range s.Columns {
		if _, taken := at[c.Name]; taken || c.Nearest == "" {
			continue
		}
		if i, ok := at[c.Nearest]; ok {
			groups[i].members = append(groups[i].members, c)
			found = true
		}
	}
	if !found {
		return nil
	}
	for i := range groups {
		sortByCorrelation(groups[i].members)
	}
	return groups
}

// sortByCorrelation sorts columns by their absolute correlation with their nearest chosen feature, those without one
// last, and then by their explained share.
func sortByCorrelation(list []stream.ColumnReport) {
	size := func(c stream.ColumnReport) float64 {
		if c.Correlation == nil || math.IsNaN(float64(*c.Correlation)) {
			return -1
		}
		return math.Abs(float64(*c.Correlation))
	}
	slices.SortStableFunc(list, func(a, b stream.ColumnReport) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(b.Explained, a.Explained))
	})
}

func jaccardIndex(a, b *stream.Selection) (index float64, both int) {
	in := make(map[string]bool, len(a.Selected))
	for _, f := range a.Selected {
		for _, name := range f.Features() {
			in[name] = true
		}
	}
	all := len(in)
	seen := make(map[string]bool, len(b.Selected))
	for _, f := range b.Selected {
		for _, name := range f.Features() {
			switch {
			case seen[name]:
			case in[name]:
				both++
			default:
				all++
			}
			seen[name] = true
		}
	}
	return float64(both) / float64(all), both
}

func newOverlapHeatMap(list []*stream.Selection, names []string) (*heatMap, [][]int) {
	h := &heatMap{
		title: "Overlap of the selections (Jaccard index)", slug: "overlap", rowHead: "selection", columnHead: "selection",
		rows: names, columns: names, marked: [2]int{-1, -1},
	}
	var shared [][]int
	for _, a := range list {
		row, n := make([]float64, len(list)), make([]int, len(list))
		for j, b := range list {
			row[j], n[j] = jaccardIndex(a, b)
		}
		h.cell, shared = append(h.cell, row), append(shared, n)
	}
	return h, shared
}
