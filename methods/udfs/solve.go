package udfs

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// runUpdates ranks the d features by updates of W, until the objective hardly changes.
func runUpdates(ctx context.Context, s *rowsparse.Solver, d int, opt Options) (*Result, error) {
	r := &Result{}
	u, best, isMean := new(rowsparse.Projection), new(rowsparse.Projection), false
	state := func() []any { return append([]any{&isMean, &r.Objective}, s.SavedState(u, best)...) }
	stage := stream.StageOf(opt.Stages, "rows", stream.InMemory{})
	progress, err := stage.Load(ctx, state()...)
	if err == nil && progress == stream.StageNew {
		if u, isMean, err = s.FirstUpdate(); err != nil {
			err = fmt.Errorf("udfs: %w", err)
		}
		best = u
	}
	if err != nil {
		return nil, err
	}
	if isMean {
		r.addWarning("more than %d directions cost nothing, as when features outnumber rows: the iteration started from the mean of all choices", opt.Clusters)
	}
	for t := len(r.Objective) + 1; ; t++ {
		if !r.RecordStep(t, u.Objective, u.AllowedRise(best), opt.Tol, opt.Progress) {
			break
		}
		if best = u; r.Converged || t == opt.MaxIter {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if u, err = s.NextUpdate(best); err != nil {
			return nil, fmt.Errorf("udfs: %w", err)
		}
		if err := stage.Save(ctx, t, state()...); err != nil {
			return nil, err
		}
	}
	r.Scores = best.Norms
	r.Order, r.Ties = method.Rank(best.Norms, rowsparse.AreTied)
	if opt.Clusters == d {
		r.addWarning("{clusters} %d for as many features leave every feature the same norm: column order decides; want fewer {clusters}", opt.Clusters)
	} else if !s.HasKnownNorms(best) {
		r.addWarning("eigenvalues %d and %d of the last update are equal to rounding: another W costs as little and may rank otherwise; try another {clusters}", opt.Clusters, opt.Clusters+1)
	}
	return r, nil
}
