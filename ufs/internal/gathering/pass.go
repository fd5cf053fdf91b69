package gathering

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/hygiene"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// pass holds the settings and results of one attempt to read the input.
type pass struct {
	gatherer    *Gatherer
	opt         chunkio.Options
	plan        budget.Budget
	rowRange    stream.Range
	firstRow    int64 // number of the first row of the inputs, counted in the whole plan
	anchorCount int   // number of anchors, once they are placed

	// These fields are used with scale rank, and are set when the ranks are known.
	rawProfile *gram.Profile
	ranks      *gram.Histograms
	scores     *gram.Scores
	sample     *anchor.Sampler // sample of the values, for anchors

	facts *hygiene.Facts // counts that show suspicious columns, of all rows, from an earlier pass; or nil

	factorRows *gram.Rows // all rows, as a factor of the Gram matrix, if the pass that drew anchors kept them
}

// findUselessColumns makes a profile pass over the whole input. laterPasses is the number of passes that will follow
// it. findUselessColumns returns the columns to leave out: columns with missing entries that cannot be features,
// however the entries are filled, and suspicious columns.
func (p *pass) findUselessColumns(ctx context.Context, ds *chunkio.Dataset, laterPasses int) ([]stream.LeftOut, error) {
	opt := p.opt
	opt.Missing, opt.LeaveOut = stream.MissingKeep, nil
	ds, err := ds.With(opt)
	if err != nil {
		return nil, err
	}
	p.gatherer.setExpectedPasses(1+laterPasses, p.plan)
	return profileUseless(ctx, p, ds)
}

