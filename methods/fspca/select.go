package fspca

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the problem and the condition for stopping. A zero field means its default, except for K.
type Options struct {
	K          int // number of features to choose, at least 1
	Components int // m, at most K; default 10, but at most K/2 and at least 1
	MaxIter    int // number of choices of features; default 50. The paper needs at most 10
	Threads    int // 0 means GOMAXPROCS; the answer does not depend on it
	Progress   func(iteration int, objective float64)
}

const (
	defaultComponents = 10
	defaultMaxIter    = 50
)

// Validate reports every fault of o for d features in one *stream.UsageError.
func (o Options) Validate(d int) error {
	var faults stream.Faults
	method.RefuseNumber(&faults, o.K, d)
	if o.K == 0 && d > 0 {
		faults.Addf("{k} = 0 chooses no feature")
	}
	method.RefuseNegative(&faults, "{components}", o.Components)
	if o.Components > o.K && o.K > 0 {
		faults.Addf("{components} = %d is more than {k} = %d; lower it, or choose more features", o.Components, o.K)
	}
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults.
func (o Options) WithDefaults() Options {
	o.Components = cmp.Or(o.Components, max(min(defaultComponents, o.K/2), 1))
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	return o
}

// Result is a choice of K features.
type Result struct {
	// Order lists the chosen features. Scores are Pᵢᵢ/Tr(G) of all features for the last W; the scores of the chosen
	// features add up to Tr(WᵀGW)/Tr(G). Objective is 1 − Tr(WᵀGW)/Tr(G), the share of the variance outside the subspace.
	method.Descent
	Warnings []stream.Text
}

// Bytes bounds the memory of Select in addition to G. If rank is not 0, G is a factor of `rank` rows.
func Bytes(d, rank int, opt Options) int64 {
	m := opt.WithDefaults().Components
	return room.Measure(func(l *room.Layout) {
		s := layOutSolver(l, d, rank, m)
		l.Phase(func() { l.Add(s.eigenpairBytes(d)) })
		l.Phase(func() { l.Add(s.eigenpairBytes(opt.K)) })
		l.Add(2 * kernel.TeamBytes(max(d, rank), d)) // the products with G have a team of their own
		l.Add(8 * int64(10*d+m*rank))                // rankings, lists and scores of features, and a product with R
	})
}

// Select chooses opt.K of d features by the Gram matrix of their centred columns, which it does not modify. It needs
// the memory given by [Bytes]. The start costs the m+1 leading eigenpairs of G, or of RRᵀ if G is a factor R of fewer
// rows than features. An iteration costs the pairs of a matrix whose order is K or, if that is less, the number of
// rows, and 2·m·d² or 4·m·n·d flops. Errors are a *stream.UsageError for wrong options, a *stream.DataError for features that are
// all constant, the context's error, or an error that wraps an error of package linalg.
func Select(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		panic(fmt.Sprintf("fspca: %v", err))
	}
	opt = opt.WithDefaults()
	s := newSolver(kernel.NewTeam(opt.Threads), g, opt.Components)
	if s.trace == 0 {
		return nil, stream.Dataf("", "every feature is constant")
	}
	return s.runIterations(ctx, opt)
}

// roundingShare is the largest change of the objective that rounding can explain. The eigenvalues have errors of about
// 1e-13 of the largest one (linalg.Smallest), and about ten of them are added.
const roundingShare = 1e-11

func (s *solver) runIterations(ctx context.Context, opt Options) (*Result, error) {
	every := make([]int, s.g.D)
	for j := range every {
		every[j] = j
	}
	if _, err := s.projectOnto(every); err != nil { // P = G_m
		return nil, err
	}
	r := &Result{}
	order, _ := rankByScore(s.scores)
	for t := 1; t <= opt.MaxIter && !r.Converged; t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chosen := sortedCopy(order[:opt.K])
		explained, err := s.projectOnto(chosen)
		if err != nil {
			return nil, err
		}
		if !r.RecordStep(t, 1-explained, roundingShare, -1, opt.Progress) {
			break
		}
		if t > 1 && r.Objective[t-2]-r.Objective[t-1] <= roundingShare { // other features that are as good: keep the first
			r.Converged = true
			break
		}
		var ties method.Ties
		order, ties = rankByScore(s.scores)
		r.Converged = slices.Equal(sortedCopy(order[:opt.K]), chosen)
		r.Scores, r.Ties = slices.Clone(s.scores), ties
		r.Order = slices.DeleteFunc(slices.Clone(order), func(j int) bool {
			_, found := slices.BinarySearch(chosen, j)
			return !found
		})
	}
	if !r.Converged { // the order of all features has others first
		r.Ties = nil
	}
	if s.isAmbiguous {
		r.Warnings = append(r.Warnings, stream.Textf("eigenvalues %d and %d are equal to rounding: another subspace has as much variance and may lead to other features; try another {components}", s.m, s.m+1))
	}
	return r, nil
}

func rankByScore(scores []float64) ([]int, method.Ties) {
	// The eigenvectors have errors below 1e-10 of a score, and 1e-13 of the whole.
	return method.Rank(scores, func(largest, score float64) bool { return score >= largest*(1-1e-10)-1e-13 })
}

func sortedCopy(list []int) []int { return slices.Sorted(slices.Values(list)) }
