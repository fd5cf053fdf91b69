package gathering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// rankColumns makes the pass that counts ranks, or gets the ranks from the profile of all shards. From the ranks it
// computes the scores that later passes read.
func (p *pass) rankColumns(ctx context.Context, ds *chunkio.Dataset) error {
	var err error
	p.opt.Missing = request.MissingPolicy(&p.gatherer.Run.Request)
	switch {
	case p.gatherer.Run.WholeProfile != nil:
		err = p.ranksFromProfile(ds)
	default:
		keepDecodedData(p, ds)
		err = p.readWithoutUseless(ctx, ds, func() error { return p.countRanks(ctx, ds) })
	}
	if err != nil {
		return p.plan.ErrForLimit(err)
	}
	scores := gram.NewScores
	if p.gatherer.TakesMidranks {
		scores = gram.NewMidranks
	}
	p.scores, err = scores(p.ranks, p.rawProfile)
	return err
}

// countRanks makes the pass that counts ranks. It draws rows for anchors if the method needs them.
func (p *pass) countRanks(ctx context.Context, ds *chunkio.Dataset) error {
	ds, err := ds.With(p.opt)
	if err != nil {
		return err
	}
	if err := ds.Check(); err != nil {
		return err
	}
	d := len(ds.Columns())
	p.rawProfile, p.ranks = gram.NewProfile(d), gram.NewRankHistograms(d, p.opt.Threads)
	p.facts = settled.NewFacts(p.gatherer.Run, d)
	adders := []stream.Adder{p.rawProfile, p.ranks, p.facts}
	body := []chunkio.Section{{Name: statistics.ValuesSection, Body: p.rawProfile}, {Name: statistics.RanksSection, Body: p.ranks}, {Name: statistics.FactsSection, Body: p.facts}}
	if p.gatherer.GatherKind == method.FromGraph {
		p.sample = newAnchorSampler(p.gatherer.Run, p.gatherer.Run.ExpectedAnchors(ds.Rows()), d, p.plan, noHashBound)
		adders, body = append(adders, p.sample), append(body, chunkio.Section{Name: statistics.SampleSection, Body: p.sample})
	}
	p.gatherer.setExpectedPasses(2, p.plan)
	return makePass(ctx, p, ds, passSetup{name: ranksPass, title: "ranks", opt: p.opt, sections: body, alwaysSave: true}, adders...)
}

func (p *pass) ranksFromProfile(ds *chunkio.Dataset) (err error) {
	whole := p.gatherer.Run.WholeProfile
	if p.opt.LeaveOut, err = p.gatherer.matchingLeftOut(ds); err != nil {
		return err
	}
	if p.opt.Missing == stream.MissingDropRow && whole.Options["missing"] != request.MissingDropRow && whole.HasMissing() {
		return stream.Usagef("{missing} drop-row: the ranks of {profile} are of all rows, before any is dropped; use {missing} mean or pairwise, or scan on one machine")
	}
	var index []int
	p.rawProfile = &gram.Profile{Rows: whole.Profile.Rows, Seen: whole.Profile.Seen, Weight: whole.Profile.Weight}
	for j, col := range whole.Columns {
		if !slices.ContainsFunc(p.opt.LeaveOut, func(l stream.LeftOut) bool { return l.Name == col.Name }) {
			index = append(index, j)
			p.rawProfile.Columns = append(p.rawProfile.Columns, whole.Profile.Columns[j])
		}
	}
	p.ranks = whole.Ranks.Only(index)
	return nil
}

// drawScoredRows returns the data for drawing anchors without a pass, because counting the ranks, or the scan of a
// profile, has already drawn the rows. It maps these rows to scores, and computes the scores' profile from the table of
// scores.
func (p *pass) drawScoredRows(ds *chunkio.Dataset) (d *anchorData, err error) {
	if p.gatherer.Run.WholeProfile != nil {
		if d, err = anchorDataFromProfile(p, ds); err != nil {
			return nil, err
		}
	} else {
		if ds, err = ds.With(p.opt); err != nil {
			return nil, err
		}
		d = &anchorData{columns: ds.Columns(), sample: p.sample}
	}
	sparse, fill := p.opt.Sparse != "", request.MissingFill(&p.gatherer.Run.Request)
	d.profile = p.scores.Profile(p.ranks, p.rawProfile, fill, sparse)
	if d.sample != nil {
		d.sample = d.sample.MapValues(func(j int, x float64) float64 { return p.scores.Entry(j, x, fill, sparse) })
	}
	return d, nil
}

func ReadProfileRanks(r *settled.Run, file *chunkio.StatsReader) error {
	if err := statistics.ReadState(r.WholeProfile, file, statistics.RanksSection, statistics.StateOptions{Threads: r.Limits.Threads}); err != nil {
		return err
	}
	if r.WholeProfile.Ranks == nil {
		return stream.Usagef("{scale} rank: {profile} %s has no ranks; make it with {profile-only} {scale} rank", file.Path())
	}
	return nil
}

func ranksDigest(ranks io.WriterTo) (string, error) {
	sum := sha256.New()
	if _, err := ranks.WriteTo(sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
