package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// missingShare is the share of rows in which a feature has no number.
func missingShare(c stream.ColumnReport, rows int64) float64 {
	if rows <= 0 {
		return 0
	}
	return float64(c.Nulls+c.NaNs+c.Infs) / float64(rows)
}

// missingView are the features with missing values, the most first.
type missingView struct {
	Rows []missingRow
	Note string
}

type missingRow struct {
	Name, Nulls, NaNs, Infs, Share, Bar string
	Chosen                              bool
}

// mostMissing bounds the list of features with missing values.
const mostMissing = 50

// missingOf lists missing values; nil where there are none.
func missingOf(s *stream.Selection) *missingView {
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
	v := &missingView{Note: fmt.Sprintf("%s of %s have missing values, %s of them chosen.", count(int64(len(list))), plural(len(s.Columns), "feature"), count(int64(taken)))}
	if n := len(list) - mostMissing; n > 0 {
		v.Note += fmt.Sprintf(" The %d with the most are shown.", mostMissing)
	}
	for _, c := range list[:min(mostMissing, len(list))] {
		v.Rows = append(v.Rows, missingRow{
			c.Name, count(c.Nulls), count(c.NaNs), count(c.Infs), share(missingShare(c, s.Rows)), barOf(missingShare(c, s.Rows)), chosen[c.Name],
		})
	}
	return v
}
