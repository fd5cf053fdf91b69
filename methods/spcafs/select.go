package spcafs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the objective and the conditions for stopping. A zero field means its default.
type Options struct {
	// Lambda is λ for G divided by Tr(G). A share is multiplied by the λ at which the penalty of the first W equals the
	// variance that it explains; default 0.1 of it.
	Lambda     method.Weight
	Power      float64 // p, above 0 and at most 1; default 0.5
	Components int     // m; default 10, at most the rank of G
	MaxIter    int     // number of W's; default 50
	Tol        float64 // relative change of the objective at which to stop; default 1e-6, negative never stops early
	Threads    int     // 0 means GOMAXPROCS; the answer does not depend on it
	Progress   func(iteration int, objective float64)
}

const (
	defaultShare      = 0.1
	defaultPower      = 0.5
	defaultComponents = 10
	defaultMaxIter    = 50
	defaultTol        = 1e-6
)

// CheckBounds reports every fault of o in one *stream.UsageError.
func (o Options) CheckBounds() error {
	var faults stream.Faults
	method.RefuseWeight(&faults, "{gamma}", o.Lambda.Value)
	if !(o.Power >= 0 && o.Power <= 1) {
		faults.Addf("{exponent} = %v is not above 0 and at most 1", o.Power)
	}
	method.RefuseNegative(&faults, "{components}", o.Components)
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	method.RefuseInfinite(&faults, "{tol}", o.Tol)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults.
func (o Options) WithDefaults() Options {
	if o.Lambda.Value == 0 {
		o.Lambda = method.Weight{Value: defaultShare, Share: true}
	}
	o.Power = cmp.Or(o.Power, defaultPower)
	o.Components = cmp.Or(o.Components, defaultComponents)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	return o
}

// Result is a ranking of all d features.
type Result struct {
	method.Descent         // its scores are ‖wᵢ‖; its objective is that of the package comment, divided by Tr(G)
	Lambda         float64 // absolute value of λ, also if it was given as a share
	Warnings       []stream.Text
}

// RankingBytes bounds the memory of RankFeatures in addition to G. If rank is not 0, G is a factor of `rank` rows.
func RankingBytes(d, rank int, opt Options) int64 {
	c := min(opt.WithDefaults().Components, cmp.Or(rank, d))
	return room.Measure(func(l *room.Layout) {
		l.Phase(func() { l.Add(spectral.ComponentsBytes(d, rank, c)) })
		l.Add(8 * (int64(rank)*int64(rank) + int64(c)*int64(d))) // RRᵀ, and the components
		l.Add(rowsparse.ComponentSolverBytes(d, rank, c))
	})
}

// RankFeatures ranks d features by the Gram matrix of their centred columns, which it does not modify. It needs the memory
// given by [RankingBytes]. It costs the m+1 leading eigenpairs of G or, for a factor of n rows, of RRᵀ, and then the m+1
// smallest eigenpairs of a matrix of order d for each W, with factors that cost d³/3 or n²·d flops. Errors are a
// *stream.UsageError for wrong options, a *stream.DataError for features that are all constant, the context's error, or
// an error that wraps an error of package linalg.
func RankFeatures(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.CheckBounds(); err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		panic(fmt.Sprintf("spcafs: %v", err))
	}
	opt = opt.WithDefaults()
	team, r := kernel.NewTeam(opt.Threads), &Result{}
	start, err := spectral.FindComponents(team, g, min(opt.Components, cmp.Or(g.Rank, g.D)), 0)
	if err != nil {
		return nil, fmt.Errorf("spcafs: %w", err)
	}
	solver, first := rowsparse.NewComponentSolver(team, g, start, opt.Power, func(explained, penalty float64) float64 {
		r.Lambda = opt.Lambda.Of(explained / penalty)
		return r.Lambda
	})
	c := len(start.Values)
	if c < opt.Components {
		r.addWarning("the features span %d dimensions, fewer than {components} %d: there are as many components", c, opt.Components)
	}
	if c == g.D {
		r.addWarning("{components} %d for as many features leave every feature the same norm: column order decides; want fewer {components}", c)
	}
	if start.Tied[c-1] {
		r.addWarning("eigenvalues %d and %d are equal to rounding: another start explains as much and may rank otherwise; try another {components}", c, c+1)
	}
	last, err := r.runUpdates(ctx, solver, first, opt)
	if errors.Is(err, linalg.ErrNoConvergence) {
		return nil, stream.Errorf("{gamma} makes too many features equally good; lower it: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if last != first && !solver.HasKnownNorms(last) {
		r.addWarning("eigenvalues %d and %d of the last update are equal to rounding: another W costs as little and may rank otherwise; try another {components}", c, c+1)
	}
	return r, nil
}

func (r *Result) runUpdates(ctx context.Context, solver *rowsparse.Solver, u *rowsparse.Projection, opt Options) (*rowsparse.Projection, error) {
	best := u
	for t := 1; ; t++ {
		if !r.RecordStep(t, u.Objective, u.AllowedRise(best), opt.Tol, opt.Progress) {
			break
		}
		if best = u; r.Converged || t == opt.MaxIter {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if u, err = solver.NextUpdate(best); err != nil {
			return nil, err
		}
	}
	r.Scores = best.Norms
	r.Order, r.Ties = method.Rank(best.Norms, rowsparse.AreTied)
	return best, nil
}

func (r *Result) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, stream.Textf(format, args...))
}
