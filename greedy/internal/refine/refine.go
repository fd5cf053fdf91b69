package refine

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ImproveSelection improves greedy's selection r by exchanges, and returns the improved set in the order in which greedy
// chooses among its features. It returns r if no exchange lowers the error, if the gain is lost in rounding, or if r
// explains the target completely.
func ImproveSelection(ctx context.Context, m *engine.Gram, r *selection.Result, opt selection.Options) (*selection.Result, error) {
	r.Refined = true
	set := slices.DeleteFunc(slices.Clone(r.Order), func(p int) bool { return slices.Contains(r.Redundant, p) })
	if r.Layers != nil || r.Exhausted || len(set) == 0 || len(set) == m.D {
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
	within, err := orderSet(ctx, m, x.set, first, opt)
	if err != nil {
		return nil, err
	}
	if within == nil || !(floats.Sum(within.Scores) > floats.Sum(r.Scores)) {
		return r, nil
	}
	better, ok := x.replayTurns(within, r, opt)
	if !ok {
		return r, nil
	}
	better.Refined, better.Exchanges = true, x.exchanges
	return better, nil
}

// orderSet orders a set of features as greedy would choose them, if G and H had only the columns in the set. The
// features in the parameter first are chosen first. The result is nil if a feature of the set explains nothing that
// earlier ones leave.
func orderSet(ctx context.Context, m *engine.Gram, set, first []int, opt selection.Options) (*selection.Result, error) {
	set = slices.Clone(set)
	slices.Sort(set) // ties go to the lowest column
	k, c := len(set), m.TargetHeight()
	sym, rows := layOutOrdering(nil, k, c)
	for a, i := range set {
		for b, j := range set {
			sym[a*k+b] = m.Matrix.At(i, j)
		}
	}
	m.Target.WriteColumns(m.Team, rows, 1, set, 0)
	inner := selection.Options{K: k, Threads: opt.Threads}
	for _, p := range first {
		inner.Keep = append(inner.Keep, slices.Index(set, p))
	}
	g := gram.Full(sym, k)
	e, err := engine.NewGram(g, g.Diagonal(opt.Threads), &target.Matrix{Height: c, FullHeight: m.Target.FullHeight, U: rows, OwnsFeatures: m.Target.OwnsFeatures}, opt.Threads)
	if err != nil {
		return nil, err
	}
	r, err := engine.RunLayers(ctx, e, e.Criterion, inner, nil)
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

func layOutOrdering(l *room.Layout, k, c int) (sym []float64, columns kernel.Matrix[float64]) {
	return room.Slice[float64](l, k*k), kernel.NewMatrix[float64](l, k, c)
}

// replayTurns builds the result of a selection of the features in within.Order, in this order and with the scores in
// within, as if greedy had chosen them among all features. Redundant features of Keep stay at their turns. It returns
// false if the Gram matrix of the chosen features is not positive definite. It overwrites the matrices of the exchanger.
func (x *exchanger) replayTurns(within, old *selection.Result, opt selection.Options) (*selection.Result, bool) {
	m, k, d := x.engine, len(within.Order), x.engine.D
	omega := kernel.RowMajor(x.u, k, d, d)
	m.ColumnsTo(omega, within.Order)
	for a := range within.Order {
		for b, j := range within.Order {
			x.sub[a*k+b] = omega.Data[a*d+j]
		}
	}
	if x.chol.Factor(m.Team, kernel.RowMajor(x.sub, k, k, k)) != nil {
		return nil, false
	}
	x.chol.HalfSolveTo(m.Team, omega, omega) // row r is ω_r
	g0 := m.Matrix.Diagonal(m.Workers)
	floats.Scale(m.GUnit, g0)
	c := engine.NewCriterion(make([]float64, d), g0, m.Target.IsSelf, nil)
	r := engine.NewRecorder(c, opt.Explain)
	next := 0
	for turn := range old.Order {
		if turn < len(opt.Keep) && slices.Contains(old.Redundant, opt.Keep[turn]) {
			r.Redundant = append(r.Redundant, opt.Keep[turn])
			c.RetireFeature(opt.Keep[turn])
			r.RecordFeature(opt.Keep[turn], 0, nil, c)
			continue
		}
		p := within.Order[next]
		for i, v := range omega.Data[next*d : (next+1)*d] {
			c.G[i] = max(c.G[i]-v*v, 0)
		}
		c.RetireFeature(p)
		m.ColumnTo(x.delta, p)
		r.RecordFeature(p, within.Scores[next], x.delta, c)
		for _, tie := range within.Ties {
			if tie.Turn == next {
				r.Ties = append(r.Ties, selection.Tie{Turn: turn, Columns: tie.Columns})
			}
		}
		next++
	}
	return r.FinishResult(opt), true
}

// ErrNeedsGram returns the error for exchanges among d features whose Gram matrix is not in memory.
func ErrNeedsGram(d int) error {
	return stream.Usagef("{refine} swap works on the Gram matrix, and that of %d features does not fit: raise {memory-limit}, or leave {refine} out", d)
}

// ErrWithSketch returns the error for exchanges of features if a sketch selects them.
func ErrWithSketch() error {
	return stream.Usagef("{-refine} swap works on the exact Gram matrix; leave it or {sketch} out")
}
