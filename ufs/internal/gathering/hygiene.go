package gathering

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/hygiene"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func sentinelWarnings(e *statistics.Bundle, ds *chunkio.Dataset) []stream.Text {
	var names []string
	var values []float64
	for _, s := range e.Facts.FindSentinels(e.TakesPart) {
		if e.Columns[s.Column].Block != "" { // the column was made from times or categories
			continue
		}
		names = append(names, fmt.Sprintf("%s (%v, in %s of the rows)", e.Columns[s.Column].Name, s.Value, wording.FormatPercent(s.Share)))
		if !slices.Contains(values, s.Value) {
			values = append(values, s.Value)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(values)
	finding := "1 column has a repeated number that is far outside all others"
	if len(names) > 1 {
		finding = wording.Comma(int64(len(names))) + " columns have a repeated number that is far outside all others"
	}
	if len(names) > wording.MaxSuspectsInWarning+1 {
		names = append(names[:wording.MaxSuspectsInWarning:wording.MaxSuspectsInWarning], fmt.Sprintf("and %d more", len(names)-wording.MaxSuspectsInWarning))
	}
	const offered = 8
	values = values[:min(len(values), offered)]
	return []stream.Text{stream.Textf("%s: %s; if it stands for a missing value, give {null-values} %s, and {missing} applies", finding, strings.Join(names, ", "), ds.Guesses().NullsWith(values...))}
}

// profileUseless makes a profile pass over the whole input, only to find columns to leave out: columns with missing
// entries that cannot be features, and suspicious columns.
func profileUseless(ctx context.Context, p *pass, ds *chunkio.Dataset) ([]stream.LeftOut, error) {
	profile := gram.NewProfile(len(ds.Columns()))
	adders, body := []stream.Adder{profile}, []chunkio.Section{{Name: statistics.ProfileSection, Body: profile}}
	var facts *hygiene.Facts
	if request.ExcludesSuspects(&p.gatherer.Run.Request) {
		facts = settled.NewFacts(p.gatherer.Run, len(ds.Columns()))
		adders, body = append(adders, facts), append(body, chunkio.Section{Name: statistics.FactsSection, Body: facts})
	}
	if err := makePass(ctx, p, ds, passSetup{name: uselessPass, title: "profile", sections: body, alwaysSave: true}, adders...); err != nil {
		return nil, err
	}
	left := settled.UselessWithMissing(p.gatherer.Run, profile, ds.Columns())
	for _, l := range settled.SuspectsToLeaveOut(p.gatherer.Run, profile, facts, ds.Columns()) {
		if !slices.ContainsFunc(left, func(known stream.LeftOut) bool { return known.Name == l.Name }) {
			left = append(left, l)
		}
	}
	return left, nil
}

// indicatorWarnings warns about features that have missing values but did not get an indicator feature, because the
// footers of the files did not announce nulls.
func indicatorWarnings(g *Gatherer, e *statistics.Bundle) []stream.Text {
	if !g.Run.Columns.MissingIndicators {
		return nil
	}
	names := make(map[string]bool, len(e.Columns))
	for _, c := range e.Columns {
		names[c.Name] = true
	}
	for _, l := range e.LeftOut {
		names[l.Name] = true
	}
	var unmarked []string
	for j, c := range e.Columns {
		if m := e.Profile.Columns[j].Missing; m.NaNs+m.Infs > 0 && m.Nulls == 0 && c.Block == "" && !names[chunkio.IndicatorOf(c.Name)] {
			unmarked = append(unmarked, c.Name)
		}
	}
	if len(unmarked) == 0 {
		return nil
	}
	text := request.JoinNames(unmarked[:min(len(unmarked), wording.MaxNamesInError)])
	if len(unmarked) > wording.MaxNamesInError {
		text += ", …"
	}
	return []stream.Text{stream.Textf("{missing-indicators}: %s without nulls by the footers, but with NaN or infinite values, have no indicator: %s", wording.Plural(len(unmarked), "feature"), text)}
}
