package blocks

import (
	"context"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
)

// Source supplies columns and blocks of G, in the engine's units.
type Source interface {
	// For each listed block i, with n features g, BlockGramsTo writes G_gg below its diagonal to the n×n matrix to[i].
	BlockGramsTo(ctx context.Context, list []method.Block, to [][]float64) error
	// GramColumns returns the columns of G that belong to the features. likely(room) lists up to room features whose
	// columns may be needed next, the likeliest first.
	GramColumns(ctx context.Context, features []int, likely func(room int) []int) ([][]float64, error)
	// RestartWithout starts another layer without the excluded features. If excluded is nil, it restarts the first.
	RestartWithout(ctx context.Context, excluded []bool) (*engine.Gram, error)
	ScoreUnit() float64
}

// InMemory is the Source of a Gram matrix G in memory.
type InMemory struct{ Engine *engine.Gram }

// BlockGramsTo implements Source: it writes the entries of G of each listed block.
func (s InMemory) BlockGramsTo(_ context.Context, list []method.Block, to [][]float64) error {
	m := s.Engine
	kernel.Each(m.Workers, len(list), func(i int) {
		members := list[i].Members
		for a, p := range members {
			for o, q := range members[:a] {
				to[i][a*len(members)+o] = m.GUnit * m.Matrix.At(p, q)
			}
		}
	})
	return nil
}

// GramColumns implements Source: it returns copies of the columns of G of the features.
func (s InMemory) GramColumns(_ context.Context, features []int, _ func(int) []int) ([][]float64, error) {
	out := make([][]float64, len(features))
	for i, p := range features {
		out[i] = s.Engine.ColumnTo(make([]float64, s.Engine.D), p)
	}
	return out, nil
}

// RestartWithout implements Source: it starts another layer without the excluded features.
func (s InMemory) RestartWithout(ctx context.Context, excluded []bool) (*engine.Gram, error) {
	_, err := s.Engine.StartNextLayer(ctx, excluded)
	return s.Engine, err
}

// ScoreUnit implements Source: it returns the factor that converts scores to the units of the data.
func (s InMemory) ScoreUnit() float64 { return s.Engine.ScoreUnit() }
