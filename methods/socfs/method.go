package socfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares SOCFS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "socfs", About: "a sparse projection onto orthogonal clusters that it finds along the way (Han, Kim 2015)",
		Guide: method.Guide{
			When:    "clusters, from a tenth of the features on",
			Time:    "a factor of a d×d matrix, or n×n of few rows, in each round",
			Caution: "middling where few features are chosen",
		},
		From: method.FromGraph, Takes: method.Takes{Iterates: true, Factor: true, Sketch: true}, Scale: gram.ScaleStandard,
		New: func() method.Method { return new(socfsMethod) },
	}}
}

// socfsMethod is SOCFS with its settings.
type socfsMethod struct {
	lambda, gamma method.Weights
	clusters      int
	ends          method.Iteration // when the iteration ends
}

func (m *socfsMethod) Options(add *method.Options) {
	add.Weights(&m.lambda, "alpha", "weight of the row sparsity (default 0.1x)")
	add.PlainWeights(&m.gamma, "gamma", "weight against negative encodings (default 100)", "socfs").
		Bound(func() bool { return m.gamma.First() > 0 }, "want a number above 0")
	add.Clusters(&m.clusters)
	m.ends.Declare(add, "50", "1e-5", "falls")
}

func (m *socfsMethod) selectOptions(threads int) Options {
	opt := Options{Gamma: m.gamma.First(), Clusters: m.clusters, MaxIter: m.ends.Most, Tol: m.ends.Tol, Threads: threads}
	opt.Lambda = m.lambdaWeight()
	return opt
}

func (m *socfsMethod) lambdaWeight() method.Weight {
	w := m.lambda.Or(method.Weight{Value: defaultShare, Share: true})[0]
	if w.Value == 0 {
		return method.Weight{Value: leastShare, Share: true}
	}
	return w
}

func (m *socfsMethod) Cost(s method.Shape) (method.Cost, error) {
	opt := m.selectOptions(s.Threads)
	return method.Cost{Bytes: Bytes(s.Anchors, len(s.Columns), s.Rank, opt), Iterations: opt.WithDefaults().MaxIter}, nil
}

func (m *socfsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := m.selectOptions(e.Threads)
	opt.Progress = e.Iteration
	res, err := Select(ctx, e.Graph, opt)
	if err != nil {
		return nil, err
	}
	opt = opt.WithDefaults()
	out := res.ToRanking()
	out.Warnings = stream.PlainTexts(res.Warnings)
	out.Used = map[string]any{
		"alpha": method.Weights{m.lambdaWeight()}.Record(), "gamma": opt.Gamma, "clusters": opt.Clusters,
		"max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	return out, nil
}
