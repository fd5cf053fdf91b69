package greedy

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares Algorithm 1, Algorithm 2, and Algorithm 1 for targets made from the anchor
// graph.
func Specs() []method.Spec {
	reconstructs := method.Takes{Keep: true, Variance: true, Weight: true, Nested: true}
	return []method.Spec{
		{
			Name: "greedy", About: "the features that best reconstruct all others (Farahat et al. 2013)",
			From: method.FromGram, Takes: reconstructs, Scale: gram.ScaleStandard,
			New: func() method.Method { return &declared{} },
		},
		{
			Name: "partgreedy", About: "the same for sums of random groups of features: faster where features are many",
			From: method.FromGram, Takes: reconstructs, Scale: gram.ScaleStandard,
			New: func() method.Method { return &declared{partitioned: true} },
		},
		{
			Name: "graphgreedy", About: "the features that best reconstruct what the anchor graph says of the rows: the smoothed data, or other targets (ours)",
			From: method.FromGraph, Scale: gram.ScaleStandard,
			Takes: method.Takes{Keep: true, Nested: true, WhyNotVariance: "counts what is explained of the data, and this method explains another target"},
			New:   func() method.Method { return &aimed{} },
		},
	}
}

// declared is Algorithm 1 or 2 with its settings.
type declared struct {
	partitioned bool
	partitions  int
}

func (m *declared) Options(o *method.Options) {
	if m.partitioned {
		o.Int(&m.partitions, "partitions", 0, "`C` random groups of features (default: 1 % of the features)").
			Bound(func() bool { return m.partitions >= 1 }, "want 1 or more")
	}
}

// groups is the number of groups for d features, 0 for Algorithm 1.
func (m *declared) groups(d int) int {
	switch {
	case !m.partitioned:
		return 0
	case m.partitions > 0:
		return m.partitions
	}
	return DefaultPartitions(d)
}

func (m *declared) Cost(s method.Shape) (method.Cost, error) {
	d := len(s.Columns)
	c := m.groups(d)
	if !s.OutOfCore {
		return method.Cost{Bytes: Bytes(d, s.K, c)}, nil
	}
	least := StreamBytes(d, s.K, c)
	cost := method.Cost{Bytes: max(s.Memory, least), Least: least}
	// At least f⁰ and a batch of candidates, at most f⁰ and two passes for every feature;
	// the profile of StreamPasses is there already.
	if start, err := StreamPasses(d, s.K, c, cost.Bytes); err == nil {
		cost.Passes = method.Passes{Least: start + 1, Most: start - 1 + 2*s.K,
			Why: "the Gram matrix does not fit, so the selector reads the rows again for every few features"}
	}
	return cost, nil
}

func (m *declared) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := options(e)
	opt.Partitioned, opt.Partitions = m.partitioned, m.partitions
	if e.Gram != nil {
		res, err := Select(ctx, e.Gram.Sym, e.Gram.D, opt)
		if err != nil {
			return nil, err
		}
		return res.ranking(e), nil
	}
	for i, k := range opt.Keep { // here they have the numbers of the source's columns
		opt.Keep[i] = e.Std.Columns[k]
	}
	res, _, err := SelectStream(ctx, e.Source, StreamOptions{
		Options: opt, Scale: e.Scale, Fill: e.Fill, Profile: e.Profile, Memory: e.Memory, Meter: e.Meter, Pass: e.Pass,
	})
	if err != nil {
		return nil, err
	}
	return res.ranking(e), nil
}

func options(e *method.Evidence) Options {
	return Options{K: e.K, Variance: e.Variance, Keep: slices.Clone(e.Keep), Seed: e.Seed, Threads: e.Threads}
}

// ranking is the result in the form of all methods.
func (r *Result) ranking(e *method.Evidence) *method.Ranking {
	out := &method.Ranking{
		Order: r.Order, Turns: r.Scores, Error: r.Error, Explained: r.Explained, Nearest: r.Nearest,
		Objective: slices.Concat([]float64{1}, r.Error), Passes: r.Passes, Used: map[string]any{},
	}
	if r.Groups != nil {
		out.Used["partitions"] = slices.Max(r.Groups) + 1
	}
	for _, t := range r.Ties {
		others := "1 feature"
		if n := len(t.Columns); n > 1 {
			others = stream.Textf("%d features", n).String()
		}
		out.Warnings = append(out.Warnings, stream.Textf("rank %d: %s was taken before %s with an equal score, the first being %s: the first in column order wins",
			t.Turn+1, e.Columns[r.Order[t.Turn]].Name, others, e.Columns[t.Columns[0]].Name))
	}
	out.Warnings = append(out.Warnings, r.Warnings...)
	return out
}
