package greedy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/blocks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/outofcore"
	"github.com/ufs-stream/ufs-stream/greedy/internal/refine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares greedy, partgreedy, graphgreedy and fastcan (Algorithm 1, 2, and 1 with a target from the anchor graph
// or with principal components as target).
func Specs() []method.Spec {
	reconstructs := method.Takes{Keep: true, Choice: true, Variance: true, MinGain: true, Weight: true, Nested: true, Reconstructs: true, Factor: true, Explain: true}
	sketched := reconstructs
	sketched.Sketch = true
	return []method.Spec{
		{
			Name: "greedy", About: "the features that best reconstruct all others (Farahat et al. 2013)",
			Guide: method.Guide{
				When:    "features that stand in for the whole table: sensors, factors, survey items; the least error that is left",
				Time:    "d² to begin, and a reading of G with 4·d·t operations for the t-th feature",
				Caution: "it follows clusters only as far as these are what varies most",
			},
			From: method.FromGram, Takes: sketched, Scale: gram.ScaleStandard,
			New: func() method.Method { return &dataGreedy{} },
		},
		{
			Name: "partgreedy", About: "the same for sums of random groups of features: faster where features are many",
			Guide: method.Guide{
				When:    "as greedy, where features are so many that greedy takes too long",
				Time:    "d·c for each feature, of c random groups",
				Caution: "it gives quality for speed: for clusters it was hardly better than random features",
			},
			From: method.FromGram, Takes: reconstructs, Scale: gram.ScaleStandard,
			New: func() method.Method { return &dataGreedy{partitioned: true} },
		},
		{
			Name: "graphgreedy", About: "the features that best reconstruct the data smoothed on the anchor graph, or other targets from it (ours)",
			Guide: method.Guide{
				When:    "features that stand in for what neighbouring rows have in common, with the noise of single rows left out",
				Time:    "as greedy, and m·d² for the target",
				Caution: "its explained share is of the smoothed data; of the data themselves greedy explains more",
			},
			From: method.FromGraph, Scale: gram.ScaleStandard,
			Takes: method.Takes{Keep: true, Choice: true, MinGain: true, Nested: true, Factor: true, Streams: true, Sketch: true, WhyNotVariance: stream.Textf("counts the explained share of the data, but this method explains another target")},
			New:   func() method.Method { return &graphGreedy{} },
		},
		{
			Name: "fastcan", About: "the features with the largest canonical correlations with the leading principal components (Zhang et al. 2025)",
			Guide: method.Guide{
				When:    "few features that stand in for the principal components, each of which counts as much as the first",
				Time:    "as greedy, and the leading eigenvectors of a d×d matrix, or n×n of few rows",
				Caution: "what the components leave out does not count; its explained share is of the components",
			},
			From: method.FromGram, Scale: gram.ScaleStandard,
			Takes: method.Takes{Keep: true, Choice: true, MinGain: true, Weight: true, Nested: true, Factor: true,
				Scales:         []gram.Scale{gram.ScaleCenter, gram.ScaleStandard, gram.ScalePareto, gram.ScaleRank},
				WhyScales:      stream.Textf("it uses principal components: the columns must be centred"),
				WhyNotVariance: stream.Textf("counts the explained share of the data, but this method explains their principal components")},
			New: func() method.Method { return &componentGreedy{} },
		},
	}
}

// dataGreedy is the method greedy (Algorithm 1 of Farahat et al.) or partgreedy (Algorithm 2) with its settings.
type dataGreedy struct {
	partitioned bool
	partitions  int
	refinement  refinement
}

// refinement is the setting that lets greedy's choice be improved by exchanges of features.
type refinement struct{ mode string }

const (
	refineNone = "none"
	refineSwap = "swap"
)

func (m *refinement) addRefineOption(o *method.Options) {
	o.Choice(&m.mode, "refine", refineNone, "after greedy, exchange one feature at a time while that leaves less (swap): a better set of as many features, in two or three times the time", refineNone, refineSwap)
}

func (m *refinement) swapsFeatures() bool { return m.mode == refineSwap }

// whyUnnested explains, if exchanges are on, that they lead to another set for each number of features.
func (m *refinement) whyUnnested() stream.Text {
	if !m.swapsFeatures() {
		return stream.Text{}
	}
	return stream.Textf("exchanges features for one number of them, and the first of these are not the best fewer; leave {-refine} out, or select with each {k}")
}

func (m *refinement) bytesOfExchanges(d, k, groupCount int) int64 {
	if !m.swapsFeatures() {
		return 0
	}
	return refine.ExchangeBytes(d, k, groupCount)
}

