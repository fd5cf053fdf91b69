package socfs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a ranking of all d features.
type Result struct {
	method.Descent         // its scores are ‖wᵢ‖, for X scaled as in the package comment
	Lambda         float64 // absolute value of λ, also if it was given as a share
	Clusters       int     // number of columns of E; fewer than requested if the anchors form fewer groups
	Warnings       []string
}

// Select ranks the features of g, which it does not modify. It needs the memory given by [Bytes]. A round costs a
// Cholesky factorization of order d, or of order n if G is a factor of n rows, and about 6·m²·c flops for each update
// of E. Errors are a *stream.UsageError for wrong options, a *stream.DataError for features that are all constant or a
// graph without clusters, the context's error, or an error that wraps an error of package linalg.
func Select(ctx context.Context, g *anchor.Graph, opt Options) (*Result, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults()
	team := kernel.NewTeam(opt.Threads)
	f, warnings, err := initialIndicators(ctx, team, g, min(opt.Clusters, g.M))
	if err != nil {
		return nil, err
	}
	s, err := newSolver(team, g, f)
	if err != nil {
		return nil, err
	}
	r, err := s.runRounds(ctx, opt)
	if err != nil {
		return nil, err
	}
	if s.c < opt.Clusters {
		warnings = append([]string{fmt.Sprintf("%d clusters of %d anchors: there are %d", opt.Clusters, g.M, s.c)}, warnings...)
	}
	r.Warnings = warnings
	return r, nil
}

func (s *solver) runRounds(ctx context.Context, opt Options) (*Result, error) {
	lambda := opt.Lambda.Of(s.largestLambda())
	if lambda == 0 { // least squares with dependent features have no unique solution
		lambda = leastShare * s.largestLambda()
	}
	if err := s.solveInitial(lambda); err != nil {
		return nil, err
	}
	r := &Result{Lambda: lambda, Clusters: s.c}
	best, last := s.norms, 0.0
	for t := 1; t <= opt.MaxIter; t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.updateEncodingTarget()
		if err := s.encoding.iterateEncoding(opt.Gamma, opt.Inner, opt.Tol); err != nil {
			return nil, err
		}
		if err := s.updateBasis(); err != nil {
			return nil, err
		}
		if err := s.updateProjection(lambda); err != nil {
			return nil, err
		}
		value := s.totalObjective(lambda, opt.Gamma)
		// The objective has products of d, m and c terms, and the solution of equations whose condition is bounded by λ. Its
		// error is 1e-9 of the sum of its terms, which is at most c plus the penalties.
		if !r.RecordStep(t, value, 1e-9*(float64(s.c)+math.Abs(last)), opt.Tol, opt.Progress) {
			break
		}
		best, last = s.norms, value
		if r.Converged {
			break
		}
	}
	r.Scores = best
	// The solutions have an error of about 1e-12 of the largest norm.
	floor := 1e-12 * slices.Max(best)
	r.Order, r.Ties = method.Rank(best, func(largest, norm float64) bool { return norm >= largest*(1-1e-10)-floor })
	return r, nil
}

func newSolver(team *kernel.Team, g *anchor.Graph, f kernel.Matrix[float64]) (*solver, error) {
	s := &solver{team: team, g: g, d: g.D, c: f.Cols}
	trace := g.G.Trace(1)
	if s.d == 0 || trace == 0 {
		return nil, stream.Dataf("", "every feature is constant")
	}
	s.unit = trace / float64(s.d)
	s.ridge = ridge.New(team, g.G, s.c)
	s.layOut(nil, g.M, s.d, g.G.Rank, s.c)
	if g.G.IsFactor() {
		s.rows = kernel.RowMajor(g.B(team.Threads()), g.G.Rank, g.M, g.M)
	}
	e := &s.encoding
	e.team = team
	if err := e.loadAnchorProducts(g.S); err != nil {
		return nil, err
	}
	linalg.MultiplyTo(team, e.t, 1, e.s, f)
	if err := e.maximizeTrace(); err != nil {
		return nil, err
	}
	e.clipNegativeEntries()
	for k := range s.c {
		s.b.Data[k*(s.c+1)] = 1
	}
	s.updateFeatureProducts()
	return s, nil
}
