package cdlfs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the objective and the conditions for stopping. A zero field means its default.
type Options struct {
	// Tau is τ, for X divided by √(Tr(G)/d), so that it has the same meaning for any units and any number of rows. A share
	// is multiplied by the τ above which V = 0 would be best for the first A and p = 1; default 0.1 of it.
	Tau        method.Weight
	Power      float64 // p, above 0 and at most 1; default 1
	Components int     // c, the number of columns of a dictionary; default 10, at most the rank of G
	MaxIter    int     // number of rounds; default 500
	Tol        float64 // relative change of the objective that ends the rounds; default 1e-5, negative never ends early
	Threads    int     // 0 means GOMAXPROCS; the answer does not depend on it
	Progress   func(iteration int, objective float64)
}

const (
	defaultShare      = 0.1
	defaultPower      = 1
	defaultComponents = 10
	defaultMaxIter    = 500
	defaultTol        = 1e-5
)

// Validate reports every fault of o in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseWeight(&faults, "{alpha}", o.Tau.Value)
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
	if o.Tau.Value == 0 {
		o.Tau = method.Weight{Value: defaultShare, Share: true}
	}
	o.Power = cmp.Or(o.Power, defaultPower)
	o.Components = cmp.Or(o.Components, defaultComponents)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	return o
}

// Result is a ranking of all d features.
type Result struct {
	method.Descent         // its scores are ‖vᵢ‖; its objective is that of the package comment, divided by Tr(G)
	Tau            float64 // absolute value of τ, also if it was given as a share
	Warnings       []stream.Text
}

// Bytes bounds the memory of Select in addition to G. If rank is not 0, G is a factor of `rank` rows.
func Bytes(d, rank int, opt Options) int64 {
	order := cmp.Or(rank, d)
	c := min(opt.WithDefaults().Components, order)
	return room.Measure(func(l *room.Layout) {
		l.Add(2*kernel.TeamBytes(max(d, rank), d) + 8*int64(rank)*int64(rank) + 80*int64(d)) // with RRᵀ, norms and rankings
		l.Phase(func() { l.Add(linalg.SmallestBytes(order, min(c+1, order), linalg.EigenOptions{})) })
		kernel.NewMatrix[float64](l, c, d) // the first B
		ridge.LayOut(l, d, rank, c)
		new(solver).layOut(l, d, rank, c)
		l.Add(16 * int64(c) * int64(rank)) // products with R
	})
}

// Select ranks d features by the Gram matrix of their centred columns, which it does not modify. It needs the memory
// given by [Bytes]. The start costs c+1 eigenpairs of G or, for a factor of n rows, of RRᵀ. A round costs a Cholesky
// factor of the same order, d³/3 or n²·d flops, and about 8·c·d² or 16·c·n·d flops. Errors are a *stream.UsageError for
// wrong options, a *stream.DataError for features that are all constant, the context's error, or an error that wraps an
// error of package linalg.
func Select(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		panic(fmt.Sprintf("cdlfs: %v", err))
	}
	opt = opt.WithDefaults()
	trace := g.Trace(1)
	if trace == 0 {
		return nil, stream.Dataf("", "every feature is constant")
	}
	r := &Result{}
	team := kernel.NewTeam(opt.Threads)
	code, isAmbiguous, err := leadingVectors(team, g, min(opt.Components, cmp.Or(g.Rank, g.D)))
	if err != nil {
		return nil, err
	}
	if code.Rows < opt.Components {
		r.Warnings = append(r.Warnings, stream.Textf("the features span %d dimensions, fewer than {components} %d: the dictionaries have as many columns", code.Rows, opt.Components))
	}
	if isAmbiguous {
		r.Warnings = append(r.Warnings, stream.Textf("eigenvalues %d and %d are equal to rounding: another start explains as much and may rank otherwise; try another {components}", code.Rows, code.Rows+1))
	}
	s := newSolver(team, g, trace, code)
	r.Tau = opt.Tau.Of(s.largestTau() / s.meanSquare())
	return r, s.runRounds(ctx, r, opt)
}

func (s *solver) runRounds(ctx context.Context, r *Result, opt Options) error {
	equal := math.Sqrt(float64(s.c) / float64(s.d)) // the norm of the rows of V if all are equal, as ‖V‖² = c
	norms := slices.Repeat([]float64{equal}, s.d)
	for t := 1; t <= opt.MaxIter; t++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.updateAnalysis(norms, r.Tau*s.meanSquare(), opt.Power); err != nil {
			return err
		}
		s.updateSynthesis()
		if err := s.updateCode(); err != nil {
			return err
		}
		next := linalg.RowNorms(s.analysis.Data, s.c)
		// The terms are at most a few times Tr(G). The equations of step 1 are solved to 1e-12 of them and better.
		if !r.RecordStep(t, s.objectiveShare(next, r.Tau*s.meanSquare(), opt.Power), 1e-10, opt.Tol, opt.Progress) {
			break
		}
		if norms = next; r.Converged {
			break
		}
	}
	r.Scores = norms
	// The solutions have an error of about 1e-12 of the largest norm.
	floor := 1e-12 * slices.Max(norms)
	r.Order, r.Ties = method.Rank(norms, func(largest, norm float64) bool { return norm >= largest*(1-1e-9)-floor })
	return nil
}