func (m *dataGreedy) Options(o *method.Options) {
	m.refinement.addRefineOption(o)
	if m.partitioned {
		o.Int(&m.partitions, "partitions", 0, "`C` random groups of features (default: 1 % of the features)").
			Bound(func() bool { return m.partitions >= 1 }, "want 1 or more")
	}
}

// Unnested implements method.Unnested: it returns advice if exchanges make selections that are not nested.
func (m *dataGreedy) Unnested() stream.Text { return m.refinement.whyUnnested() }

// groupCount returns the number of rows of the target H, or 0 if H = G.
func (m *dataGreedy) groupCount(s method.Shape) int {
	d := cmp.Or(s.Explain, len(s.Columns))
	switch {
	case !m.partitioned:
		return s.Explain
	case m.partitions > 0:
		return min(m.partitions, d)
	}
	return DefaultPartitions(d)
}

func (m *dataGreedy) Cost(s method.Shape) (method.Cost, error) {
	d := len(s.Columns)
	c := m.groupCount(s)
	if s.Sketch > 0 {
		if m.refinement.swapsFeatures() {
			return method.Cost{}, refine.ErrWithSketch()
		}
		if s.Blocks > 0 && s.Reads > 1 {
			return method.Cost{}, blocks.ErrNeedGram(blocks.RemedyOnePass)
		}
		cost := method.Cost{Bytes: SketchedBytes(d, s.K, s.Sketch, s.Reads) + blocks.BlockBytes(d, s.Sketch, s.Blocks, s.Threads)}
		if s.Reads > 1 {
			cost.Passes = method.Passes{Least: 1, Most: s.Reads - 1, Why: stream.Textf("a sketch names candidates, whose exact columns of the Gram matrix take the others")}
		}
		return cost, nil
	}
	if s.Rank > 0 {
		rows := s.Rank
		bytes := FactorBytes(d, s.K, s.Rank, rows) + m.refinement.bytesOfExchanges(d, s.K, rows)
		if c > 0 && c <= rows {
			bytes = FactorBytes(d, s.K, s.Rank, c) + 8*int64(c)*int64(d+rows) + m.refinement.bytesOfExchanges(d, s.K, c)
		}
		if c == 0 || c > rows {
			c = rows
		}
		return method.Cost{Bytes: max(bytes+blocks.BlockBytes(d, c, s.Blocks, s.Threads), target.LeastErrorBytes(min(d, s.Rank), min(s.K, s.Rank)))}, nil
	}
	if !s.OutOfCore {
		bytes := Bytes(d, s.K, c) + m.refinement.bytesOfExchanges(d, s.K, c)
		c = cmp.Or(c, d)
		return method.Cost{Bytes: max(bytes+blocks.BlockBytes(d, c, s.Blocks, s.Threads), target.LeastErrorBytes(d, s.K))}, nil
	}
	if m.refinement.swapsFeatures() {
		return method.Cost{}, refine.ErrNeedsGram(d)
	}
	if s.Blocks > 0 && c == 0 {
		return method.Cost{}, blocks.ErrNeedGram(blocks.RemedyWithoutGram)
	}
	least := StreamBytes(d, s.K, c, sparseEntries(s), s.Rows) + outofcore.BlocksBytes(d, c, s.Blocks, s.Threads)
	cost := method.Cost{Bytes: max(s.Memory, least), Least: least}
	// The least number of passes is for f⁰ and one batch of candidates. The largest is for f⁰ and two passes for every
	// feature. Passes counts a pass for the profile, which has been made already.
	if start, err := StreamPasses(d, s.K, c, cost.Bytes, s.Sparse); err == nil {
		// A layer has at most as many features as there are rows; copies of features may make more layers than this.
		more := 0
		if s.Rows > 0 {
			more = int((int64(s.K) - 1) / s.Rows)
		}
		if s.Blocks > 0 {
			more += outofcore.MaxBlockStartPasses
		}
		cost.Cramped = start > 2
		cost.Passes = method.Passes{Least: start + 1, Most: start - 1 + 2*s.K + more*outofcore.LayerPasses(d, s.K, c, cost.Bytes, s.Sparse),
			Why: stream.Textf("the Gram matrix does not fit, so the selector reads the rows again for every few features")}
	}
	return cost, nil
}

// sparseEntries returns the number of sparse entries for which memory is planned: 0 for dense rows. If the number of
// rows is unknown, it is the largest number of entries that may be held.
func sparseEntries(s method.Shape) int64 {
	switch {
	case !s.Sparse:
		return 0
	case s.Rows < 0:
		return math.MaxInt32
	}
	return max(s.RowEntries*s.Rows, 1)
}

