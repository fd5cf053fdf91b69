package eufs

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// solver is one run of Problem.Solve, the iteration for one pair of weights α and β.
type solver struct {
	p     *Problem
	t     *table
	opt   Options
	alpha float64
	beta  float64

	stage      stream.Stage
	m, states  stream.ScratchFile
	v, oldV    []float64 // d×k
	k          *sumsByLane
	pool       *workerPool
	multiplier *laplacianMultiplier // nil if there is no graph
	polar      *linalg.Polar
	polarRows  []float64 // block×k: rows of the polar factor
	tree       *treeState
	trace      []Step
	figures    []float64 // the trace as one list of numbers, while it is saved or loaded
	mu, ratio  float64   // μ of the iteration, and previous μ divided by μ, 0 in the first iteration
}

// Solve runs the iteration. It fails for wrong options (*stream.UsageError), for numbers that overflow
// (*stream.DataError), and with the errors of scratch, context and source (if it is read again).
func (p *Problem) Solve(ctx context.Context, opt Options) (r *Result, err error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults()
	if opt.Tree != nil {
		if err := opt.Tree.checkFeatures(p.t.d); err != nil {
			return nil, err
		}
	}
	s := &solver{p: p, t: p.t, opt: opt, alpha: opt.Alpha.Of(p.AlphaMax), beta: opt.Beta.Of(p.AlphaMax), mu: opt.Mu}
	s.stage = stream.StageOf(p.setup.Stages, s.stageName(), p.setup.Scratch)
	s.allocateState()
	defer func() {
		if err = errors.Join(err, rows.CloseFiles(s.m, s.states)); err != nil {
			r = nil
		}
	}()
	if err := s.iterateToEnd(ctx); err != nil {
		return nil, err
	}
	if p.inspectRun != nil {
		p.inspectRun(s)
	}
	r = &Result{V: s.v, Scores: linalg.RowNorms(s.v, s.t.k), Trace: s.trace, Converged: s.hasConverged(),
		Alpha: s.alpha, Beta: s.beta}
	r.Order, _ = method.Rank(r.Scores, func(largest, score float64) bool { return largest == score })
	r.Warnings = s.resultWarnings(r)
	return r, nil
}

func (s *solver) allocateState() {
	g := s.p.graph
	if s.beta == 0 {
		g = nil
	}
	s.layOut(nil, s.t.layout, s.opt, g)
	copy(s.v, s.p.v)
	if s.tree != nil {
		s.tree.setPAndCountGroups(s.v)
	}
}

// layOut takes the memory of a run from l, except for the files and the polar factor, which each iteration makes anew.
// g is nil if there is no graph.
func (s *solver) layOut(l *room.Layout, shape layout, opt Options, g *graph) {
	s.v, s.oldV = room.Slice[float64](l, shape.d*shape.k), room.Slice[float64](l, shape.d*shape.k)
	s.k = newSumsByLane(l, shape)
	s.pool = newWorkerPool(l, opt.Threads, shape)
	s.polarRows = room.Slice[float64](l, shape.rowsOfBlock(0)*shape.k)
	if opt.Method == HUFS {
		s.tree = newTreeState(l, opt.Tree, shape.d, shape.k)
	} else if g != nil {
		s.multiplier = g.newMultiplier(l, opt.Threads, shape)
	}
}

func (s *solver) makeScratchFiles() (err error) {
	t := s.t
	size := t.d * wordBytes
	if s.opt.Float32 {
		size = t.d * singleBytes
	}
	if s.m, err = s.stage.Make("M of the iteration", t.n*int64(size), t.block*size); err != nil {
		return err
	}
	words := t.stateNumbersPerRow() * wordBytes
	s.states, err = s.stage.Make("the state of the rows", t.n*int64(words), t.block*words)
	return err
}

func (s *solver) iterateToEnd(ctx context.Context) error {
	progress, err := s.loadProgress(ctx)
	if err != nil || progress == stream.StageEnded {
		return err
	}
	if err := s.makeScratchFiles(); err != nil {
		return err
	}
	if progress == stream.StageNew {
		if err := s.writeInitialState(ctx); err != nil {
			return err
		}
	}
	for i := len(s.trace) + 1; i <= s.opt.MaxIter && !s.hasConverged(); i++ {
		if err := s.runIteration(ctx, i); err != nil {
			return err
		}
		if err := s.stage.Save(ctx, i, s.valuesToSave()...); err != nil {
			return err
		}
	}
	if err := s.computeFinalResiduals(ctx); err != nil {
		return err
	}
	s.completeLastStep()
	return s.stage.End(ctx, s.valuesToSave()...)
}

