package gathering

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

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