func (m *dataGreedy) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := selectionOptions(e)
	opt.Partitioned, opt.Partitions, opt.Refine = m.partitioned, m.partitions, m.refinement.swapsFeatures()
	if e.Gram != nil && e.Gram.Held != nil {
		return m.selectSketched(ctx, e, opt)
	}
	if e.Gram != nil {
		res, err := Select(ctx, &e.Gram.Matrix, opt)
		if err != nil {
			return nil, err
		}
		out := toRanking(res, e)
		// There is no bound for blocks: one block of several features explains more than one direction. Nor is there one for
		// explained columns, as the bound is of all columns. A selection by
		// variance or gain plans memory for all features, but not for this bound.
		if d := e.Gram.D; res.Blocks == nil && len(e.Explain) == 0 && (e.Variance == 0 && e.MinGain == 0 || target.LeastErrorBytes(d, len(res.Order)) <= Bytes(d, d, 0)) {
			out.Least = target.LeastDataErrors(kernel.NewTeam(e.Threads), &e.Gram.Matrix, res)
		}
		return out, nil
	}
	res, err := outofcore.SelectRows(ctx, e.Source, e.Std, StreamOptions{Options: opt, Profile: e.Profile, Memory: e.Memory, Meter: e.Meter, Pass: e.Pass, Checkpoint: e.Checkpoint}, 0)
	if err != nil {
		return nil, err
	}
	return toRanking(res, e), nil
}

func (m *dataGreedy) selectSketched(ctx context.Context, e *method.Evidence, opt Options) (*method.Ranking, error) {
	res, err := SelectSketched(ctx, e.Gram, e.Source, e.Std, e.Reads, StreamOptions{Options: opt, Scale: e.Scale, Fill: e.Fill, Meter: e.Meter, Pass: e.Pass, Checkpoint: e.Checkpoint})
	if err != nil {
		return nil, err
	}
	out := toRanking(res, e)
	out.Estimate = res.Estimate
	return out, nil
}

func selectionOptions(e *method.Evidence) Options {
	return singleFeatureOptions(Options{K: e.K, Variance: e.Variance, MinGain: e.MinGain, Keep: slices.Clone(e.Keep), Choice: e.Choice, Seed: e.Seed, Threads: e.Threads})
}

func toRanking(result *Result, e *method.Evidence) *method.Ranking {
	out := &method.Ranking{
		Order: result.Order, Blocks: result.Blocks, Turns: result.Scores, Error: result.Error, Explained: result.Explained, Nearest: result.Nearest, Layers: result.Layers,
		Objective: slices.Concat([]float64{1}, result.Error), Passes: result.Passes, Used: map[string]any{},
	}
	if result.Refined {
		out.Used["refine"] = refineSwap
	}
	if result.Groups != nil {
		out.Used["partitions"] = slices.Max(result.Groups) + 1
	}
	noun, order, name := "feature", result.Order, func(i int) string { return e.Columns[i].Name }
	if slices.ContainsFunc(e.Blocks, func(b method.Block) bool { return len(b.Members) > 1 }) {
		noun = "other"
	}
	if result.Blocks != nil {
		order, name = result.Blocks, func(i int) string { return e.Blocks[i].Name }
	}
	for _, t := range result.Ties {
		others := "1 " + noun
		if n := len(t.Columns); n > 1 {
			others = stream.Textf("%d %ss", n, noun).String()
		}
		out.Warnings = append(out.Warnings, stream.Textf("rank %d: %s was taken before %s with an equal score, the first being %s: the first in column order wins",
			t.Turn+1, name(order[t.Turn]), others, name(t.Columns[0])))
	}
	if e.Blocks != nil && result.Blocks == nil { // blocks of one feature each
		out.Blocks = blocksOfFeatures(result.Order, e.Blocks)
	}
	out.Warnings = append(out.Warnings, result.Warnings...)
	return out
}

// singleFeatureOptions replaces blocks of one feature each by the features themselves, so that an engine for single
// features can be used. Options with larger blocks, or without blocks, stay unchanged.
func singleFeatureOptions(opt Options) Options {
	if opt.Blocks == nil || !opt.Single() {
		return opt
	}
	number := func(list []int) []int {
		out := make([]int, len(list))
		for n, i := range list {
			out[n] = opt.Blocks[i].Members[0]
		}
		return out
	}
	opt.Keep, opt.Forbid = number(opt.Keep), number(opt.Forbid)
	if opt.Most > 0 {
		sets := make([]int, len(opt.Blocks))
		for i, b := range opt.Blocks {
			sets[b.Members[0]] = opt.Sets[i]
		}
		opt.Sets = sets
	}
	opt.Blocks = nil
	return opt
}

func blocksOfFeatures(features []int, list []method.Block) []int {
	at := make(map[int]int, len(list))
	for i, b := range list {
		at[b.Members[0]] = i
	}
	out := make([]int, len(features))
	for n, j := range features {
		out[n] = at[j]
	}
	return out
}
