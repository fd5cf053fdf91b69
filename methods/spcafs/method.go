package spcafs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares SPCAFS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "spcafs", About: "principal components with a sparsity of rows (Li, Nie, Bian, Wu, Li 2021)",
		Guide: method.Guide{
			When:    "a table of the paper",
			Time:    "the eigenvectors of a d×d matrix, or with n×n factors of few rows, in each iteration",
			Caution: "a large gamma makes it slow and fails on wide data; on one of four sets it was far better than random features, on the others worse",
		}, From: method.FromGram,
		Takes: method.Takes{
			Iterates: true,
			Weight:   true, Factor: true, Scales: []gram.Scale{gram.ScaleCenter, gram.ScaleStandard, gram.ScalePareto},
			WhyScales: stream.Textf("it compares variances: the columns must be centred"),
		},
		Scale: gram.ScaleStandard, New: func() method.Method { return new(spcafsMethod) },
	}}
}

// spcafsMethod is SPCAFS with its settings.
type spcafsMethod struct {
	lambda     method.Weights
	power      float64
	components int
	ends       method.Iteration // when the iteration ends
}

func (m *spcafsMethod) Options(o *method.Options) {
	o.Weights(&m.lambda, "gamma", "weight of the row sparsity, the paper's λ (default 0.1x)").
		Bound(func() bool { return m.lambda.First() > 0 }, "want a number above 0")
	o.Float(&m.power, "exponent", defaultPower, "`P` of the sum of the p-th powers of the row norms").
		Bound(func() bool { return m.power > 0 && m.power <= 1 }, "want a number above 0 and at most 1")
	o.Int(&m.components, "components", defaultComponents, "`M` principal components").
		Bound(func() bool { return m.components >= 1 }, "want 1 or more")
	m.ends.Declare(o, "50", "1e-6", "falls")
}

func (m *spcafsMethod) selectOptions(threads int) Options {
	opt := Options{Power: m.power, Components: m.components, MaxIter: m.ends.Most, Tol: m.ends.Tol, Threads: threads}
	if len(m.lambda) > 0 {
		opt.Lambda = m.lambda[0]
	}
	return opt.WithDefaults()
}

func (m *spcafsMethod) Cost(s method.Shape) (method.Cost, error) {
	if s.OutOfCore { // SPCAFS has no form that reads the rows again
		return method.Cost{Bytes: method.Unaffordable, Least: method.Unaffordable}, nil
	}
	opt := m.selectOptions(s.Threads)
	return method.Cost{Bytes: RankingBytes(len(s.Columns), s.Rank, opt), Iterations: opt.MaxIter}, nil
}

func (m *spcafsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := m.selectOptions(e.Threads)
	opt.Progress = e.Iteration
	res, err := RankFeatures(ctx, &e.Gram.Matrix, opt)
	if err != nil {
		return nil, err
	}
	out := res.ToRanking()
	out.Warnings = res.Warnings
	out.Used = map[string]any{
		"gamma": method.Weights{opt.Lambda}.Record(), "exponent": opt.Power, "components": opt.Components,
		"max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	return out, nil
}
