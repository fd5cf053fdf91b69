package cdlfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares CDL-FS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "cdlfs", About: "a row-sparse dictionary that encodes the rows for another dictionary (Zhu, Hu, Zhang, Zuo 2016)",
		Guide: method.Guide{
			When:    "a table of the paper",
			Time:    "a factor of a d×d matrix, or n×n of few rows, in each iteration",
			Caution: "the choice settles only after some hundred iterations, and was no better than random features on one of three sets",
		}, From: method.FromGram,
		Takes: method.Takes{
			Iterates: true,
			Weight:   true, Factor: true, Scales: []gram.Scale{gram.ScaleCenter, gram.ScaleStandard, gram.ScalePareto},
			WhyScales: stream.Textf("it encodes deviations from the mean: the columns must be centred"),
		},
		Scale: gram.ScaleStandard, New: func() method.Method { return new(cdlfsMethod) },
	}}
}

// cdlfsMethod is CDL-FS with its settings.
type cdlfsMethod struct {
	tau        method.Weights
	power      float64
	components int
	ends       method.Iteration // when the iteration ends
}

func (m *cdlfsMethod) Options(o *method.Options) {
	o.Weights(&m.tau, "alpha", "weight of the row sparsity, the paper's τ (default 0.1x)").
		Bound(func() bool { return m.tau.First() > 0 }, "want a number above 0")
	o.Float(&m.power, "exponent", defaultPower, "`P` of the sum of the p-th powers of the row norms").
		Bound(func() bool { return m.power > 0 && m.power <= 1 }, "want a number above 0 and at most 1")
	o.Int(&m.components, "components", defaultComponents, "`C` columns of a dictionary").
		Bound(func() bool { return m.components >= 1 }, "want 1 or more")
	m.ends.Declare(o, "500", "1e-5", "falls")
}

func (m *cdlfsMethod) selectOptions(threads int) Options {
	opt := Options{Power: m.power, Components: m.components, MaxIter: m.ends.Most, Tol: m.ends.Tol, Threads: threads}
	if len(m.tau) > 0 {
		opt.Tau = m.tau[0]
	}
	return opt.WithDefaults()
}

func (m *cdlfsMethod) Cost(s method.Shape) (method.Cost, error) {
	if s.OutOfCore { // CDL-FS has no form that reads the rows again
		return method.Cost{Bytes: method.Unaffordable, Least: method.Unaffordable}, nil
	}
	opt := m.selectOptions(s.Threads)
	return method.Cost{Bytes: Bytes(len(s.Columns), s.Rank, opt), Iterations: opt.MaxIter}, nil
}

func (m *cdlfsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := m.selectOptions(e.Threads)
	opt.Progress = e.Iteration
	res, err := Select(ctx, &e.Gram.Matrix, opt)
	if err != nil {
		return nil, err
	}
	out := res.ToRanking()
	out.Warnings = res.Warnings
	out.Used = map[string]any{
		"alpha": method.Weights{opt.Tau}.Record(), "exponent": opt.Power, "components": opt.Components,
		"max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	return out, nil
}
