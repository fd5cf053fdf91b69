package settled

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func SuspectsToLeaveOut(r *Run, p *gram.Profile, f *hygiene.Facts, cols []stream.Column) (out []stream.LeftOut) {
	if !request.ExcludesSuspects(&r.Request) {
		return nil
	}
	for _, s := range f.FindSuspects(p, nil, request.MaxMissingShare(&r.Request)) {
		if LeavesOutSuspect(r.Columns, s) && !IsMadeFromTimes(s, cols) {
			out = append(out, cols[s.Column].LeftOut(SuspectReason(s, cols, r.Columns.Label)))
		}
	}
	return out
}

// IsMadeFromTimes reports whether a suspicious column was made on purpose, by converting times to numbers.
func IsMadeFromTimes(s hygiene.Suspect, cols []stream.Column) bool {
	return (s.Kind == hygiene.Time || s.Kind == hygiene.ID) && cols[s.Column].Block != ""
}

func SuspectReason(s hygiene.Suspect, cols []stream.Column, label string) string {
	switch s.Kind {
	case hygiene.Sparse:
		return fmt.Sprintf("mostly missing (%s of the rows)", wording.FormatPercent(s.Share))
	case hygiene.Time:
		return "counts time (" + s.Evidence + ")"
	case hygiene.ID:
		return "looks like an identifier: whole numbers that hardly repeat"
	case hygiene.Leak:
		return fmt.Sprintf("nearly determines the label %s (%s)", label, s.Evidence)
	}
	return fmt.Sprintf("a copy of %s", cols[s.Original].Name)
}

// UselessWithMissing lists the columns with missing entries that cannot be features. Columns without missing entries
// that cannot be features are not listed, because they can be left out after the passes.
func UselessWithMissing(r *Run, profile *gram.Profile, cols []stream.Column) []stream.LeftOut {
	at := make(map[string]int, len(cols))
	for j, c := range cols {
		at[c.Name] = j
	}
	left := profile.LeftOut(cols)
	if r.ParsedScale == gram.ScaleRank { // values whose sums overflow still have ranks
		left = profile.Empty(cols)
	}
	return slices.DeleteFunc(left, func(l stream.LeftOut) bool {
		return profile.Columns[at[l.Name]].Missing.Total() == 0
	})
}

func NoteFilled(r *Run, list []stream.ColumnReport) {
	if remark := FilledRemark(r, list); remark != "" {
		r.Sayf("%s", remark)
	}
}

// FilledRemark returns a remark on filled missing values for the user. It is empty if values are not filled, or if the
// user or a plan chose the policy for missing values.
func FilledRemark(r *Run, list []stream.ColumnReport) string {
	planned := r.PlanHeader != nil && r.PlanHeader.Options["missing"] != ""
	text := DescribeFilled(r, list)
	switch {
	case r.Original.Columns.Missing != "" || planned:
		return ""
	case text != "" && (r.Stats == "" || r.Bound.From.UsesRows()): // otherwise it is too late to choose policy error
		text += stream.Textf("; {missing} error refuses them").Spell(r.Hooks.Spelling)
	}
	return text
}

// DescribeFilled describes the columns in list whose missing values the mean replaces; it returns "" if there are none.
func DescribeFilled(r *Run, list []stream.ColumnReport) string {
	if r.Columns.Missing != request.MissingMean || len(list) == 0 {
		return ""
	}
	missing := func(c stream.ColumnReport) int64 { return c.Nulls + c.NaNs + c.Infs }
	slices.SortStableFunc(list, func(a, b stream.ColumnReport) int { return cmp.Compare(missing(b), missing(a)) })
	var places []string
	var infinite, others int64
	shown := len(list)
	if shown > wording.MaxSuspectsInWarning+1 {
		shown = wording.MaxSuspectsInWarning
	}
	for i, c := range list {
		if infinite += c.Infs; i < shown {
			places = append(places, wording.WithCommas(missing(c))+" in "+c.Name)
		} else {
			others += missing(c)
		}
	}
	if more := len(list) - shown; more > 0 {
		places = append(places, fmt.Sprintf("and %s in %s more columns", wording.WithCommas(others), wording.WithCommas(int64(more))))
	}
	subject := "missing values"
	if infinite > 0 {
		subject += fmt.Sprintf(" (%s of them infinite)", wording.WithCommas(infinite))
	}
	return subject + " are filled by their column's mean: " + strings.Join(places, ", ")
}

// ListFilled lists the features of e with missing values. Columns that cannot be features are not listed, because they
// are left out before their values are filled.
func ListFilled(r *Run, e *statistics.Bundle) (list []stream.ColumnReport) {
	profile := cmp.Or(e.RawProfile, e.Profile)
	useless := make(map[string]bool)
	for _, l := range UselessWithMissing(r, profile, e.Columns) {
		useless[l.Name] = true
	}
	for j, c := range e.Columns {
		if m := profile.Columns[j].Missing; m.Total() > 0 && !useless[c.Name] && (e.TakesPart == nil || e.TakesPart[j]) {
			list = append(list, stream.ColumnReport{Name: c.Name, Nulls: m.Nulls, NaNs: m.NaNs, Infs: m.Infs})
		}
	}
	return list
}

// ListPromisedMissing lists the features of ds that have missing values according to the metadata. For sparse input the
// list is empty.
func ListPromisedMissing(r *Run, ds *chunkio.Dataset) (list []stream.ColumnReport) {
	for f := range ds.Fields() {
		if r.Columns.Sparse == "" && f.Used && f.Nulls > 0 && f.Nulls < ds.Rows() {
			list = append(list, stream.ColumnReport{Name: f.Name, Nulls: f.Nulls})
		}
	}
	return list
}

func LeavesOutSuspect(c request.Columns, s hygiene.Suspect) bool {
	return c.AutoExclude || c.MaxMissing > 0 && s.Kind == hygiene.Sparse
}
