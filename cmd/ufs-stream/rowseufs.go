package main

import (
	"context"

	"github.com/ufs-stream/ufs-stream/eufs"
	"github.com/ufs-stream/ufs-stream/stream"
)

// eufsMethod is eufs and hufs.
type eufsMethod struct{ *request }

func (m *eufsMethod) hufs() bool { return m.chosen.name == "hufs" }

// weights are the numbers of --alpha and --beta, or their defaults. Half of the sparsity
// that leaves nothing did better than a tenth in 13 of 16 comparisons (COIL20, warpPIE10P;
// both methods; 50 and 200 features; this μ₀ and 1; NMI) and in all on Prostate-GE. What has
// no graph or tree to work on is 0, lest a run that asks for none be warned of it.
func (m *eufsMethod) weights() (alpha, beta numbers) {
	none := numbers{{}}
	switch {
	case m.hufs() && m.method.rows.tree == "":
		alpha, beta = none, numbers{{0.5, true}}
	case m.hufs():
		alpha, beta = numbers{{0.05, true}}, numbers{{0.5, true}}
	case m.method.rows.graph.value == "none":
		alpha, beta = numbers{{0.5, true}}, none
	default:
		alpha, beta = numbers{{0.5, true}}, numbers{{0.1, false}}
	}
	if len(m.method.graph.alpha) > 0 {
		alpha = m.method.graph.alpha
	}
	if len(m.method.rows.beta) > 0 {
		beta = m.method.rows.beta
	}
	return alpha, beta
}

// setup is that of the flags.
func (m *eufsMethod) setup() eufs.Setup {
	f := &m.method.graph
	s := eufs.Setup{Clusters: f.clusters, Graph: eufs.GraphNone, Seed: m.limits.seed, Threads: m.limits.threads}
	if m.hufs() {
		return s
	}
	s.Graph = map[string]eufs.GraphKind{
		"auto": eufs.GraphAuto, "knn": eufs.GraphKNN, "anchor": eufs.GraphAnchor, "none": eufs.GraphNone,
	}[m.method.rows.graph.value]
	s.Neighbors, s.Anchors, s.AnchorKMeans = f.neighbors, f.anchors, f.drawn.value == "kmeans"
	return s
}

// options are those of the flags, without weights and tree.
func (m *eufsMethod) options() eufs.Options {
	opt := eufs.Options{
		Mu: m.method.rows.mu, MaxIter: m.method.graph.maxIter, Tol: m.method.graph.tol,
		Float32: m.method.rows.state.value == "float32", Threads: m.limits.threads,
	}
	if m.hufs() {
		opt.Method = eufs.HUFS
	}
	return opt
}

func (m *eufsMethod) needs(f rowsFrame, n int64, valueBytes int) (rowsNeeds, error) {
	d := len(f.names)
	opt := m.options()
	if m.hufs() {
		var err error
		if opt.Tree, err = m.plannedTree(f); err != nil {
			return rowsNeeds{}, err
		}
	}
	setup := m.setup()
	memory, files, err := eufs.Needs(n, d, valueBytes, setup, opt)
	if err != nil {
		return rowsNeeds{}, err
	}
	if setup.Graph == eufs.GraphAuto && m.input.missing.value == "drop-row" && n > eufs.MostNeighbourRows {
		// Rows that are dropped may leave so few that the graph is the other one.
		fewerMemory, fewerFiles, err := eufs.Needs(eufs.MostNeighbourRows, d, valueBytes, setup, opt)
		if err != nil {
			return rowsNeeds{}, err
		}
		memory.Memory, files.Memory = max(memory.Memory, fewerMemory.Memory), max(files.Memory, fewerFiles.Memory)
	}
	need := rowsNeeds{inMemory: memory.Memory, held: files.Memory, onDisk: files.Scratch, shared: n * int64(d) * int64(valueBytes)}
	if m.method.rows.tree == "correlation" {
		correlation := 8 * int64(d) * int64(d) // of distances, before rows are loaded
		need.inMemory, need.held = max(need.inMemory, correlation), max(need.held, correlation)
	}
	return need, nil
}

