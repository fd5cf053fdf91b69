package rufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/inmemory"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares RUFS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "rufs", About: "features that determine clusters, robustly against outlying rows (Qian, Zhai 2013)",
		Guide: method.Guide{
			When:    "clusters that only a few of many columns show, while the others vary more",
			Time:    "n²·d for the neighbours of n rows in memory, then n·d·min(n, d) in each round",
			Caution: "on public sets random features did better",
		},
		From: method.FromRows, Scale: gram.ScaleMinMax,
		Takes: method.Takes{
			Iterates: true, Scales: []gram.Scale{gram.ScaleNone, gram.ScaleMinMax, gram.ScaleUnit},
			WhyScales: stream.Textf("clusters and their centres are not negative in the model of rufs; want minmax, or none or unit where no value is negative"),
		},
		New: func() method.Method { return new(rufsMethod) },
	}}
}

// rufsMethod is RUFS with its settings.
type rufsMethod struct {
	alpha, beta method.Weights
	nu          float64
	neighbors   int
	clusters    int
	ends        method.Iteration // when the iteration ends
}

func (m *rufsMethod) Options(add *method.Options) {
	add.PlainWeights(&m.alpha, "alpha", "weight of the projection onto the clusters (default 1)", "rufs").
		Bound(func() bool { return m.alpha.First() > 0 }, "want a number above 0")
	add.PlainWeights(&m.beta, "beta", "weight of the row sparsity (default 1)", "rufs")
	add.Float(&m.nu, "nu", defaultWeight, "weight of the prediction of a row's clusters by its neighbours (default 1)").
		Bound(func() bool { return m.nu >= 0 && m.nu-m.nu == 0 }, "want a number of at least 0")
	add.Int(&m.neighbors, "neighbors", defaultNeighbors, "`K` nearest rows that predict a row's clusters").
		Bound(func() bool { return m.neighbors >= 1 }, "want 1 or more")
	add.Clusters(&m.clusters)
	m.ends.Declare(add, "30", "1e-4", "falls")
}

func (m *rufsMethod) selectOptions(seed uint64, threads int) Options {
	opt := Options{
		Nu: m.nu, Alpha: m.alpha.First(), Beta: m.beta.First(), Neighbors: m.neighbors, Clusters: m.clusters,
		MaxIter: m.ends.Most, Tol: m.ends.Tol, Seed: seed, Threads: threads,
	}
	if m.nu == 0 {
		opt.Nu = -1
	}
	if len(m.beta) > 0 && opt.Beta == 0 {
		opt.Beta = -1
	}
	return opt
}

// Cost implements method.Method. All rows must fit into memory, because any of them may be a neighbour.
func (m *rufsMethod) Cost(s method.Shape) (method.Cost, error) {
	opt := m.selectOptions(0, s.Threads)
	return inmemory.PlanCost(s, func(n int64, d int) (int64, int) { return Bytes(n, d, opt), opt.WithDefaults(n).MaxIter }), nil
}

func (m *rufsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	x, passes, err := inmemory.ReadRows(ctx, e)
	if err != nil {
		return nil, err
	}
	opt := m.selectOptions(e.Seed, e.Threads)
	opt.Progress, opt.Stages = e.Iteration, e.Stages
	res, err := Select(ctx, x.Data, x.Rows, x.Cols, opt)
	if err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(e.Rows)
	out := res.ToRanking()
	out.Passes = passes
	out.Used = map[string]any{
		"nu": opt.Nu, "alpha": opt.Alpha, "beta": opt.Beta, "neighbors": opt.Neighbors, "clusters": opt.Clusters,
		"max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	if res.Clusters < opt.Clusters {
		out.Warnings = append(out.Warnings, stream.Textf("the rows fall into %d clusters only, of {clusters} %d", res.Clusters, opt.Clusters))
	}
	return out, nil
}
