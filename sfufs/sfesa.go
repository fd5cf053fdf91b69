package sfufs

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// SubsetOptions sets the problem of SFESA. A zero field means its default, except for K.
type SubsetOptions struct {
	K          int     // number of features to choose, at least 1
	Components int     // m, at most K; default 10, but at most K/2 and at least 1
	Alpha      float64 // α; default 1
	MaxIter    int     // number of choices of features; default 50
	Threads    int     // 0 means GOMAXPROCS; the answer does not depend on it
	Progress   func(iteration int, objective float64)
}

// CheckBounds reports every fault of o for d features in one *stream.UsageError.
func (o SubsetOptions) CheckBounds(d int) error {
	var faults stream.Faults
	o.choiceOf(nil, 0).AddFaults(&faults, d)
	if o.Alpha != 0 {
		checkWeight(&faults, "{alpha}", o.Alpha, minAlpha)
	}
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults.
func (o SubsetOptions) WithDefaults() SubsetOptions {
	o.Components = cmp.Or(o.Components, rowsparse.DefaultComponents(o.K))
	o.Alpha = cmp.Or(o.Alpha, defaultAlpha)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	return o
}

// Subset is a choice of K features by SFESA.
type Subset struct {
	// Order lists the chosen features. Scores are Pᵢᵢ/(m·λ) of all features, see [rowsparse.Choice], with the largest
	// eigenvalue λ of M. Objective is Tr(WᵀMW)/(m·λ).
	method.Descent
	Warnings []stream.Text
}

// SubsetBytes bounds the memory of SelectSubset for a Graph of d features and m anchors, without the Graph. If G is a
// factor, rank is its number of rows; otherwise it is 0.
func SubsetBytes(d, m, rank int, opt SubsetOptions) int64 {
	opt = opt.WithDefaults()
	order := cmp.Or(rank, d)
	return room.Measure(func(l *room.Layout) {
		l.Add(8 * int64(d) * int64(order)) // M
		l.Phase(func() {
			wide := max(d, m, rank)
			l.Add(kernel.TeamBytes(wide, wide))
			if rank == 0 {
				new(costMatrix).layOut(l, d, m, SFUFS)
				return
			}
			new(factoredForm).layOut(l, rank, m, Options{Method: SFUFS, Constraint: Identity})
			l.Add(8*int64(rank)*int64(m) + gram.PanelBytes(rank) + linalg.SymmetricEigenBytes(rank))
		})
		l.Add(8 * int64(rank) * int64(rank)) // the products of the rows of M's factor
		l.Phase(func() { l.Add(linalg.SmallestBytes(order, 1, linalg.EigenOptions{}) + kernel.TeamBytes(order, d)) })
		l.Phase(func() { l.Add(opt.choiceOf(nil, 1).ChoiceBytes(d, rank)) })
	})
}

func (o SubsetOptions) choiceOf(m *gram.Matrix, shift float64) *rowsparse.Choice {
	return &rowsparse.Choice{G: m, Shift: shift, K: o.K, Components: o.Components, MaxIter: o.MaxIter, Threads: o.Threads, Progress: o.Progress}
}

// SelectSubset chooses opt.K of the features of g, which it does not modify, by SFESA: the W that minimizes Tr(WᵀM(α)W)
// under WᵀW = I with at most K rows that are not 0. See the package comment. It needs the memory given by [SubsetBytes].
// The start costs M(α), see matrix.go, and its largest eigenvalue; an iteration costs the m+1 leading eigenpairs of a
// matrix of order K, and 2·m·d² or 4·m·n·d flops. It fails like [Select].
func SelectSubset(ctx context.Context, g *anchor.Graph, opt SubsetOptions) (*Subset, error) {
	if err := opt.CheckBounds(g.D); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults()
	team := kernel.NewTeam(opt.Threads)
	trace := g.G.Trace(team.Threads())
	if !(trace > 0 && trace <= math.MaxFloat64) {
		return nil, errAllConstant(trace)
	}
	m, err := costGram(ctx, team, g, opt.Alpha)
	if err != nil {
		return nil, err
	}
	e, err := spectral.LeadingPairs(team, m, 1)
	if err != nil {
		return nil, fmt.Errorf("sfesa: %w", err)
	}
	largest := e.Values[0]
	if !(largest > 1e-13*trace) { // below the rounding error of M
		return nil, stream.Dataf("", "the graph of the rows explains every feature, so that none is better than another; raise {alpha} or take other {anchors}")
	}
	c := opt.choiceOf(m, largest)
	chosen, err := c.SelectRows(ctx)
	if err != nil {
		return nil, fmt.Errorf("sfesa: %w", err)
	}
	r := &Subset{Descent: chosen.Descent}
	if chosen.IsAmbiguous {
		r.Warnings = append(r.Warnings, stream.Textf("eigenvalues %d and %d are equal to rounding: another subspace costs as little and may lead to another order; try another {components}, or choose fewer features than rows", c.Components, c.Components+1))
	}
	return r, nil
}

// costGram returns M(α), as a factor of n rows if G is one: with the T of factoredForm and its eigenvectors V,
// M = RᵀTR = ZᵀZ, Z = τ^½VᵀR.
func costGram(ctx context.Context, team *kernel.Team, g *anchor.Graph, alpha float64) (*gram.Matrix, error) {
	if !g.G.IsFactor() {
		m := make([]float64, g.D*g.D)
		return gram.Full(m, g.D), newCostMatrix(g, team, SFUFS).matrixTo(ctx, m, SFUFS, alpha)
	}
	n := g.G.Rank
	f := &factoredForm{d: g.D, team: team, graph: g, b: kernel.RowMajor(g.B(team.Threads()), n, g.M, g.M)}
	f.layOut(nil, n, g.M, Options{Method: SFUFS, Constraint: Identity})
	share, h, err := f.smoothFactor(SFUFS, alpha)
	if err != nil {
		return nil, err
	}
	root := f.smoothingMatrix(share, h)
	tau, err := linalg.SymmetricEigen(team, root)
	if err != nil {
		return nil, fmt.Errorf("sfesa: products of the rows: %w", err)
	}
	for i, v := range root.Data {
		root.Data[i] = v * math.Sqrt(max(tau[i%n], 0))
	}
	z := kernel.NewMatrix[float64](nil, g.D, n)
	g.G.Panels(team.Threads(), func(from, count int, features []float64) {
		kernel.Gemm(team, 1, kernel.RowMajor(features, count, n, n), root, z.Sub(from, 0, count, n))
	})
	return gram.FromFactor(z.Data, g.D, n), nil
}
