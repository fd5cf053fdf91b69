package engine

import (
	"context"
)

// Engine supplies exact numbers to the criterion: from G in memory ([Gram]), from passes over the rows (package
// outofcore), or from the columns of G of candidates (package sketching).
type Engine interface {
	// MakeExact stores the exact f of the listed features, and possibly of other features, in the criterion.
	MakeExact(ctx context.Context, features []int) error
	// TakeFeature adds p to the chosen features and returns its effect on the criterion, valid until the next call.
	TakeFeature(ctx context.Context, p int) (*Step, error)
	// StartNextLayer starts another layer. Excluded features were chosen before and do not take part: they are not
	// candidates, and not part of a target that is made of features.
	StartNextLayer(ctx context.Context, excluded []bool) (*Criterion, error)
	// ScoreUnit returns the factor that converts a score from the engine's units to the data's.
	ScoreUnit() float64
}

// Watcher is called with the criterion at the start of each turn, for scores by a sketch and for tests.
type Watcher func(c *Criterion)
