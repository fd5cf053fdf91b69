package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/baseline"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/sfufs"
	"github.com/ufs-stream/ufs-stream/stream"
)

// graphOf finishes the statistics into the anchor graph of the features that take part,
// and starts the report on them. e is used up.
func (r *request) graphOf(e *evidence, s *stream.Selection) (*anchor.Graph, usedColumns, error) {
	// The graph applies the scaling of its distances; XᵀLX does not depend on a shift.
	m, err := e.moments.Finish(e.columns, gram.FinishOptions{Scale: gram.ScaleCenter, Fill: r.fill()})
	if err != nil {
		return nil, usedColumns{}, place(err, e)
	}
	before := slices.Clone(m.Columns)
	g, err := e.graph.Graph(m)
	if err != nil {
		return nil, usedColumns{}, place(err, e)
	}
	for _, j := range before {
		if _, stays := slices.BinarySearch(m.Columns, j); !stays {
			s.LeftOut = append(s.LeftOut, stream.LeftOut{Name: e.columns[j].Name, Why: "no feature in the profile that the anchors were made with"})
		}
	}
	used := usedColumns{index: m.Columns, mean: m.Mean, std: m.Std, filled: m.Filled}
	s.LeftOut = append(s.LeftOut, e.unlisted(m.LeftOut)...)
	s.Warnings = append(s.Warnings, m.Warnings...)
	s.Features = g.D
	s.Options["anchors"] = g.M
	s.Options["neighbors"] = r.method.graph.neighbors
	if s.K = r.method.k; s.K == 0 {
		s.K = min(defaultK, g.D)
	}
	return g, used, atMost(s.K, g.D, s.LeftOut)
}

// onGraph runs the methods that work from the anchor graph.
func (r *request) onGraph(ctx context.Context, e *evidence, s *stream.Selection) error {
	g, used, err := r.graphOf(e, s)
	if err != nil {
		return err
	}
	cols := used.columns(e)
	switch r.chosen.name {
	case "graphgreedy":
		return r.graphGreedy(ctx, e, g, used, s)
	case "laplacian":
		scores := baseline.LaplacianScore(g)
		order, warnings := baseline.RankLowest(scores, cols, s.K)
		rankUp(e, used, order, scores, s)
		s.LowerIsBetter = true
		s.Warnings = append(s.Warnings, warnings...)
		return r.explain(ctx, g.G, g.D, s)
	case "mcfs":
		s.Options["clusters"] = r.method.graph.clusters
		res, err := baseline.MCFS(g, baseline.MCFSOptions{K: s.K, Clusters: r.method.graph.clusters, Threads: r.limits.threads})
		if err != nil {
			return err
		}
		order, warnings := baseline.Rank(res.Scores, cols, s.K)
		rankUp(e, used, order, res.Scores, s)
		s.Warnings = append(append(s.Warnings, res.Warnings...), warnings...)
		return r.explain(ctx, g.G, g.D, s)
	}
	return r.sparseFit(ctx, e, g, used, s)
}

// explain adds to a ranking what greedy selection knows of its own: how much of the
// centred data the chosen features explain, and which of them each other one is nearest to.
// sym is the d×d Gram matrix of that data.
func (r *request) explain(ctx context.Context, sym []float64, d int, s *stream.Selection) error {
	chosen := make([]int, len(s.Selected))
	for t, f := range s.Selected {
		chosen[t] = f.Column
	}
	res, err := greedy.Select(ctx, sym, d, greedy.Options{K: len(chosen), Keep: chosen, Threads: r.limits.threads})
	if err != nil {
		return err
	}
	for t := range s.Selected {
		s.Selected[t].Error = stream.Number(res.Error[t])
	}
	for j := range s.Columns {
		s.Columns[j].Explained = stream.Number(res.Explained[j])
		if n := res.Nearest[j]; n >= 0 {
			s.Columns[j].Nearest = s.Columns[n].Name
		}
	}
	return nil
}

// sparseFit runs SFUFS or FUFS.
func (r *request) sparseFit(ctx context.Context, e *evidence, g *anchor.Graph, used usedColumns, s *stream.Selection) error {
	if r.grid != nil {
		return r.fitGrid(ctx, e, g, columnNames(used.columns(e)), s)
	}
	opt, err := r.sparseOptions(columnNames(used.columns(e)))
	if err != nil {
		return err
	}
	res, err := sfufs.Select(ctx, g, opt)
	if err != nil {
		return place(err, e)
	}
	rankUp(e, used, res.Order[:s.K], res.Scores, s)
	if err := r.explain(ctx, g.G, g.D, s); err != nil {
		return err
	}
	r.recordSparse(s, opt.WithDefaults(g.D), g.D)
	s.Iterations, s.Converged = res.Iterations(), res.Converged
	for t, v := range res.Objective {
		s.Objective = append(s.Objective, stream.Number(v))
		s.Trace = append(s.Trace, stream.TraceStep{Iteration: t + 1, Objective: stream.Number(v)})
	}
	s.Warnings = append(s.Warnings, res.Warnings...)
	if from, to := res.TiedAt(s.K); from < to {
		s.Warnings = append(s.Warnings, fmt.Sprintf("ranks %d to %d have equal scores: column order decides which are selected", from+1, to))
	}
	if !res.Converged {
		s.Warnings = append(s.Warnings, fmt.Sprintf("not converged after %s; raise --max-iter", plural(res.Iterations(), "iteration")))
	}
	if res.Rose != nil {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the objective rose in iteration %d, from %v to %v, which it must not: do not trust the result", res.Rose.Iteration, res.Rose.From, res.Rose.To))
		s.Converged = false
		return &unconverged{fmt.Sprintf("the objective rose in iteration %d", res.Rose.Iteration)}
	}
	if r.method.graph.converged && !res.Converged {
		return &unconverged{fmt.Sprintf("not converged after %s", plural(res.Iterations(), "iteration"))}
	}
	return nil
}

