package sfufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

func subsetSpec() method.Spec {
	return method.Spec{
		Name: "sfesa", About: "features whose subspace keeps neighbours together, like sfufs with a fixed number of features (Wang, Wang, Nie, Li 2023)",
		Guide: method.Guide{
			When:    "a table of the paper",
			Time:    "m·d² once, then eigenvectors of a k×k matrix in each iteration",
			Caution: "it prefers columns that hardly vary: on three of four public sets random features did better",
		}, From: method.FromGraph, Takes: method.Takes{Turns: true, Iterates: true, Factor: true, Sketch: true, NoCross: true}, Scale: gram.ScaleStandard,
		New: func() method.Method { return new(subsetMethod) },
	}
}

// subsetMethod is SFESA with its settings.
type subsetMethod struct {
	alpha               method.Weights
	components, maxIter int
}

func (m *subsetMethod) Options(o *method.Options) {
	o.PlainWeights(&m.alpha, "alpha", "weight of the regression (default 1)", "sfesa").Refuse(func(string) error {
		if m.alpha.First() == 0 {
			return stream.Usagef("{alpha} 0: want a number above 0")
		}
		return SubsetOptions{K: 1, Alpha: m.alpha.First()}.CheckBounds(1)
	})
	o.Int(&m.components, "components", 0, "`M` dimensions of the subspace, at most one for each chosen feature (default: 10, but at most one for two)").
		Bound(func() bool { return m.components >= 1 }, "want 1 or more")
	o.Int(&m.maxIter, "max-iter", defaultMaxIter, "at most `N` iterations").
		Bound(func() bool { return m.maxIter >= 1 }, "want 1 or more")
}

func (m *subsetMethod) subsetOptions(k, threads int) SubsetOptions {
	return SubsetOptions{K: max(k, 1), Components: m.components, Alpha: m.alpha.First(), MaxIter: m.maxIter, Threads: threads}.WithDefaults()
}

func (m *subsetMethod) Cost(s method.Shape) (method.Cost, error) {
	d, k := len(s.Columns), s.K
	if k < 1 || k > d { // not known yet
		k = d
	}
	opt := m.subsetOptions(k, s.Threads)
	return method.Cost{Bytes: SubsetBytes(d, s.Anchors, s.Rank, opt), Iterations: opt.MaxIter}, nil
}

// ByPanels implements method.ByPanels: panels of the factor suffice.
func (m *subsetMethod) ByPanels() bool { return true }

func (m *subsetMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := m.subsetOptions(e.K, e.Threads)
	opt.Progress = e.Iteration
	res, err := SelectSubset(ctx, e.Graph, opt)
	if err != nil {
		return nil, err
	}
	out := res.ToRanking()
	out.Scores = nil
	for _, j := range res.Order {
		out.Turns = append(out.Turns, res.Scores[j])
	}
	out.Used = map[string]any{"alpha": opt.Alpha, "components": opt.Components, "max-iter": opt.MaxIter}
	if out.Warnings = res.Warnings; 2*e.K < e.Graph.D {
		out.Warnings = append(out.Warnings, stream.Textf("the constraint WᵀW = I of the paper prefers features that hardly vary beyond what the graph explains, so that few features chosen by it can be worse than random ones"))
	}
	return out, nil
}
