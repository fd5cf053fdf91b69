package cpufs

import (
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Select ranks the features of a source that lie on a grid. It holds no more than
// opt.Memory beside the source's chunks, see [Options.Plan]. The answer is the same to
// the last bit for any number of workers, and for any memory in which G fits; without G
// it is the same to rounding.
//
// The error is a *stream.UsageError, a *stream.DataError for values the model cannot
// take, a *stream.MemoryError, or the source's. A rising objective is none, see Result.
func Select(ctx context.Context, src stream.Source, grid Grid, opt Options) (*Result, error) {
	s, plan, err := newSolver(src, grid, opt)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, plan)
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
		if err := opt.Scaling.check(len(grid.Cell)); err != nil {
			return nil, plan, err
		}
	}
	s := &solver{opt: opt, team: kernel.NewTeam(opt.Threads), model: newModel(grid.Shape, opt.Clusters)}
	s.rows = &reader{Source: rows.Source{Source: src, Meter: opt.Meter, OnPass: opt.Pass}, columns: src.Columns(),
		grid: grid, scaling: opt.Scaling, workers: opt.Threads, keep: plan.RowsInMemory}
	s.descent = newDescent(&s.model)
	if plan.Gram {
		s.g = make([]float64, s.d*s.d)
	}
	scratch := opt.Scratch
	if plan.StateInMemory {
		scratch = stream.InMemory{}
	}
	s.stage = stream.StageOf(opt.Stages, "rows", scratch)
	return s, plan, nil
}

// run prepares and iterates. It closes what it opened.
func (s *solver) run(ctx context.Context, plan Plan) (r *Result, err error) {
	defer func() {
		if s.graph == nil {
			return
		}
		if e := s.graph.close(); err == nil && e != nil {
			r, err = nil, e
		}
	}()
	if err := s.begin(ctx, plan); err != nil {
		return nil, err
	}
	return s.iterate(ctx, plan)
}

// begin prepares the first iteration, or takes up those that were saved: G, the heights of the
// blocks and rows in memory come from a pass then.
func (s *solver) begin(ctx context.Context, plan Plan) error {
	s.graph = &neighbours{s: s, l: new(rows.Graph)}
	if plan.Graph == GraphAnchors {
		s.graph = newAnchored(s, plan.Anchors)
	}
	progress, err := s.stage.Load(ctx, s.values()...)
	if err != nil {
		return err
	}
	if progress == stream.StageNew {
		if err := s.prepare(ctx, plan); err != nil {
			return err
		}
		value, _ := s.objective(&s.opt)
		s.fall = []float64{value}
		return s.stage.Save(ctx, 0, s.values()...)
	}
	passes := s.rows.Passes
	if err := s.scan(ctx, nil); err != nil {
		return err
	}
	s.rows.Passes = passes
	if g, ok := s.graph.(*anchored); ok {
		return g.open(plan.Anchors, plan.neighbors)
	}
	return nil
}

// values are what an iteration needs beside the files, and beside what a pass over the rows finds.
func (s *solver) values() []any {
	return append(s.graph.values(), &s.a, &s.b, &s.u, &s.v, s.w, s.xc, s.p, s.gw, &s.sums.ff, &s.sums.cf, &s.sums.l,
		&s.descent.rates[0], &s.descent.rates[1], &s.kappa, &s.direct, &s.loose, &s.rows.Passes, &s.fall)
}

func (s *solver) iterate(ctx context.Context, plan Plan) (*Result, error) {
	r := &Result{Graph: plan.Graph.String(), Plan: plan}
	last := [][]float64{slices.Clone(s.w), slices.Clone(s.u), slices.Clone(s.v)}
	for t := len(s.fall); t <= s.opt.updates(); t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.a, s.b = s.nextAB()
		if err := s.graph.advance(ctx); err != nil {
			return nil, err
		}
		if err := s.steps(ctx); err != nil {
			return nil, err
		}
		value, size := s.objective(&s.opt)
		before := s.fall[t-1]
		s.fall = append(s.fall, value)
		if s.opt.Progress != nil {
			s.opt.Progress(t, value)
		}
		if allowed := s.rounding() * size; !(value <= before+allowed) {
			r.Rose = &method.Rise{Iteration: t, From: before, To: value, Allowed: allowed}
			s.w, s.u, s.v = last[0], last[1], last[2]
			break
		}
		copy(last[0], s.w)
		copy(last[1], s.u)
		copy(last[2], s.v)
		if s.opt.Iterations == 0 && before-value <= s.opt.Tol*before {
			r.Converged = true
			break
		}
		if err := s.stage.Save(ctx, t, s.values()...); err != nil {
			return nil, err
		}
	}
	r.Objective = s.fall
	s.finish(r)
	return r, nil
}

