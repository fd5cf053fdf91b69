package report

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// featureGroup is a chosen feature and the features that it represents, the best explained first. A feature that was
// not chosen is represented by its nearest chosen feature.
type featureGroup struct {
	stream.Selected
	members []stream.ColumnReport
}

// featureGroups returns the groups in the order of the ranking, or nil if the document does not record nearest
// features.
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
		slices.SortStableFunc(groups[i].members, func(a, b stream.ColumnReport) int {
			return cmp.Compare(b.Explained, a.Explained)
		})
	}
	return groups
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

func overlapHeat(list []*stream.Selection, names []string) (*heatMap, [][]int) {
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
