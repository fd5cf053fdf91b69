package sogfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/inmemory"
	"github.com/ufs-stream/ufs-stream/method"
)

// Specs declares SOGFS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "sogfs", About: "a projection of few features found together with a graph of the rows in clusters (Nie, Zhu, Li 2016)",
		Guide: method.Guide{
			When:    "a table of the paper",
			Time:    "n²·d for the neighbours of n rows in memory, then eigenvectors of an n×n and of a d×d matrix in each round",
			Caution: "it favours columns that hardly vary between neighbours",
		},
		From: method.FromRows, Rows: inmemory.Anchors, Takes: method.Takes{Iterates: true}, Scale: gram.ScaleStandard,
		New: func() method.Method { return new(sogfsMethod) },
	}}
}

// sogfsMethod is SOGFS with its settings.
type sogfsMethod struct {
	gamma      method.Weights
	neighbors  int
	clusters   int
	dimensions int
	ends       method.Iteration // when the iteration ends
}

func (m *sogfsMethod) Options(add *method.Options) {
	add.PlainWeights(&m.gamma, "gamma", "weight of the row sparsity (default 0.01)", "sogfs")
	add.Int(&m.neighbors, "neighbors", defaultNeighbors, "at most `K` rows are similar to a row").
		Bound(func() bool { return m.neighbors >= 1 }, "want 1 or more")
	add.Clusters(&m.clusters)
	add.Int(&m.dimensions, "dimensions", 0, "project the rows on `M` dimensions (default: as many as clusters)").
		Bound(func() bool { return m.dimensions >= 1 }, "want 1 or more")
	m.ends.Declare(add, "50", "1e-4", "falls")
}

func (m *sogfsMethod) selectOptions(threads int) Options {
	opt := Options{
		Gamma: m.gamma.First(), Neighbors: m.neighbors, Clusters: m.clusters, Dimensions: m.dimensions,
		MaxIter: m.ends.Most, Tol: m.ends.Tol, Threads: threads,
	}
	if len(m.gamma) > 0 && opt.Gamma == 0 {
		opt.Gamma = -1
	}
	return opt
}

// Cost implements method.Method.
func (m *sogfsMethod) Cost(s method.Shape) (method.Cost, error) {
	opt := m.selectOptions(s.Threads)
	return inmemory.PlanCost(s, func(n int64, d int) (int64, int) { return RankBytes(n, d, opt), opt.WithDefaults(n, d).MaxIter }), nil
}

func (m *sogfsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	x, passes, err := inmemory.ReadRows(ctx, e)
	if err != nil {
		return nil, err
	}
	opt := m.selectOptions(e.Threads)
	opt.Progress, opt.Stages = e.Iteration, e.Stages
	res, err := RankFeatures(ctx, x.Data, x.Rows, x.Cols, opt)
	if err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(e.Rows, x.Cols)
	out := res.ToRanking()
	out.Passes, out.Warnings = passes, res.Warnings
	out.Used = map[string]any{
		"gamma": opt.Gamma, "neighbors": opt.Neighbors, "clusters": opt.Clusters, "dimensions": opt.Dimensions,
		"max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	return out, nil
}