// recordSparse notes the settings of SFUFS and FUFS for d features: those of opt, with
// its defaults, where path does not vary them.
func (r *request) recordSparse(s *stream.Selection, opt sfufs.Options, d int) {
	f := &r.method.graph
	alpha, gamma := numbers{{value: opt.Alpha}}, numbers{{value: opt.Gamma}}
	if len(f.alpha) > 0 {
		alpha = f.alpha
	}
	if len(f.gamma) > 0 {
		gamma = f.gamma
	}
	if opt.Method == sfufs.SFUFS {
		s.Options["alpha"] = alpha.option()
	}
	s.Options["gamma"] = gamma.option()
	s.Options["constraint"] = opt.Constraint.String()
	s.Options["clusters"] = opt.Clusters
	s.Options["max-iter"], s.Options["tol"] = opt.MaxIter, opt.Tol
	if f.clusters > d {
		s.Warnings = append(s.Warnings, fmt.Sprintf("--clusters %d is more than the %s: there are as many dimensions as features", f.clusters, plural(d, "feature")))
	}
	if f.constraint.value == "identity" && 2*s.K < d {
		s.Warnings = append(s.Warnings, "the constraint WᵀW = I of the papers prefers features that hardly vary, so that few features chosen by it are worse than random ones; --constraint scatter mends that")
	}
}

// sparseOptions are those of the flags; one alpha and one gamma.
func (r *request) sparseOptions(names []string) (sfufs.Options, error) {
	f := &r.method.graph
	opt := sfufs.Options{Clusters: min(f.clusters, len(names)), Tol: f.tol, MaxIter: f.maxIter, Threads: r.limits.threads, Names: names}
	if r.chosen.name == "fufs" {
		opt.Method = sfufs.FUFS
	}
	if f.constraint.value == "scatter" {
		opt.Constraint = sfufs.Scatter
	}
	alpha, err := f.alpha.one("alpha")
	if err != nil {
		return opt, err
	}
	gamma, err := f.gamma.one("gamma")
	opt.Alpha, opt.Gamma = alpha.value, gamma.value
	opt.NoPenalty = len(f.gamma) == 1 && opt.Gamma == 0
	return opt, err
}

// graphGreedy chooses the features that best reconstruct the smoothed data.
func (r *request) graphGreedy(ctx context.Context, e *evidence, g *anchor.Graph, used usedColumns, s *stream.Selection) error {
	opt, err := r.greedyOptions(used.columns(e), s.LeftOut)
	if err != nil {
		return err
	}
	target := g.Smooth(r.limits.threads, r.method.graph.smooth)
	res, err := greedy.SelectTarget(ctx, g.G, g.D, greedy.Target{Rows: g.D, H: target.H}, opt)
	if err != nil {
		return err
	}
	res.Error = target.Error(res.Scores)
	r.writeUp(e, used, res, s)
	s.Options["smooth"] = r.method.graph.smooth
	return nil
}

// unconverged is an iteration that did not end as it must; the result is written first.
type unconverged struct{ what string }

func (u *unconverged) Error() string { return u.what }

// ExitsWith is for internal/exit.
func (*unconverged) ExitsWith() int { return exit.Unconverged }

// recordedGraph takes over the settings that shaped the graph of a statistics file, and
// refuses flags that ask for others.
func (o *selectOptions) recordedGraph(e *evidence) error {
	asked := make(map[string]string)
	o.graphShape(asked)
	asked["missing"] = o.input.missing.value
	for _, flag := range []string{"scale", "neighbors", "anchors", "anchor-method", "anchors-file", "seed", "missing"} {
		recorded, known := e.options[flag]
		switch {
		case !o.given(flag) || recorded == asked[flag]:
		case !known:
			return stream.Usagef("--%s %s: the graph of %s was made without; scan again with the --%[1]s you want", flag, asked[flag], o.stats)
		case flag == "missing" && !e.hasMissing():
		default:
			return stream.Usagef("--%s %s: the graph of %s was made with %s; scan again with the --%[1]s you want", flag, asked[flag], o.stats, recorded)
		}
	}
	if len(o.input.columns)+len(o.input.exclude) > 0 {
		return stream.Usagef("--columns and --exclude: the graph of %s knows distances between whole rows only; scan again with them", o.stats)
	}
	if _, err := fmt.Sscan(e.options["neighbors"], &o.method.graph.neighbors); err != nil {
		return stream.Dataf(o.stats, "no number of neighbors: %w", err)
	}
	var err error
	if seed, drawn := e.options["seed"]; drawn {
		if o.limits.seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return stream.Dataf(o.stats, "no seed: %w", err)
		}
	}
	o.method.scale = e.options["scale"]
	o.scale, err = gram.ParseScale(o.method.scale)
	return err
}

// graphSolverBytes is what a graph method holds beside the graph of m anchors and d
// features.
func (r *request) graphSolverBytes(d, m int) int64 {
	explaining := greedy.Bytes(d, r.expectedK(d), 0)
	switch r.chosen.name {
	case "graphgreedy":
		return anchor.SmoothBytes(m, d) + greedy.Bytes(d, r.expectedK(d), d)
	case "laplacian":
		return 8*int64(d) + explaining
	case "mcfs":
		return max(baseline.MCFSBytes(m, d, baseline.MCFSOptions{K: r.expectedK(d), Clusters: r.method.graph.clusters, Threads: r.limits.threads}), explaining)
	}
	opt, _ := r.sparseOptions(make([]string, max(d, 1)))
	return max(sfufs.Bytes(d, m, opt), explaining)
}
