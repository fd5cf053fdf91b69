package udfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/inmemory"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares UDFS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "udfs", About: "features that distinguish each row from its neighbourhood (Yang, Shen, Ma, Huang, Zhou 2011)",
		Guide: method.Guide{
			When:    "a table of the paper",
			Time:    "n²·d for the neighbours of n rows in memory, then eigenvectors of a d×d matrix in each iteration",
			Caution: "it favours columns that hardly vary: on public sets random features did better",
		},
		From: method.FromRows, Takes: method.Takes{Iterates: true}, Scale: gram.ScaleStandard,
		New: func() method.Method { return new(udfsMethod) },
	}}
}

// udfsMethod is UDFS with its settings.
type udfsMethod struct {
	lambda, gamma method.Weights
	neighbors     int
	clusters      int
	ends          method.Iteration // when the iteration ends
}

func (m *udfsMethod) Options(add *method.Options) {
	add.PlainWeights(&m.lambda, "alpha", "ridge of the scatter of a neighbourhood, the paper's λ (default 1000)", "udfs").
		Bound(func() bool { return m.lambda.First() > 0 }, "want a number above 0")
	add.PlainWeights(&m.gamma, "gamma", "weight of the row sparsity (default 0.1)", "udfs")
	add.Int(&m.neighbors, "neighbors", defaultNeighbors, "`K` nearest rows of a row's patch").
		Bound(func() bool { return m.neighbors >= 1 }, "want 1 or more")
	add.Clusters(&m.clusters)
	m.ends.Declare(add, "50", "1e-6", "falls")
}

func (m *udfsMethod) selectOptions(threads int) Options {
	opt := Options{
		Neighbors: m.neighbors, Lambda: m.lambda.First(), Gamma: m.gamma.First(), Clusters: m.clusters,
		MaxIter: m.ends.Most, Tol: m.ends.Tol, Threads: threads,
	}
	if len(m.gamma) > 0 && opt.Gamma == 0 {
		opt.Gamma = -1
	}
	return opt
}

// Cost implements method.Method. All rows must fit into memory, because any of them may be a neighbour.
func (m *udfsMethod) Cost(s method.Shape) (method.Cost, error) {
	opt := m.selectOptions(s.Threads)
	return inmemory.PlanCost(s, func(n int64, d int) (int64, int) { return Bytes(n, d, opt), opt.WithDefaults(n, d).MaxIter }), nil
}

func (m *udfsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	x, passes, err := inmemory.ReadRows(ctx, e)
	if err != nil {
		return nil, err
	}
	opt := m.selectOptions(e.Threads)
	opt.Progress, opt.Stages = e.Iteration, e.Stages
	res, err := Select(ctx, x.Data, x.Rows, x.Cols, opt)
	if err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(e.Rows, x.Cols)
	out := res.ToRanking()
	out.Passes, out.Warnings = passes, res.Warnings
	out.Used = map[string]any{
		"alpha": opt.Lambda, "gamma": opt.Gamma, "neighbors": opt.Neighbors, "clusters": opt.Clusters,
		"max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	if 2*e.K < x.Cols {
		// COIL20, 51 features: NMI is 31, and 73 for random features
		out.Warnings = append(out.Warnings, stream.Textf("the constraint WᵀW = I of the paper prefers features that hardly vary between neighbours, so that few features chosen by it can be worse than random ones"))
	}
	return out, nil
}
