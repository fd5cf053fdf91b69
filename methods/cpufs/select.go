package cpufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Select ranks the features of a source that lie on a grid. It uses at most opt.Memory bytes in addition to the
// source's chunks, see [Options.Plan]. The answer is the same to the last bit for any number of workers, and for any
// memory in which G fits. Without G it is the same to rounding.
//
// The error is a *stream.UsageError, a *stream.DataError for values that the model cannot use, a *stream.MemoryError,
// or an error of the source. A rising objective is not an error, see Result.
func Select(ctx context.Context, src stream.Source, grid Grid, opt Options) (*Result, error) {
	s, plan, err := newSolver(src, grid, opt)
	if err != nil {
		return nil, err
	}
	return s.prepareAndIterate(ctx, plan)
}

func newSolver(src stream.Source, grid Grid, opt Options) (*solver, Plan, error) {
	if err := opt.Validate(); err != nil {
		return nil, Plan{}, err
	}
	plan, err := opt.Plan(src, grid)
	if err != nil {
		return nil, plan, err
	}
	opt = opt.WithDefaults(src.Rows())
	if opt.Scaling != nil {
		if err := opt.Scaling.checkScaling(len(grid.Cell)); err != nil {
			return nil, plan, err
		}
	}
	s := &solver{opt: opt, team: kernel.NewTeam(opt.Threads)}
	s.rows = &gridReader{source: rows.Source{Source: src, Meter: opt.Meter, OnPass: opt.Pass}, columns: src.Columns(),
		grid: grid, scaling: opt.Scaling, workers: opt.Threads, keepRows: plan.RowsInMemory}
	if plan.Gram {
		s.g = make([]float64, len(grid.Cell)*len(grid.Cell))
	}
	s.layOut(nil, grid.Shape, plan.Anchors)
	scratch := opt.Scratch
	if plan.StateInMemory {
		scratch = stream.InMemory{}
	}
	s.stage = stream.StageOf(opt.Stages, "tensor", scratch) // earlier builds saved other values as "rows"
	return s, plan, nil
}

func (s *solver) prepareAndIterate(ctx context.Context, plan Plan) (r *Result, err error) {
	defer func() {
		if e := s.graph.closeFiles(); err == nil && e != nil {
			r, err = nil, e
		}
	}()
	if err := s.loadOrPrepare(ctx, plan); err != nil {
		return nil, err
	}
	return s.iterateToEnd(ctx, plan)
}

// loadOrPrepare prepares the first iteration, or loads the saved iteration. After loading, a pass restores G = XᵀX, the
// heights of the blocks and the rows in memory.
func (s *solver) loadOrPrepare(ctx context.Context, plan Plan) error {
	progress, err := s.stage.Load(ctx, s.valuesToSave()...)
	if err != nil {
		return err
	}
	if progress == stream.StageNew {
		if err := s.prepareStart(ctx, plan); err != nil {
			return err
		}
		value, _ := s.objectiveValue(&s.opt)
		s.objectives = []float64{value}
		return s.stage.Save(ctx, 0, s.valuesToSave()...)
	}
	passes := s.rows.source.Passes
	if err := s.scanRows(ctx, nil); err != nil {
		return err
	}
	s.rows.source.Passes = passes
	if g, ok := s.graph.(*anchorGraph); ok {
		return g.openFiles(plan.Anchors, plan.neighbors)
	}
	return nil
}

// valuesToSave returns the state of an iteration without the files, and without G = XᵀX and the rows, which a pass
// restores.
func (s *solver) valuesToSave() []any {
	values := append(s.graph.valuesToSave(), s.w, s.xc, s.p, s.gw, &s.sums.ff, &s.sums.cf, &s.sums.clf,
		s.descent.rates, &s.conditionOfQ, &s.directPasses, &s.looseIterations, &s.rows.source.Passes, &s.objectives)
	for side := range s.shape {
		values = append(values, s.a[side].Data, s.u[side].Data)
	}
	return values
}

func (s *solver) iterateToEnd(ctx context.Context, plan Plan) (*Result, error) {
	r := &Result{Graph: plan.Graph.String(), Plan: plan}
	s.keepFactors()
	for t := len(s.objectives); t <= s.opt.maxIterations(); t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.updateFactors()
		if err := s.graph.updateCAndF(ctx); err != nil {
			return nil, err
		}
		if err := s.takeGradientSteps(ctx); err != nil {
			return nil, err
		}
		value, size := s.objectiveValue(&s.opt)
		before := s.objectives[t-1]
		s.objectives = append(s.objectives, value)
		if s.opt.Progress != nil {
			s.opt.Progress(t, value)
		}
		if allowed := s.roundingShare() * size; !(value <= before+allowed) {
			r.Rose = &method.Rise{Iteration: t, From: before, To: value, Allowed: allowed}
			s.w, s.u = s.lastW, s.lastU
			break
		}
		s.keepFactors()
		if s.opt.Iterations == 0 && before-value <= s.opt.Tol*before {
			r.Converged = true
			break
		}
		if err := s.stage.Save(ctx, t, s.valuesToSave()...); err != nil {
			return nil, err
		}
	}
	r.Objective, r.FromStart = s.objectives, true
	s.fillResult(r)
	return r, nil
}

