package ufs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Under scale rank, a first pass over the whole input makes a profile, and counts the values of each column in fine
// histograms. Every later pass reads the rows mapped to normal scores, so that moments, anchors, graphs and methods
// over rows do not depend on the scale. Shards therefore need two rounds: all of them are profiled first.

const (
	scaleRank = "rank"
	// optionRanks identifies the ranks that scores were made from: statistics of scores from other ranks do not add up.
	optionRanks = "ranks"
)

// rankColumns makes the pass that counts ranks, or gets the ranks from the profile of all shards. From the ranks it
// computes the scores that later passes read.
func (p *pass) rankColumns(ctx context.Context, ds *chunkio.Dataset) error {
	var err error
	p.opt.Missing = p.gatherer.missingPolicy()
	switch {
	case p.gatherer.wholeProfile != nil:
		err = p.ranksFromProfile(ds)
	default:
		p.keepDecoded(ds)
		err = p.readWithoutUseless(ctx, ds, func() error { return p.countRanks(ctx, ds) })
	}
	if err != nil {
		return p.plan.errForLimit(err)
	}
	p.scores, err = gram.NewScores(p.ranks, p.rawProfile)
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
	p.facts = p.gatherer.newFacts(d)
	adders := []stream.Adder{p.rawProfile, p.ranks, p.facts}
	body := []chunkio.Section{{Name: valuesSection, Body: p.rawProfile}, {Name: ranksSection, Body: p.ranks}, {Name: factsSection, Body: p.facts}}
	if p.gatherer.gatherKind == method.FromGraph {
		p.sample = p.gatherer.newAnchorSampler(p.gatherer.expectedAnchors(ds.Rows()), d, p.plan, noHashBound)
		adders, body = append(adders, p.sample), append(body, chunkio.Section{Name: sampleSection, Body: p.sample})
	}
	p.gatherer.expectPasses(2, p.plan)
	return p.makePass(ctx, ds, passSetup{name: ranksPass, title: "ranks", opt: p.opt, sections: body, alwaysSave: true}, adders...)
}

func (p *pass) ranksFromProfile(ds *chunkio.Dataset) (err error) {
	whole := p.gatherer.wholeProfile
	if p.opt.LeaveOut, err = p.gatherer.matchingLeftOut(ds); err != nil {
		return err
	}
	if p.opt.Missing == stream.MissingDropRow && whole.options["missing"] != missingDropRow && whole.hasMissing() {
		return stream.Usagef("{missing} drop-row: the ranks of {profile} are of all rows, before any is dropped; use {missing} mean or pairwise, or scan on one machine")
	}
	var index []int
	p.rawProfile = &gram.Profile{Rows: whole.profile.Rows, Seen: whole.profile.Seen, Weight: whole.profile.Weight}
	for j, col := range whole.columns {
		if !slices.ContainsFunc(p.opt.LeaveOut, func(l stream.LeftOut) bool { return l.Name == col.Name }) {
			index = append(index, j)
			p.rawProfile.Columns = append(p.rawProfile.Columns, whole.profile.Columns[j])
		}
	}
	p.ranks = whole.ranks.Only(index)
	return nil
}

// drawScoredRows returns the data for drawing anchors without a pass, because counting the ranks, or the scan of a
// profile, has already drawn the rows. It maps these rows to scores, and computes the profile of the scores from the
// table of scores.
func (p *pass) drawScoredRows(ds *chunkio.Dataset) (d *anchorData, err error) {
	if p.gatherer.wholeProfile != nil {
		if d, err = p.anchorDataFromProfile(ds); err != nil {
			return nil, err
		}
	} else {
		if ds, err = ds.With(p.opt); err != nil {
			return nil, err
		}
		d = &anchorData{columns: ds.Columns(), sample: p.sample}
	}
	sparse, fill := p.opt.Sparse != "", p.gatherer.missingFill()
	d.profile = p.scores.Profile(p.ranks, p.rawProfile, fill, sparse)
	if d.sample != nil {
		d.sample = d.sample.MapValues(func(j int, x float64) float64 { return p.scores.Entry(j, x, fill, sparse) })
	}
	return d, nil
}

