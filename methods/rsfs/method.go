package rsfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/inmemory"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares RSFS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "rsfs", About: "a sparse regression onto clusters of the rows with single wrong entries (Shi, Du, Shen 2014)",
		Guide: method.Guide{
			When:    "a table of the paper",
			Time:    "n²·d for the neighbours of n rows in memory, eigenvectors of an n×n matrix, then a factor of a d×d matrix, or n×n of few rows, in each round",
			Caution: "its clusters hardly change after the start",
		},
		From: method.FromRows, Rows: inmemory.Anchors, Takes: method.Takes{Iterates: true}, Scale: gram.ScaleStandard,
		New: func() method.Method { return new(rsfsMethod) },
	}}
}

// rsfsMethod is RSFS with its settings.
type rsfsMethod struct {
	alpha, beta, gamma method.Weights
	nu                 method.Weight
	neighbors          int
	clusters           int
	ends               method.Iteration // when the iteration ends
}

func (m *rsfsMethod) Options(add *method.Options) {
	add.PlainWeights(&m.alpha, "alpha", "weight of the regression onto the clusters (default 1)", "rsfs").
		Bound(func() bool { return m.alpha.First() > 0 }, "want a number above 0")
	add.Weights(&m.beta, "beta", "weight of the row sparsity (default 0.1x)")
	add.Weight(&m.nu, "errors", "weight of single wrong entries of the clusters, or a share of the weight that allows none (default 0.1x)").
		Bound(func() bool { return m.nu.Value > 0 }, "want a number above 0")
	add.PlainWeights(&m.gamma, "gamma", "weight that keeps the clusters orthogonal (default 1e8)", "rsfs").
		Bound(func() bool { return m.gamma.First() > 0 }, "want a number above 0")
	add.Int(&m.neighbors, "neighbors", defaultNeighbors, "`K` nearest rows that predict a row's clusters").
		Bound(func() bool { return m.neighbors >= 1 }, "want 1 or more")
	add.Clusters(&m.clusters)
	m.ends.Declare(add, "100", "1e-4", "falls")
}

func (m *rsfsMethod) selectOptions(seed uint64, threads int) Options {
	opt := Options{
		Alpha: m.alpha.First(), Beta: m.beta.Or(method.Weight{})[0], Nu: m.nu, Gamma: m.gamma.First(), Neighbors: m.neighbors, Clusters: m.clusters,
		MaxIter: m.ends.Most, Tol: m.ends.Tol, Seed: seed, Threads: threads,
	}
	if len(m.beta) > 0 && opt.Beta.Value == 0 {
		opt.Beta = method.Weight{Value: leastShare, Share: true}
	}
	return opt
}

// Cost implements method.Method.
func (m *rsfsMethod) Cost(s method.Shape) (method.Cost, error) {
	opt := m.selectOptions(0, s.Threads)
	return inmemory.PlanCost(s, func(n int64, d int) (int64, int) { return RankBytes(n, d, opt), opt.WithDefaults(n).MaxIter }), nil
}

func (m *rsfsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	x, passes, err := inmemory.ReadRows(ctx, e)
	if err != nil {
		return nil, err
	}
	opt := m.selectOptions(e.Seed, e.Threads)
	opt.Progress, opt.Stages = e.Iteration, e.Stages
	res, err := RankFeatures(ctx, x.Data, x.Rows, x.Cols, opt)
	if err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(e.Rows)
	out := res.ToRanking()
	out.Passes, out.Warnings = passes, res.Warnings
	out.Used = map[string]any{
		"alpha": opt.Alpha, "beta": method.Weights{opt.Beta}.Record(), "errors": opt.Nu.String(), "gamma": opt.Gamma,
		"neighbors": opt.Neighbors, "clusters": opt.Clusters, "max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	if res.Clusters < opt.Clusters {
		out.Warnings = append(out.Warnings, stream.Textf("the rows fall into %d clusters only, of {clusters} %d", res.Clusters, opt.Clusters))
	}
	return out, nil
}
