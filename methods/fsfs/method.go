package fsfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares FSFS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "fsfs", About: "one feature of each group of alike ones (Mitra, Murthy, Pal 2002)",
		Guide: method.Guide{
			When:    "one column of each group of copies",
			Time:    "a test of all d² pairs",
			Caution: "one nearly constant column replaces all others like it: for clusters it was worse than random features",
		}, From: method.FromGram,
		Takes: method.Takes{
			Turns:  true,
			Weight: true, Factor: true, Scales: []gram.Scale{gram.ScaleCenter, gram.ScaleStandard, gram.ScalePareto},
			WhyScales: stream.Textf("it compares covariances: the columns must be centred"),
		},
		Scale: gram.ScaleCenter, New: func() method.Method { return new(fsfsMethod) },
	}}
}

// fsfsMethod is FSFS with its setting.
type fsfsMethod struct{ neighbors int }

func (m *fsfsMethod) Options(o *method.Options) {
	o.Int(&m.neighbors, "neighbors", 0, "number of features discarded for the first kept one (default: the largest that leaves as many features as wanted)").
		Bound(func() bool { return m.neighbors >= 1 }, "want 1 or more")
}

func (m *fsfsMethod) Cost(s method.Shape) (method.Cost, error) {
	if s.OutOfCore { // FSFS has no form that reads the rows again
		return method.Cost{Bytes: method.Unaffordable, Least: method.Unaffordable}, nil
	}
	return method.Cost{Bytes: Bytes(len(s.Columns), s.Rank)}, nil
}

func (m *fsfsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	res, err := Select(ctx, &e.Gram.Matrix, Options{K: e.K, Neighbors: m.neighbors, Threads: e.Threads})
	if err != nil {
		return nil, err
	}
	out := &method.Ranking{Order: res.Order, Turns: res.Turns, LowerIsBetter: true, Used: map[string]any{}}
	for i := range out.Turns {
		out.Turns[i] /= e.Gram.Weight
	}
	if res.Neighbors > 0 {
		out.Used["neighbors"] = res.Neighbors
	}
	if n := len(res.Order); n < e.K {
		out.Warnings = append(out.Warnings, stream.Textf("{neighbors} %d leaves %d of the %d features wanted; a smaller one leaves more", m.neighbors, n, e.K))
	}
	return out, nil
}
