package sfufs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Select ranks the features of g, which it does not modify. It needs the memory given by [Bytes] in addition to g. It
// computes M once, as [Matrix] does, and solves an eigenproblem of M + γQ for each update of W. Each eigenproblem
// except the first starts from the previous solution. The result's bits do not depend on the workers.
//
// Errors are a *[stream.UsageError] for wrong options, a *[stream.DataError] if all features are constant, or the
// error of the context. They may also wrap an error of package linalg, such as [linalg.ErrNotFinite] for a Graph with
// a NaN. An objective that rises is not an error: see [Result.Rose].
func Select(ctx context.Context, g *anchor.Graph, opt Options) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	e, err := newSettingSolver(g, opt.WithDefaults(g.D))
	if err != nil {
		return nil, err
	}
	if err := e.loadAlpha(ctx, e.opt.Alpha); err != nil {
		return nil, err
	}
	return e.solveGamma(ctx, e.opt.Gamma)
}

// Bytes returns an upper bound of the memory of Select and Path for a Graph of d features and m anchors, without the
// Graph and the results (about 24·d bytes for each setting). If G is a factor, rank is its number of rows; otherwise it
// is 0.
func Bytes(d, m, rank int, opt Options) int64 {
	opt = opt.WithDefaults(d)
	return room.Measure(func(l *room.Layout) {
		l.Add(8 * int64(d) * int64(8*opt.Clusters+64)) // W's, their bases and products
		if rank > 0 {
			n, squares := int64(rank), int64(1) // RRᵀ, and under Identity its axes
			if opt.Constraint == Identity {
				squares = 5
			}
			l.Add(8*n*(squares*n+int64(m)) + gram.PanelBytes(rank) + kernel.TeamBytes(d, max(rank, m))) // and B
			new(factoredForm).layOut(l, rank, m, opt)
			l.Add(linalg.LowRankBytes(rank, d, 2*opt.Clusters+4) + linalg.SmallestFormBytes(d+rank, opt.Clusters, linalg.EigenOptions{}))
			return
		}
		new(costMatrix).layOut(l, d, m, opt.Method)
		new(fullForm).layOut(l, d, opt.Constraint)
		factor := func() { l.Add(linalg.CholeskyBytes(d)) } // of the scatter, or of meanNorms
		if l.Phase(factor); opt.Constraint == Identity {
			factor()
		}
		wide := d
		if opt.Method == SFUFS {
			wide = max(d, m)
		}
		l.Add(linalg.SmallestBytes(d, opt.Clusters, linalg.EigenOptions{}) + kernel.TeamBytes(wide, wide))
	})
}

// settingSolver ranks the features of one Graph for several pairs of weights α and γ, one after the other.
type settingSolver struct {
	opt    Options // with defaults
	solver *solver
	// The next three fields are for WᵀW = I and the current α. See the package comment for W and Q. They are: W(1), the W
	// of the first iteration; whether another W costs as little as W(1); and the first Q, if more than l directions cost
	// nothing.
	firstUpdateAtAlpha *wUpdate
	isFirstAmbiguous   bool
	startQ             []float64
	// costless are the features whose M_ii is nearly 0, for the current α.
	costless []int
}

func newSettingSolver(g *anchor.Graph, opt Options) (*settingSolver, error) {
	d, m := g.D, g.M
	cross := m * d
	if g.G.IsFactor() && g.C == nil {
		cross = 0
	}
	if g.G.Check() != nil || g.G.D != d || len(g.C) != cross || len(g.S) != m*m {
		panic(fmt.Sprintf("sfufs: graph of %d features and %d anchors with %d and %d values",
			d, m, len(g.C), len(g.S)))
	}
	f, err := newMatrixForm(g, kernel.NewTeam(opt.Threads), opt)
	if err != nil {
		return nil, err
	}
	return &settingSolver{opt: opt, solver: &solver{d: d, l: opt.Clusters, form: f}}, nil
}

// loadAlpha computes M(α), see matrix.go, and everything else that depends on α, but not on γ.
func (e *settingSolver) loadAlpha(ctx context.Context, alpha float64) error {
	s := e.solver
	var err error
	if s.matrixNorms, err = s.form.loadMatrix(ctx, e.opt.Method, alpha); err != nil {
		return err
	}
	e.firstUpdateAtAlpha, e.isFirstAmbiguous, e.startQ, e.costless = nil, false, nil, nil
	var sum float64
	for _, v := range s.diagonal {
		sum += v
	}
	for i, v := range s.diagonal {
		if v <= costlessShare*sum/float64(s.d) {
			e.costless = append(e.costless, i)
		}
	}
	return nil
}

