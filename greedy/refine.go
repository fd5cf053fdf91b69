package greedy

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

// refineSelection improves greedy's selection r by exchanges, and returns the improved set in the order in which greedy
// chooses among its features. It returns r if no exchange lowers the error, if the gain is lost in rounding, or if r
// explains the target completely.
func (m *gramEngine) refineSelection(ctx context.Context, r *Result, opt Options) (*Result, error) {
	r.Refined = true
	set := slices.DeleteFunc(slices.Clone(r.Order), func(p int) bool { return slices.Contains(r.Redundant, p) })
	if r.Layers != nil || r.Exhausted || len(set) == 0 || len(set) == m.d {
		return r, nil
	}
	keep := make([]bool, len(set))
	for a, p := range set {
		keep[a] = slices.Contains(opt.Keep, p)
	}
	x, ok := newExchanger(m, set, keep, opt.Forbid)
	if !ok {
		return r, nil
	}
	if err := x.makeExchanges(ctx); err != nil || x.exchanges == 0 {
		return r, err
	}
	first := set[:0:0]
	for _, p := range opt.Keep {
		if !slices.Contains(r.Redundant, p) {
			first = append(first, p)
		}
	}
	within, err := m.orderSet(ctx, x.set, first, opt)
	if err != nil {
		return nil, err
	}
	if within == nil || !(floats.Sum(within.Scores) > floats.Sum(r.Scores)) {
		return r, nil
	}
	better, ok := m.replayTurns(x.team, within, r, opt)
	if !ok {
		return r, nil
	}
	better.Refined, better.Exchanges = true, x.exchanges
	return better, nil
}

// orderSet orders a set of features as greedy would choose them, if G and H had only the columns in the set. The
// features in the parameter first are chosen first. The result is nil if a feature of the set explains nothing that
// earlier ones leave.
func (m *gramEngine) orderSet(ctx context.Context, set, first []int, opt Options) (*Result, error) {
	set = slices.Clone(set)
	slices.Sort(set) // ties go to the lowest column
	k, c := len(set), m.targetHeight()
	sym := make([]float64, k*k)
	for a, i := range set {
		for b, j := range set {
			sym[a*k+b] = m.gram.At(i, j)
		}
	}
	rows := kernel.RowMajor(make([]float64, k*c), k, c, c)
	m.target.writeColumns(m.team, rows, 1, set, 0)
	inner := Options{K: k, Threads: opt.Threads}
	for _, p := range first {
		inner.Keep = append(inner.Keep, slices.Index(set, p))
	}
	r, err := selectInMemory(ctx, gram.Full(sym, k), &target{height: c, fullHeight: m.target.fullHeight, u: rows, ownsFeatures: m.target.ownsFeatures}, inner, nil)
	if err != nil || len(r.Order) != k || r.Layers != nil || r.Redundant != nil {
		return nil, err
	}
	for i, a := range r.Order {
		r.Order[i] = set[a]
	}
	for _, tie := range r.Ties {
		for i, a := range tie.Columns {
			tie.Columns[i] = set[a]
		}
	}
	return r, nil
}

// replayTurns builds the result of a selection of the features in within.Order, in this order and with the scores in
// within, as if greedy had chosen them among all features. Redundant features of Keep stay at their turns. It returns
// false if the Gram matrix of the chosen features is not positive definite.
func (m *gramEngine) replayTurns(team *kernel.Team, within, old *Result, opt Options) (*Result, bool) {
	k, d := len(within.Order), m.d
	sub, omega := make([]float64, k*k), kernel.RowMajor(make([]float64, k*d), k, d, d)
	m.columnsTo(omega, within.Order)
	for a := range within.Order {
		for b, j := range within.Order {
			sub[a*k+b] = omega.Data[a*d+j]
		}
	}
	var chol linalg.Cholesky
	if chol.Factor(team, kernel.RowMajor(sub, k, k, k)) != nil {
		return nil, false
	}
	chol.HalfSolveTo(team, omega, omega) // row r is ω_r
	g0 := m.gram.Diagonal(m.workers)
	floats.Scale(m.gUnit, g0)
	c := newCriterion(make([]float64, d), g0, m.target.isSelf, nil)
	r := newRecorder(c)
	column := make([]float64, d)
	next := 0
	for turn := range old.Order {
		if turn < len(opt.Keep) && slices.Contains(old.Redundant, opt.Keep[turn]) {
			r.Redundant = append(r.Redundant, opt.Keep[turn])
			c.retireFeature(opt.Keep[turn])
			r.recordFeature(opt.Keep[turn], 0, nil, c)
			continue
		}
		p := within.Order[next]
		for i, v := range omega.Data[next*d : (next+1)*d] {
			c.g[i] = max(c.g[i]-v*v, 0)
		}
		c.retireFeature(p)
		m.columnTo(column, p)
		r.recordFeature(p, within.Scores[next], column, c)
		for _, tie := range within.Ties {
			if tie.Turn == next {
				r.Ties = append(r.Ties, Tie{turn, tie.Columns})
			}
		}
		next++
	}
	return r.finishResult(opt), true
}