func (s *solver) runIteration(ctx context.Context, iteration int) error {
	step := Step{Iteration: iteration, Mu: s.mu}
	split, err := s.passA(ctx, iteration == 1)
	if err != nil {
		return err
	}
	if iteration > 1 {
		s.completeLastStep()
	}
	s.updateV(&step)
	if err := s.passB(ctx); err != nil {
		return s.errAtIteration(iteration, err)
	}
	if err := s.polar.Factor(); err != nil {
		return s.errAtIteration(iteration, err)
	}
	step.Rank = s.polar.Rank()
	penalty, err := s.passU(ctx, &step)
	if err != nil {
		return err
	}
	step.Split += split + penalty.split
	step.Graph = penalty.split
	step.Objective += penalty.objective
	s.trace = append(s.trace, step)
	next := min(s.opt.Rho*s.mu, s.opt.MuMax)
	s.ratio, s.mu = s.mu/next, next
	return nil
}

// hasConverged reports whether the relative change of eq. (14) was at most Tol in each of the last five iterations. One
// iteration is not enough, because the value of eq. (14) rises and falls, and hardly changes near its extremes. As long
// as V and E are 0, the graph's part is all of the value. A small μ₀ keeps them at 0 for many iterations, in which U may
// not change.
func (s *solver) hasConverged() bool {
	const iterations = 5
	if len(s.trace) <= iterations || s.opt.Tol < 0 {
		return false
	}
	last := s.trace[len(s.trace)-1-iterations:]
	for i, step := range last[1:] {
		before := last[i].Split
		if before == last[i].Graph || math.Abs(step.Split-before) > s.opt.Tol*math.Abs(before) {
			return false
		}
	}
	return true
}

// completeLastStep completes the Step of the last iteration. They need X − UVᵀ of that iteration, which the pass that
// has just ended was the first to compute.
func (s *solver) completeLastStep() {
	last := &s.trace[len(s.trace)-1]
	last.Objective += s.k.sumNumberOverLanes(sumResiduals)
	last.ResidualE = math.Sqrt(s.k.sumNumberOverLanes(sumSplitSquares))
	if s.opt.Progress != nil {
		s.opt.Progress(last.Iteration, last.Objective)
	}
}

func (s *solver) errAtIteration(iteration int, err error) error {
	if errors.Is(err, linalg.ErrNotFinite) {
		return stream.Dataf("", "iteration %d: %w; scale the columns, or choose a larger {mu}", iteration, err)
	}
	return err
}

func (s *solver) resultWarnings(r *Result) []stream.Text {
	var out []stream.Text
	warn := func(format string, args ...any) { out = append(out, stream.Textf(format, args...)) }
	sparsity, name := s.alpha, "alpha"
	if s.opt.Method == HUFS {
		sparsity, name = s.beta, "beta"
	}
	switch most := s.p.AlphaMax; {
	case slices.Max(r.Scores) == 0 && sparsity >= most:
		warn("%s = %.4g: from %.4g on all weights become 0, and features rank by column order; choose less, as 0.1x", name, sparsity, most)
	case slices.Max(r.Scores) == 0:
		warn("all weights are still 0 after %d iterations, and features rank by column order; raise {max-iter}, or choose a larger {mu}", len(r.Trace))
	case sparsity >= most: // μ rose too fast for V to vanish
		warn("%s = %.4g: from %.4g on weights that become 0 stay 0, and the remaining ones depend on mu alone; choose less, as 0.1x", name, sparsity, most)
	}
	if s.opt.Method == EUFS && s.multiplier != nil && s.opt.Mu < s.beta {
		warn("mu = %.4g is below beta = %.4g: the iterates are ill-conditioned, and rounding alone may change the ranking; choose a larger {mu}", s.opt.Mu, s.beta)
	}
	if s.opt.Method == EUFS && s.p.graph == nil && s.beta > 0 {
		warn("beta = %.4g has no effect: there is no graph", s.beta)
	}
	for _, step := range r.Trace {
		if step.Rank < s.t.k {
			warn("iteration %d: only %d of the %d clusters are told apart; choose fewer {clusters} or other penalties", step.Iteration, step.Rank, s.t.k)
			break
		}
	}
	return out
}