// accumulateStats makes the pass over the input that fills the statistics. graph is an anchor graph to fill, or nil.
func (p *pass) accumulateStats(ctx context.Context, ds *chunkio.Dataset, graph *anchor.Statistics) (*statistics.Bundle, error) {
	ds, err := ds.With(p.opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	g := p.gatherer
	room.EnsureFree(p.plan.Statistics) // earlier passes left garbage in the memory that the statistics need
	e := &statistics.Bundle{Columns: ds.Columns(), Useless: p.opt.LeaveOut, Source: p.scoredIfRanked(ds), Plan: p.plan, RawProfile: p.rawProfile}
	if e.Facts, e.HasAllFacts = p.facts, p.facts != nil; !e.HasAllFacts && p.scores == nil { // scores hide the values
		e.Facts = settled.NewFacts(g.Run, len(e.Columns))
	}
	fold := stream.FoldOptions{Range: p.rowRange}
	if kindOf(g.GatherKind).fillsProfile(p.plan) {
		e.Profile, e.Graph = gram.NewProfile(len(e.Columns)), graph
		if p.plan.Sketch > 0 {
			e.Sketch = newSketch(g, len(e.Columns), p.plan)
			if graph != nil {
				e.Weights = gram.NewSketch(p.anchorCount, gram.SketchOptions{Rows: g.Run.SketchRows, Seed: g.Run.Choice.Seed, Threads: g.Run.Limits.Threads})
				graph.SketchWeights(e.Weights)
			}
		}
		if g.TakesSample {
			e.Sample = newAnchorOrSurveySample(p, ds)
		}
		if g.Run.KeepRows > 0 {
			e.RowSample = newRowSampleToKeep(p, ds)
		}
		if g.TakesRanks {
			e.Ranks = gram.NewRankHistograms(len(e.Columns), p.opt.Threads)
		}
		err = makePass(ctx, p, ds, passSetup{name: statisticsPass, title: "profile", opt: p.opt, fold: fold, sections: e.CheckpointSections(), alwaysSave: p.plan.OutOfCore || kindOf(g.GatherKind).keepsRows}, e.Adders()...)
	} else {
		if err := p.prepareGram(ds, e, graph); err != nil {
			return nil, err
		}
		if p.factorRows == nil {
			err = makePass(ctx, p, ds, passSetup{name: statisticsPass, title: "statistics", opt: p.opt, fold: fold, sections: e.CheckpointSections(), alwaysSave: kindOf(g.GatherKind).keepsRows}, e.Adders()...)
		}
		if err == nil && e.ShardStats != nil {
			err = e.FinishShards()
		}
	}
	if err != nil {
		return nil, p.plan.ErrForLimit(err)
	}
	if kindOf(g.GatherKind).keepsRows {
		settleKeptData(p, ds, nil)
	} else {
		p.opt.Keep.Drop()
	}
	e.Passes = g.Passes
	e.LeftOut, e.PositionCount = ds.LeftOut(), ds.Positions()
	e.Inputs, e.Table, e.Since, e.HasLosses = ds.Inputs(), ds.Table(), g.Run.Input.Since, ds.HasLosses()
	e.Covered = []stream.Range{{From: p.rowRange.From - p.firstRow, To: p.rowRange.To - p.firstRow}}
	if p.rowRange.All() {
		e.Covered[0].To = e.Profile.Seen
	}
	e.Part = partOfPlan(g.Run, ds)
	e.Options = request.StatisticsShape(&g.Run.Request)
	if e.Graph != nil {
		g.Run.AddGraphShape(e.Options)
		e.Options["anchors"] = strconv.Itoa(p.anchorCount)
	}
	if e.RowSample != nil {
		g.Run.AddSampleShape(e.Options)
	}
	if p.ranks != nil {
		if e.Options[request.OptionRanks], err = ranksDigest(p.ranks); err != nil {
			return nil, err
		}
	}
	e.Warnings = append(e.Warnings, ds.Warnings()...)
	e.Warnings = append(e.Warnings, indicatorWarnings(g, e)...)
	e.Warnings = append(e.Warnings, sentinelValueWarnings(e, ds)...)
	if n := e.Profile.Seen - e.Profile.Rows; n > 0 && p.opt.Missing == stream.MissingDropRow && p.opt.Sample == 0 && p.opt.Where == "" {
		e.Warnings = append(e.Warnings, e.DroppedWarning())
	}
	return e, nil
}

// prepareGram adds to e the empty statistics for a pass that gathers a Gram matrix. graph is an empty graph, or nil.
func (p *pass) prepareGram(ds *chunkio.Dataset, e *statistics.Bundle, graph *anchor.Statistics) (err error) {
	d, opt := len(e.Columns), gram.Options{Threads: p.opt.Threads, Limit: p.plan.StatisticsRoom(), Busy: &p.gatherer.Run.Hooks.Meter.Busy}
	if p.gatherer.TakesHistograms && p.scores == nil { // histograms of normal scores would not depend on the data
		e.Histograms = gram.NewHistograms(d, p.opt.Threads)
	}
	if p.plan.Factor > 0 {
		if e.Factor, e.Graph = p.factorRows, graph; e.Factor == nil {
			e.Factor = gram.NewRows(d, p.plan.Factor, p.opt.Threads, planning.HasNarrowRows(p.gatherer.Run, ds))
		}
		e.Profile = &e.Factor.Profile
		return nil
	}
	if p.gatherer.TakesSample {
		e.Sample = newAnchorOrSurveySample(p, ds)
	}
	if p.gatherer.Run.Choice.Stability == 0 {
		e.Moments, e.Graph = gram.NewMoments(d, opt), graph
		e.Profile = &e.Moments.Profile
		return nil
	}
	e.Profile = gram.NewProfile(d)
	if e.ShardStats, err = statistics.NewShardStats(p.gatherer.Run.Choice.Stability, d, opt, graph); err == nil {
		e.ShardStats.OpenSplitter(d, p.opt.Threads, p.gatherer.Run.Choice.Seed)
	}
	return err
}

// RunPass adds the rows of ds to the adders, and reports its progress as the pass after the earlier ones.
func (g *Gatherer) RunPass(ctx context.Context, ds stream.Source, title string, opt stream.FoldOptions, adders ...stream.Adder) error {
	g.Passes++
	opt.Meter = g.Run.Hooks.Meter
	rows := ds.Rows()
	if !opt.Range.All() {
		rows = opt.Range.To - opt.Range.From
	}
	if opt.Next > 0 {
		rows -= opt.Next - opt.Range.From
	}
	return request.TrackProgress(&g.Run.Request, request.Progress{What: title, Pass: g.Passes, Passes: g.LeastPasses, Most: g.MostPasses, Rows: rows}, func(func(request.Progress)) error {
		return stream.Fold(ctx, ds, opt, adders...)
	})
}

func (g *Gatherer) setExpectedPasses(laterPasses int, plan budget.Budget) {
	g.LeastPasses = g.Passes + laterPasses + plan.MethodPasses.Least
	g.MostPasses = g.Passes + laterPasses + plan.MethodPasses.Most
}

func (p *pass) scoredIfRanked(ds *chunkio.Dataset) statistics.RowInput {
	if p.scores == nil {
		return ds
	}
	return scoredRows{ds, p.scores, request.MissingFill(&p.gatherer.Run.Request)}
}

// scoredRows yields rows whose values are mapped to normal scores.
type scoredRows struct {
	statistics.RowInput
	scores *gram.Scores
	fill   gram.Fill
}

// Chunks implements stream.Source: it yields the rows of r with each value replaced by its normal score.
func (s scoredRows) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		var scored stream.Chunk
		for c, err := range s.RowInput.Chunks(ctx, r) {
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

func partOfPlan(r *settled.Run, ds *chunkio.Dataset) *stream.Part {
	p := ds.Part()
	if p != nil {
		p.Round = r.RoundID()
	}
	return p
}

func newRowSampleToKeep(p *pass, ds *chunkio.Dataset) *rowsample.Sample {
	g := p.gatherer
	starts := slices.Clone(ds.Cuts())
	slices.Sort(starts) // in a shard, the boundaries of row groups are not in order
	return new(rowsample.New(len(ds.Columns()), anchor.SamplerOptions{
		Rows: g.Run.KeepRows, Seed: g.Run.Choice.Seed, Limit: p.plan.Limit - p.plan.Program - p.plan.Reading,
		Starts: starts, Bound: hashBound(p, ds)(g.Run.KeepRows),
	}))
}

// hashBound returns a function. For a number of rows to sample from the whole input, this function returns an upper
// bound on the hashes of these rows, or 0 for no bound. A shard keeps only rows below it. If rows may be dropped,
// there is no bound, because the number of rows left in the whole is unknown.
func hashBound(p *pass, ds *chunkio.Dataset) func(rows int) uint64 {
	if shards := max(p.gatherer.ScannedShard.Count, p.gatherer.Run.Shard.Of); shards < 2 || p.gatherer.Run.Input.Where != "" || p.gatherer.Run.Columns.Weight != "" || p.opt.Missing == stream.MissingDropRow {
		return noHashBound
	}
	return func(rows int) uint64 { return anchor.HashBound(rows, ds.Rows()) }
}

func noHashBound(int) uint64 { return 0 }

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
	return []stream.Text{stream.Textf("{missing-indicators}: %s without nulls by the footers, but with NaN or infinite values, have no indicator: %s", wording.CountNoun(len(unmarked), "feature"), text)}
}

func sentinelValueWarnings(e *statistics.Bundle, ds *chunkio.Dataset) []stream.Text {
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
		finding = wording.WithCommas(int64(len(names))) + " columns have a repeated number that is far outside all others"
	}
	if len(names) > wording.MaxSuspectsInWarning+1 {
		names = append(names[:wording.MaxSuspectsInWarning:wording.MaxSuspectsInWarning], fmt.Sprintf("and %d more", len(names)-wording.MaxSuspectsInWarning))
	}
	const offered = 8
	values = values[:min(len(values), offered)]
	return []stream.Text{stream.Textf("%s: %s; if it stands for a missing value, give {null-values} %s, and {missing} applies", finding, strings.Join(names, ", "), ds.Guesses().NullsWith(values...))}
}