// rounding bounds the error of the objective as a share of its terms: sums over the rows
// are chains of 256 terms and then a chain of their sums, sums over W have d·c terms,
// XᵀC carries the condition of Q, and C is orthonormal to 8c units.
func (s *solver) rounding() float64 {
	n, c := float64(s.rows.N), float64(s.c)
	return 0x1p-53 * (256 + n/256 + float64(len(s.rows.Height)) + float64(s.d)*c + 8*c + min(s.kappa, mostKappa))
}

// prepare does all that comes before the first iteration.
func (s *solver) prepare(ctx context.Context, plan Plan) error {
	sample := anchor.NewSampler(s.d, anchor.SamplerOptions{
		Rows: sampleRows(s.d, s.c, plan.Anchors), Seed: s.opt.Seed, Limit: math.MaxInt64}) // counted in Plan
	if err := s.scan(ctx, sample); err != nil {
		return err
	}
	if s.c > s.rows.N {
		return stream.Usagef("{clusters} %d: there are %d rows", s.c, s.rows.N)
	}
	x, err := s.placed(sample.Draw(sample.Len()))
	if err != nil {
		return err
	}
	centers, err := s.clusters(ctx, x)
	if err != nil {
		return err
	}
	if err := s.join(ctx, plan, x); err != nil {
		return err
	}
	scale, err := s.assign(ctx, centers)
	if err != nil {
		return err
	}
	if err := s.factors(ctx); err != nil {
		return err
	}
	return s.graph.begin(ctx, scale)
}

// join makes the graph; x is the sample.
func (s *solver) join(ctx context.Context, plan Plan, x kernel.Matrix[float64]) error {
	switch g := s.graph.(type) {
	case *anchored:
		points, err := s.anchors(ctx, plan, x)
		if err != nil {
			return err
		}
		if err := g.open(plan.Anchors, plan.neighbors); err != nil {
			return err
		}
		if s.opt.weights == nil {
			g.weights.Place(s.team, points, anchor.Weights)
		}
	case *neighbours:
		l := s.opt.matrix
		if l == nil {
			near, err := s.rows.nearest(ctx, s.team, min(s.opt.Neighbors, s.rows.N-1), plan.room)
			if err != nil {
				return err
			}
			l = heatGraph(near, s.rows.N, s.opt.Sigma)
		}
		g.join(l)
	}
	return nil
}

// anchors places them: rows that the options name, the first of the sample, or the centres
// of its clusters.
func (s *solver) anchors(ctx context.Context, plan Plan, x kernel.Matrix[float64]) (kernel.Matrix[float64], error) {
	m := plan.Anchors
	switch {
	case s.opt.weights != nil:
		return x, nil // not used
	case s.opt.AnchorRows != nil:
		return s.placed(s.opt.AnchorRows)
	case m > x.Rows:
		return x, stream.Usagef("{anchors} %d: there are %d rows", m, x.Rows)
	case s.opt.AnchorKMeans:
		// As package anchor: the last moves of the centres are small.
		r, err := cluster.KMeans(ctx, cluster.Matrix(x), cluster.Options{Clusters: m, MaxIter: 50, Tol: 1e-3, Seed: s.opt.Seed, Threads: s.opt.Threads})
		if err != nil {
			return x, err
		}
		return kernel.Matrix[float64](r.Centers), nil
	}
	return x.Sub(0, 0, m, s.d), nil
}
