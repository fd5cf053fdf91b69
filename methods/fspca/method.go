package fspca

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares FSPCA.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "fspca", About: "the features on which a subspace has the most variance (Tian, Nie, Wang, Li 2020)",
		Guide: method.Guide{
			When:    "a table of the paper",
			Time:    "the leading eigenvectors of a d×d matrix, or n×n of few rows, then of k×k in each iteration",
			Caution: "features that vary together are chosen together, copies too: for clusters it was mostly worse than random features",
		}, From: method.FromGram,
		Takes: method.Takes{
			Turns: true, Iterates: true,
			Weight: true, Factor: true, Scales: []gram.Scale{gram.ScaleCenter, gram.ScaleStandard, gram.ScalePareto},
			WhyScales: stream.Textf("it compares variances: the columns must be centred"),
		},
		Scale: gram.ScaleStandard, New: func() method.Method { return new(fspcaMethod) },
	}}
}

// fspcaMethod is FSPCA with its settings.
type fspcaMethod struct{ components, maxIter int }

func (m *fspcaMethod) Options(o *method.Options) {
	o.Int(&m.components, "components", 0, "`M` dimensions of the subspace, at most one for each chosen feature (default: 10, but at most one for two)").
		Bound(func() bool { return m.components >= 1 }, "want 1 or more")
	o.Int(&m.maxIter, "max-iter", defaultMaxIter, "at most `N` iterations").
		Bound(func() bool { return m.maxIter >= 1 }, "want 1 or more")
}

func (m *fspcaMethod) selectOptions(k, threads int) Options {
	return Options{K: max(k, 1), Components: m.components, MaxIter: m.maxIter, Threads: threads}
}

func (m *fspcaMethod) Cost(s method.Shape) (method.Cost, error) {
	if s.OutOfCore { // FSPCA has no form that reads the rows again
		return method.Cost{Bytes: method.Unaffordable, Least: method.Unaffordable}, nil
	}
	d := len(s.Columns)
	k := s.K
	if k < 1 || k > d { // not known yet
		k = d
	}
	opt := m.selectOptions(k, s.Threads)
	return method.Cost{Bytes: Bytes(d, s.Rank, opt), Iterations: opt.WithDefaults().MaxIter}, nil
}

func (m *fspcaMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := m.selectOptions(e.K, e.Threads)
	opt.Progress = e.Iteration
	res, err := Select(ctx, &e.Gram.Matrix, opt)
	if err != nil {
		return nil, err
	}
	out := res.ToRanking()
	out.Scores = nil
	for _, j := range res.Order {
		out.Turns = append(out.Turns, res.Scores[j])
	}
	opt = opt.WithDefaults()
	out.Used, out.Warnings = map[string]any{"components": opt.Components, "max-iter": opt.MaxIter}, res.Warnings
	return out, nil
}