// roundingShare bounds the error of the objective as a share of the sum of its absolute terms. Sums over the rows are
// sums of 256 terms each, which are then added up. Sums over W have d·c terms. XᵀC has an error in proportion to the
// condition number of Q. C is orthonormal up to 8c units of rounding.
func (s *solver) roundingShare() float64 {
	n, c := float64(s.rows.source.N), float64(s.c)
	return 0x1p-53 * (256 + n/256 + float64(len(s.rows.source.Height)) + float64(s.d)*c + 8*c + min(s.conditionOfQ, maxCondition))
}

func (s *solver) prepareStart(ctx context.Context, plan Plan) error {
	sample := anchor.NewSampler(s.d, anchor.SamplerOptions{
		Rows: sampleRowCount(s.d, s.c, plan.Anchors), Seed: s.opt.Seed, Limit: math.MaxInt64}) // counted in Plan
	if err := s.scanRows(ctx, sample); err != nil {
		return err
	}
	if s.c > s.rows.source.N {
		return stream.Usagef("{clusters} %d: there are %d rows", s.c, s.rows.source.N)
	}
	x, err := s.scaledRows(sample.Draw(sample.Len()))
	if err != nil {
		return err
	}
	var centers kernel.Matrix[float64]
	if s.opt.Start != StartRandom {
		if centers, err = s.findStartCenters(ctx, x); err != nil {
			return err
		}
	}
	if err := s.makeGraph(ctx, plan, x); err != nil {
		return err
	}
	mix, err := s.formStart(ctx, centers)
	if err != nil {
		return err
	}
	if err := s.initFactors(ctx); err != nil {
		return err
	}
	return s.graph.startIteration(ctx, mix)
}

// makeGraph makes the graph of the rows. x is the sample of the rows, from which anchors are chosen.
func (s *solver) makeGraph(ctx context.Context, plan Plan, x kernel.Matrix[float64]) error {
	switch g := s.graph.(type) {
	case *anchorGraph:
		points, err := s.anchorPoints(ctx, plan, x)
		if err != nil {
			return err
		}
		if err := g.openFiles(plan.Anchors, plan.neighbors); err != nil {
			return err
		}
		if s.opt.givenWeights == nil {
			g.weights.SetAnchors(s.team, points, anchor.Weights)
		}
	case *neighbourGraph:
		l := s.opt.givenGraph
		if l == nil {
			near, err := s.rows.nearestRows(ctx, s.team, min(s.opt.Neighbors, s.rows.source.N-1), plan.room)
			if err != nil {
				return err
			}
			l = heatGraph(near, s.rows.source.N, s.opt.Sigma)
		}
		g.setLaplacian(l)
	}
	return nil
}

// anchorPoints returns the anchors. They are given by an option, or are the first rows of the sample or the centres of
// its clusters.
func (s *solver) anchorPoints(ctx context.Context, plan Plan, x kernel.Matrix[float64]) (kernel.Matrix[float64], error) {
	m := plan.Anchors
	switch {
	case s.opt.givenWeights != nil:
		return x, nil // the caller does not use them
	case s.opt.AnchorRows != nil:
		return s.scaledRows(s.opt.AnchorRows)
	case m > x.Rows:
		return x, stream.Usagef("{anchors} %d: there are %d rows", m, x.Rows)
	case s.opt.AnchorKMeans:
		r, err := cluster.KMeans(ctx, cluster.Matrix(x), s.opt.kmeansOfAnchors(m))
		if err != nil {
			return x, err
		}
		return kernel.Matrix[float64](r.Centers), nil
	}
	return x.Sub(0, 0, m, s.d), nil
}

func (s *solver) fillResult(r *Result) {
	byCell := linalg.RowNorms(s.w, s.c)
	r.Scores = make([]float64, s.d)
	constant := make([]bool, s.d)
	for j, cell := range s.rows.grid.Cell {
		if s.low[cell] == s.high[cell] {
			constant[j] = true
			r.Constant = append(r.Constant, j)
			continue
		}
		r.Scores[j] = byCell[cell]
		if r.Scores[j] > 0 {
			r.Nonzero++
		}
	}
	r.Order, r.Ties = rankFeatures(r.Scores, constant)
	for _, u := range s.u {
		r.U = append(r.U, u.Data)
	}
	r.Passes = s.rows.source.Passes
	r.Distance = math.Sqrt(s.sums.cf / float64(s.c))
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, stream.Textf(format, args...)) }
	if n := r.Nonzero; n < s.d-len(r.Constant) {
		warn("%d of %d features have a score above 0; the others are tied and stand in column order", n, s.d)
	}
	if s.looseIterations > 0 {
		warn("in %d iterations C was not determined: the rows form fewer than %d distinct clusters; choose fewer {clusters}", s.looseIterations, s.c)
	}
	if r.Plan.GramNoRoom {
		warn("XᵀX of %d features does not fit: each step of the weights of a side takes a pass; a higher {memory-limit} saves them", s.d)
	}
}