// solveGamma minimizes the objective for one γ and the current α. Only M of the current α and, under WᵀW = I, W(1) are
// reused for the next γ, so that the result of a setting does not depend on earlier settings.
func (e *settingSolver) solveGamma(ctx context.Context, gamma float64) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	first, err := e.firstUpdate(gamma)
	if err != nil {
		return nil, err
	}
	r, last, err := e.solver.iterateFromUpdate(ctx, first, gamma, e.opt)
	if err != nil {
		return nil, err
	}
	r.Scores = last.norm
	r.Order, r.Ties = rankFeatures(last.norm)
	r.Costless = e.costless
	if last.matrixNorm > 0 { // false for γ = 0 if nothing varies
		r.Gap = last.eigenvalueGap / last.matrixNorm
	}
	e.addWarnings(r, last, gamma)
	return r, nil
}

// firstUpdate returns W(1), which is the minimum for Q = I. If the minimum is not unique, it uses the Q of the mean
// norms over all minima (see meanNorms).
func (e *settingSolver) firstUpdate(gamma float64) (*wUpdate, error) {
	s := e.solver
	cold := kernel.Matrix[float64]{}
	if e.opt.Constraint == Scatter {
		return s.form.minimizeCost(gamma, slices.Repeat([]float64{1}, s.d), cold)
	}
	if e.firstUpdateAtAlpha == nil {
		// γQ = γI is left out: it would only shift all eigenvalues alike, and M would lose digits.
		var err error
		if e.firstUpdateAtAlpha, err = s.form.minimizeCost(0, nil, cold); err != nil {
			return nil, err
		}
		e.startQ = nil
		e.isFirstAmbiguous = !e.firstUpdateAtAlpha.isDetermined(s.norm)
		if e.isFirstAmbiguous && e.firstUpdateAtAlpha.nextEigenvalue <= nullShare*s.norm && s.norm > 0 {
			norm, err := s.meanNorms()
			if err != nil {
				return nil, err
			}
			e.startQ = make([]float64, s.d)
			computeQ(e.startQ, norm)
		}
	}
	if e.startQ != nil && gamma > 0 {
		return s.form.minimizeCost(gamma, e.startQ, cold)
	}
	return e.firstUpdateAtAlpha, nil
}

// costlessShare: feature i counts as costless if its diagonal entry M_ii is at most this share of the mean of all M_ii.
// The spread of such a feature is at most a thousandth of the spread of an average feature.
const costlessShare = 1e-6

func (e *settingSolver) addWarnings(r *Result, last *wUpdate, gamma float64) {
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	l := e.solver.l
	if n := len(r.Costless); n > 0 {
		warn("%d features hardly vary beyond what the graph explains (%s): they cost almost nothing and therefore rank high",
			n, e.featureNames(r.Costless))
	}
	switch {
	case e.startQ != nil && gamma > 0:
		warn("more than %d directions cost nothing, as when features outnumber rows: the iteration started from the mean of all choices", l)
	case e.isFirstAmbiguous:
		warn("eigenvalues %d and %d of the matrix are equal to rounding: the start is one of many", l, l+1)
	}
	if !last.isDetermined(e.solver.norm) && (last != e.firstUpdateAtAlpha || !e.isFirstAmbiguous) {
		warn("eigenvalues %d and %d of the last update are equal to rounding: another W costs as little and may rank otherwise; try another number of dimensions", l, l+1)
	}
}

func (e *settingSolver) featureNames(features []int) string {
	var names []string
	for _, i := range features[:min(5, len(features))] {
		if e.opt.Names != nil {
			names = append(names, fmt.Sprintf("%q", e.opt.Names[i]))
		} else {
			names = append(names, fmt.Sprintf("column %d", i))
		}
	}
	if len(features) > len(names) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

func errAllConstant(traceOfG float64) error {
	if math.IsNaN(traceOfG) || math.IsInf(traceOfG, 0) {
		return fmt.Errorf("sfufs: sum of squares: %w", linalg.ErrNotFinite)
	}
	return stream.Dataf("", "every feature is constant")
}
