package pca

import (
	"cmp"
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares pcalrg and pfa.
func Specs() []method.Spec {
	takes := method.Takes{
		Turns: true, Weight: true, Factor: true,
		Scales:    []gram.Scale{gram.ScaleCenter, gram.ScaleStandard, gram.ScalePareto, gram.ScaleRank},
		WhyScales: stream.Textf("it uses principal components: the columns must be centred"),
	}
	nested := takes
	nested.Nested = true
	return []method.Spec{
		{
			Name: "pcalrg", About: "the feature of largest loading on each principal component (Jolliffe 1972)",
			Guide: method.Guide{
				When:    "one feature for each of the main directions of the data; tables of papers",
				Time:    "the k leading eigenvectors of a d×d matrix, or n×n of few rows",
				Caution: "directions share features: it does not look for redundancy among the chosen ones",
			},
			From: method.FromGram, Takes: nested, Scale: gram.ScaleStandard,
			New: func() method.Method { return new(componentMethod) },
		},
		{
			Name: "pfa", About: "one feature of each cluster of features with alike loadings (Lu et al. 2007)",
			Guide: method.Guide{
				When:    "one feature for each group of features that follow the same directions; tables of papers",
				Time:    "the leading eigenvectors of a d×d matrix, or n×n of few rows, and k-means of d rows",
				Caution: "clusters of few features count as much as large ones, and k-means depends on the seed",
			},
			From: method.FromGram, Takes: takes, Scale: gram.ScaleStandard,
			New: func() method.Method { return &componentMethod{isClustered: true} },
		},
	}
}

// componentMethod is pcalrg or pfa with its setting.
type componentMethod struct {
	isClustered bool // the method is pfa
	components  method.ComponentCount
}

func (m *componentMethod) Options(o *method.Options) {
	if m.isClustered {
		o.DeclareComponents(&m.components, defaultComponents)
	}
}

func (m *componentMethod) Cost(s method.Shape) (method.Cost, error) {
	switch d := len(s.Columns); {
	case s.OutOfCore: // there is no form that reads the rows again
		return method.Cost{Bytes: method.Unaffordable, Least: method.Unaffordable}, nil
	case m.isClustered:
		return method.Cost{Bytes: PrincipalBytes(d, s.Rank, s.K, s.Threads, m.components)}, nil
	default:
		return method.Cost{Bytes: LargestBytes(d, s.Rank, s.K)}, nil
	}
}

func (m *componentMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := Options{K: cmp.Or(e.K, e.Gram.D), Components: m.components, Seed: e.Seed, Threads: e.Threads}
	out := &method.Ranking{Used: map[string]any{}}
	var r *Result
	var err error
	if m.isClustered {
		out.Used["components"] = m.components.ToText()
		r, err = SelectPrincipal(ctx, &e.Gram.Matrix, opt)
	} else {
		r, err = SelectLargest(&e.Gram.Matrix, opt)
	}
	if err != nil {
		return nil, err
	}
	out.Order, out.Turns, out.Warnings = r.Order, r.Turns, r.Warnings
	return out, nil
}
