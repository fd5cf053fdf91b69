package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

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
