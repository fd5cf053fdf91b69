// Package spread is a toy method from outside: features of the widest range first.
package spread

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
)

// Specs declares it.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "spread", About: "features of the widest range first",
		From: method.FromProfile, Scale: gram.ScaleNone, New: func() method.Method { return new(spread) },
	}}
}

type spread struct{ narrowest bool }

func (s *spread) Options(o *method.Options) {
	o.Bool(&s.narrowest, "narrowest", "the narrowest range first")
}

func (*spread) Cost(s method.Shape) (method.Cost, error) {
	return method.Cost{Bytes: 16 * int64(len(s.Columns))}, nil
}

func (s *spread) Select(_ context.Context, e *method.Evidence) (*method.Ranking, error) {
	r := &method.Ranking{Scores: make([]float64, len(e.Columns)), LowerIsBetter: s.narrowest, Used: map[string]any{"narrowest": s.narrowest}}
	for j, column := range e.Std.Columns {
		p := e.Profile.Columns[column]
		r.Order, r.Scores[j] = append(r.Order, j), p.Max-p.Min
	}
	slices.SortStableFunc(r.Order, func(a, b int) int {
		if (r.Scores[a] > r.Scores[b]) != s.narrowest {
			return -1
		}
		return 1
	})
	return r, nil
}