func (p *pass) readableRows(ds *chunkio.Dataset) rowInput {
	if p.scores == nil {
		return ds
	}
	return scoredRows{ds, p.scores, p.gatherer.missingFill()}
}

// scoredRows yields rows whose values are mapped to normal scores.
type scoredRows struct {
	rowInput
	scores *gram.Scores
	fill   gram.Fill
}

// Chunks implements stream.Source.
func (s scoredRows) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		var scored stream.Chunk
		for c, err := range s.rowInput.Chunks(ctx, r) {
			if err == nil {
				err = s.scores.To(&scored, c, s.fill)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&scored, nil) {
				return
			}
		}
	}
}

// rankBytes returns the memory for ranks: their histograms, the table of scores, and a chunk of scored rows.
func (r *run) rankBytes(ds stream.Source, d int) int64 {
	if r.scale != gram.ScaleRank {
		return 0
	}
	rows := ds.Rows()
	if r.wholeProfile != nil { // ds may then be only a shard
		rows = r.wholeProfile.profile.Seen
	}
	return gram.RankHistogramsBytes(d, rows, r.Threads) + gram.ScoresBytes(d, rows)
}

func (r *run) rankPasses(ds *chunkio.Dataset) method.Passes {
	then := "one for the ranks, then the statistics"
	if r.From == method.FromGraph {
		then = "one for the ranks, which draws the anchors, then the statistics"
	}
	switch {
	case r.missingPolicy() == stream.MissingKeep || r.Sparse != "":
		return method.Passes{Least: 2, Most: 2, Why: stream.PlainText(then)}
	case promisesMissing(ds):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile of the columns, because values are missing, %s", then)}
	}
	return method.Passes{Least: 2, Most: 4, Why: stream.Textf("%s, if nothing is missing; else two more", then)}
}

func (r *run) readProfileRanks(file *chunkio.StatsReader) error {
	if err := r.wholeProfile.readRanks(file, r.Threads); err != nil {
		return err
	}
	if r.wholeProfile.ranks == nil {
		return stream.Usagef("{scale} rank: {profile} %s has no ranks; make it with {profile-only} {scale} rank", file.Path())
	}
	return nil
}

// isRanked reports whether the statistics were made from normal scores. A profile is made from the values themselves,
// and has the ranks in an extra section.
func (e *bundle) isRanked() bool {
	return e.kind != kindProfile && e.options["scale"] == scaleRank
}

func (r *run) settleRank(e *bundle) error {
	switch isRanked := e.isRanked(); {
	case !isRanked && r.scale == gram.ScaleRank && e.kind == kindProfile:
		return stream.Usagef("{scale} rank: %s holds a profile of the values; select from the data, or scan it with {scale} rank", r.Stats)
	case !isRanked && r.scale == gram.ScaleRank:
		return stream.Usagef("{scale} rank: %s was scanned without ranks; scan again with {scale} rank", r.Stats)
	case isRanked && r.original.Scale != "" && r.scale != gram.ScaleRank:
		return stream.Usagef("{scale} %s: %s was scanned with {scale} rank, and knows no values; scan again without it", r.original.Scale, r.Stats)
	case isRanked:
		r.Scale = scaleRank
		return r.settleScale()
	}
	return nil
}

// addRanks merges the histograms of ranks, which only profiles have. Statistics of scores need no merging here: equal
// options (optionRanks) mean that the scores of e and o come from the same ranks, and that rawProfile is the same.
func (e *bundle) addRanks(o *bundle) error {
	if (e.ranks == nil) != (o.ranks == nil) || (e.rawProfile == nil) != (o.rawProfile == nil) {
		return stream.Usagef("only one of them was scanned with {scale} rank")
	}
	if e.ranks == nil {
		return nil
	}
	return e.ranks.Merge(o.ranks)
}

func ranksDigest(ranks io.WriterTo) (string, error) {
	sum := sha256.New()
	if _, err := ranks.WriteTo(sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