func (m *eufsMethod) prepare(ctx context.Context, in rowsInput) (rowsProblem, error) {
	p := &eufsProblem{eufsMethod: m}
	if m.hufs() {
		var err error
		if p.tree, err = m.buildTree(in.frame, in.sym); err != nil {
			return nil, err
		}
	}
	setup := m.setup()
	setup.Scratch, setup.Meter = in.scratch, in.meter
	var err error
	if p.Problem, err = eufs.Prepare(ctx, in.source, in.std, setup); err != nil {
		return nil, err
	}
	return p, nil
}

// eufsProblem is a problem of eufs or hufs.
type eufsProblem struct {
	*eufsMethod
	*eufs.Problem
	tree *eufs.Tree
}

func (p *eufsProblem) passes() int { return p.Passes() }
func (p *eufsProblem) most() int   { return p.options().WithDefaults().MaxIter }

func (p *eufsProblem) settings() rowsGrid {
	alpha, beta := p.weights()
	return newRowsGrid(alpha, beta, p.AlphaMax)
}

// penalty is the μ₀ of a setting: that of --mu, or 1, but so much that neither the start is
// wiped out in the first step nor the iterates are ill-conditioned. On COIL20 (200 features,
// three seeds, NMI) that is as good as 1 or 2 for eufs, 76.5 against 76.3 and 75.3, and
// within the noise for hufs, 75.5 against 77.3 and 76.5; and it converges.
func (p *eufsProblem) penalty(s rowsSetting) float64 {
	if mu := p.method.rows.mu; mu > 0 {
		return mu
	}
	if p.hufs() {
		return max(1, 10*s.beta)
	}
	return max(1, 10*s.alpha, s.beta)
}

func (p *eufsProblem) solve(ctx context.Context, s rowsSetting, threads int, watch func()) (*rowsResult, error) {
	opt := p.options()
	opt.Alpha, opt.Beta = eufs.Weight{Value: s.alpha}, eufs.Weight{Value: s.beta}
	opt.Tree, opt.Mu, opt.Threads = p.tree, p.penalty(s), threads
	opt.Progress = func(int, float64) { watch() }
	res, err := p.Solve(ctx, opt)
	if err != nil {
		return nil, err
	}
	kind, _ := p.Graph()
	out := &rowsResult{order: res.Order, scores: res.Scores, converged: res.Converged, warnings: spelled(res.Warnings),
		rounded: !p.hufs() && kind != eufs.GraphNone && opt.Mu < s.beta}
	for _, t := range res.Trace {
		out.trace = append(out.trace, stream.TraceStep{
			Iteration: t.Iteration, Objective: stream.Number(t.Objective),
			ResidualZU: stream.Number(t.ResidualZ), ResidualE: stream.Number(t.ResidualE),
		})
	}
	if !p.hufs() {
		return out, nil
	}
	if p.tree == nil && s.alpha > 0 {
		out.warnings = append(out.warnings, "without --tree there are no groups of features, and alpha has no effect")
	}
	return out, nil
}

func (p *eufsProblem) record(options map[string]any, s *rowsSetting) {
	alpha, beta := p.weights()
	options["alpha"], options["beta"] = alpha.option(), beta.option()
	options["alpha_max"] = p.AlphaMax
	opt := p.options().WithDefaults()
	options["max-iter"], options["tol"] = opt.MaxIter, opt.Tol
	options["clusters"] = p.method.graph.clusters
	options["state"] = p.method.rows.state.value
	switch {
	case s != nil:
		options["mu"] = p.penalty(*s)
	case p.method.rows.mu > 0:
		options["mu"] = p.method.rows.mu
	}
	if p.hufs() {
		if t := p.method.rows.tree; t != "" {
			options["tree"] = t
		}
		return
	}
	kind, anchors := p.Graph()
	switch kind {
	case eufs.GraphKNN:
		options["graph"], options["neighbors"] = "knn", p.method.graph.neighbors
	case eufs.GraphAnchor:
		options["graph"], options["neighbors"] = "anchor", p.method.graph.neighbors
		options["anchors"], options["anchor-method"] = anchors, p.method.graph.drawn.value
	default:
		options["graph"] = "none"
	}
}
