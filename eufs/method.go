package eufs

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares EUFS and HUFS.
func Specs() []method.Spec {
	spec := func(m Method, name, about string) method.Spec {
		return method.Spec{
			Name: name, About: about,
			Guide: method.Guide{
				When:    "a table of the papers, whose weights labels choose",
				Time:    "a few products of n·d numbers with the clusters in each iteration",
				Caution: "no tuning without labels was found to help: on public sets random features did better",
			}, From: method.FromRows, Takes: method.Takes{Iterates: true}, Scale: gram.ScaleUnit,
			New: func() method.Method { return &configuredMethod{kind: m} },
		}
	}
	return []method.Spec{
		spec(EUFS, "eufs", "features on which the clusters of the rows depend, by ADMM (Wang, Tang, Liu 2015)"),
		spec(HUFS, "hufs", "the same with a tree of groups over the features (Wang et al. 2017)"),
	}
}

// configuredMethod is EUFS or HUFS with its settings.
type configuredMethod struct {
	kind        Method
	alpha, beta method.Weights
	mu          method.Weight // μ₀; 0 means initialMu's choice
	rho, muMax  float64
	start       string
	state       string
	clusters    int
	stopping    method.Iteration
	graph       string // EUFS
	sigma       float64
	anchors     method.Anchors
	tree        string // HUFS
}

func (m *configuredMethod) Options(o *method.Options) {
	if m.kind == HUFS {
		o.Weights(&m.alpha, "alpha", "weight of the tree (default 0.05x, without a tree 0)")
		o.Weights(&m.beta, "beta", "weight of the row sparsity (default 0.5x)")
		o.Text(&m.tree, "tree", "groups of features by `TREE`: image (names px_R_C), correlation, prefix:SEP, FILE.json (see the verb tree), none, or auto: image for pixels, else correlation (above 10,000 features none)").
			Refuse(m.checkTreeOption)
		m.tree = autoTree
	} else {
		o.Weights(&m.alpha, "alpha", "weight of the row sparsity (default 0.5x)")
		o.Weights(&m.beta, "beta", "weight of the graph (default 0.5x, without a graph 0)")
		m.anchors.Declare(o)
		o.Choice(&m.graph, "graph", "auto", "the graph of the rows: knn (up to 20,000 rows), anchor (above), none", namesOfGraphKinds...)
		o.Float(&m.sigma, "sigma", 0, "width of the weights exp(−d²/σ²) between rows at distance d (default: σ² is the mean d² of neighbours)").
			Bound(func() bool { return m.sigma > 0 && m.sigma-m.sigma == 0 }, "want a number above 0")
		o.Check(m.checkGraphOptions)
	}
	o.Weight(&m.mu, "mu", "the first penalty `MU` of the iteration (default 1x; for eufs the weight of the graph if that is larger)").
		Bound(func() bool { return m.mu.Value > 0 }, "want a number above 0, or a share of the weight that leaves no feature, as 0.1x")
	o.Float(&m.rho, "rho", defaultRho, "factor by which the penalty rises with each iteration").
		Bound(func() bool { return m.rho >= 1 && m.rho-m.rho == 0 }, "want a number of at least 1")
	o.Float(&m.muMax, "mu-max", defaultMuMax, "largest value of the penalty").
		Bound(func() bool { return m.muMax > 0 && m.muMax-m.muMax == 0 }, "want a number above 0")
	o.Start(&m.start).Bound(func() bool { return m.start != "random" }, "eufs and hufs start from clusters; want kmeans or soft")
	o.Choice(&m.state, "state", "float64", "precision of the numbers kept for each row between iterations; float32 halves their memory", "float32", "float64")
	o.Clusters(&m.clusters)
	m.stopping.Declare(o, "100", "1e-4", "changes")
}

func (m *configuredMethod) checkGraphOptions(isSet func(string) bool) error {
	anchors := isSet("anchors") || isSet("anchor-method")
	switch {
	case m.graph == "none" && (anchors || isSet("neighbors") || isSet("sigma")):
		return stream.Usagef("{graph} none: {anchors}, {anchor-method}, {neighbors} and {sigma} shape a graph; leave them out")
	case m.graph == "anchor" && isSet("sigma"):
		return stream.Usagef("{graph} anchor has no {-sigma}; choose {graph} knn, or leave it out")
	case m.graph == "knn" && anchors:
		return stream.Usagef("{graph} knn has no anchors; choose {graph anchor}, or leave {anchors} and {anchor-method} out")
	}
	return nil
}

// chosenWeights returns the weights α and β, see [Options], or their defaults, which are shares of α_max. Without a
// graph (EUFS) or tree (HUFS), the weight of the missing term is 0, and no warning mentions it.
//
// The defaults were chosen among some fifty settings on 13 labelled sets (EUFS) and 12 (HUFS), by the mean NMI of k-means
// on 50, 100 and 200 features, with that of random features as the zero.
//
// EUFS: α = 0.5x and μ₀ = 1x came to −2.4 points with β = 0.1x, to −2.8 with β = 1x, and to −2.7 without graph. With β =
// 0.5x the graph changes up to 33 of the first 100 features, and 9 on average; the former defaults, μ₀ = 10α and β = 0.1,
// let it change 1. A larger β/μ₀ is not safe: L grows with the degrees of the graph, and with β = μ₀ samples of MNIST,
// whose graph joins near rows, share at most 8 of 100 features with all rows, whose graph has anchors. With β = μ₀ = 0.1x,
// which came to −1.1 points, all weights are 0 in the first 15 iterations, too.
//
// HUFS: β = 0.5x, α = 0.05x and μ₀ = 1x with trees of pixels or correlations came to −1.4 points, without tree to −3.0.
// The tree changes 38 of the first 100 features.
func (m *configuredMethod) chosenWeights(hasTree bool) (alpha, beta method.Weights) {
	half := method.Weight{Value: 0.5, Share: true}
	switch {
	case m.kind == HUFS && !hasTree:
		return m.alpha.Or(method.Weight{}), m.beta.Or(half)
	case m.kind == HUFS:
		return m.alpha.Or(method.Weight{Value: 0.05, Share: true}), m.beta.Or(half)
	case m.graph == "none":
		return m.alpha.Or(half), m.beta.Or(method.Weight{})
	}
	return m.alpha.Or(half), m.beta.Or(half)
}

func (m *configuredMethod) newSetup(seed uint64, threads int) Setup {
	s := Setup{Clusters: m.clusters, Start: map[string]Start{"soft": StartSoft}[m.start], Graph: GraphNone, Seed: seed, Threads: threads}
	if m.kind == EUFS {
		s.Graph = GraphKind(slices.Index(namesOfGraphKinds, m.graph))
		s.Neighbors, s.Anchors, s.AnchorKMeans, s.AnchorsBalanced, s.Sigma = m.anchors.Neighbors, m.anchors.Count, m.anchors.KMeans(), m.anchors.IsBalanced(), m.sigma
	}
	return s
}

func (m *configuredMethod) solveOptions(threads int) Options {
	return Options{Method: m.kind, Rho: m.rho, MuMax: m.muMax, MaxIter: m.stopping.Most, Tol: m.stopping.Tol, Float32: m.state == "float32", Threads: threads}
}

// initialMu returns μ₀, the first μ. It is the user's value. If the user gave none, it is alphaMax, see chosenWeights,
// and in EUFS at least β, because below β rounding decides.
func (m *configuredMethod) initialMu(alphaMax, beta float64) float64 {
	mu := cmp.Or(m.mu, method.Weight{Value: 1, Share: true}).Of(cmp.Or(alphaMax, 1))
	if m.kind == EUFS && m.mu.Value == 0 {
		mu = max(mu, beta)
	}
	return mu
}

// maxLoads is the largest number of times that the input is read. Loading tries to store values as bytes, as shorts,
// as float32, and then as float64.
const maxLoads = 4

func (m *configuredMethod) Cost(s method.Shape) (method.Cost, error) {
	d, n := len(s.Columns), s.Rows
	opt, setup := m.solveOptions(s.Threads), m.newSetup(0, s.Threads)
	if m.kind == HUFS {
		var err error
		if opt.Tree, err = m.plannedTree(s.Names(), s.LeftOut); err != nil {
			return method.Cost{}, err
		}
	}
	bytes := m.valueBytes(s)
	memory, files, err := Needs(n, d, bytes, setup, opt)
	if err != nil {
		return method.Cost{}, err
	}
	if setup.Graph == GraphAuto && s.Drops && n > MostNeighbourRows {
		// If rows are dropped, few enough rows for the kNN graph may be left.
		fewerMemory, fewerFiles, err := Needs(MostNeighbourRows, d, bytes, setup, opt)
		if err != nil {
			return method.Cost{}, err
		}
		memory.Memory, files.Memory = max(memory.Memory, fewerMemory.Memory), max(files.Memory, fewerFiles.Memory)
	}
	if m.kind == HUFS && m.chosenTree(s.Names()) == correlationTree {
		distances := 8 * int64(d) * int64(d) // distances between columns, held before rows are loaded
		memory.Memory, files.Memory = max(memory.Memory, distances), max(files.Memory, distances)
	}
	c := method.Cost{
		Bytes: memory.Memory, Least: min(memory.Memory, files.Memory), Shared: n * int64(d) * int64(bytes), Gram: m.kind == HUFS && m.chosenTree(s.Names()) == correlationTree,
		Passes:     method.Passes{Least: 1, Most: maxLoads, Why: stream.Textf("then the rows are loaded, once unless their values turn out not to fit a narrow type")},
		Iterations: opt.WithDefaults().MaxIter,
	}
	if s.Memory > 0 && s.Memory < memory.Memory {
		c.Bytes, c.Scratch, c.Rewritten = files.Memory, files.Scratch, files.Rewritten
	}
	return c, nil
}

// valueBytes returns the largest number of bytes of a value in the solver's copy of the rows. It is 8 if missing values
// are filled by means and a value may be missing, as always in columns of floats.
func (m *configuredMethod) valueBytes(s method.Shape) int {
	filled := s.FillMean && (s.HasNulls || slices.ContainsFunc(s.Columns, func(c stream.Column) bool {
		return ValueBytes([]stream.Column{c}, false) > 2
	}))
	return ValueBytes(s.Columns, filled)
}

// loadedProblem is a Problem, i.e. loaded rows, together with the settings that are to be solved.
type loadedProblem struct {
	*Problem
	settings    *configuredMethod
	evidence    *method.Evidence
	featureTree *Tree
	alpha, beta []resolvedWeight
}

// resolvedWeight is a weight as the user gave it, and as a number.
type resolvedWeight struct {
	given method.Weight
	value float64
}

func (m *configuredMethod) loadRows(ctx context.Context, e *method.Evidence) (*loadedProblem, error) {
	p := &loadedProblem{settings: m, evidence: e}
	if m.kind == HUFS {
		var err error
		if p.featureTree, err = m.growTree(e); err != nil {
			return nil, err
		}
	}
	setup := m.newSetup(e.Seed, e.Threads)
	setup.Scratch, setup.Stages, setup.Meter = e.Scratch, e.Stages, e.Meter
	e.Pass(1, "loading rows")
	var err error
	if p.Problem, err = Prepare(ctx, e.Source, e.Std, setup); err != nil {
		return nil, err
	}
	if err := e.Release(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	alpha, beta := m.chosenWeights(p.featureTree != nil)
	p.alpha, p.beta = p.resolveAndSortWeights(alpha), p.resolveAndSortWeights(beta)
	return p, nil
}

func (p *loadedProblem) resolveAndSortWeights(weights method.Weights) []resolvedWeight {
	var list []resolvedWeight
	for _, w := range weights {
		list = append(list, resolvedWeight{w, w.Of(p.AlphaMax)})
	}
	slices.SortStableFunc(list, func(a, b resolvedWeight) int { return cmp.Compare(a.value, b.value) })
	return slices.CompactFunc(list, func(a, b resolvedWeight) bool { return a.value == b.value })
}

func (p *loadedProblem) rankWithWeights(ctx context.Context, alpha, beta resolvedWeight, threads int) (*method.Ranking, error) {
	opt := p.settings.solveOptions(threads)
	opt.Alpha, opt.Beta = Weight{Value: alpha.value}, Weight{Value: beta.value}
	opt.Tree, opt.Mu, opt.Progress = p.featureTree, p.settings.initialMu(p.AlphaMax, beta.value), p.evidence.Iteration
	res, err := p.Solve(ctx, opt)
	if err != nil {
		return nil, err
	}
	r := &method.Ranking{
		Order: res.Order, Scores: res.Scores, Ties: method.EqualScores(res.Order, res.Scores),
		Unsettled: !res.Converged, Passes: p.Passes(), Warnings: res.Warnings,
	}
	for _, t := range res.Trace {
		r.Trace = append(r.Trace, stream.TraceStep{
			Iteration: t.Iteration, Objective: stream.Number(t.Objective),
			ResidualZU: stream.Number(t.ResidualZ), ResidualE: stream.Number(t.ResidualE),
		})
	}
	if p.settings.kind == HUFS && p.featureTree == nil && alpha.value > 0 {
		r.Warnings = append(r.Warnings, stream.Textf("{tree} none: there are no groups of features, and alpha has no effect"))
	}
	return r, nil
}

func (m *configuredMethod) Select(ctx context.Context, e *method.Evidence) (r *method.Ranking, err error) {
	p, err := m.loadRows(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if r, err = p.rankWithWeights(ctx, p.alpha[0], p.beta[0], e.Threads); err != nil {
		return nil, err
	}
	r.Used = p.settingsForRecord()
	r.Used["mu"] = p.settings.initialMu(p.AlphaMax, p.beta[0].value)
	if n := countFlat(e, r.Order[:e.K]); 2*n >= e.K {
		selected := "1 feature"
		if e.K > 1 {
			selected = stream.Textf("%d features", e.K).String()
		}
		r.Warnings = slices.Concat([]stream.Text{stream.Textf("%d of the %s selected hardly vary (by less than a tenth of their mean): if columns are not centred, such features may win; compare {scale} standard",
			n, selected)}, r.Warnings)
	}
	return r, nil
}

// countFlat counts the chosen features that hardly vary: their standard deviation is less than a tenth of a mean that
// the scaling does not remove. Such a column is nearly constant. A constant column is a combination of the columns of
// U, so it may score high without separating clusters.
func countFlat(e *method.Evidence, chosen []int) (n int) {
	if e.Scale != gram.ScaleNone && e.Scale != gram.ScaleUnit {
		return 0
	}
	for _, j := range chosen {
		if e.Std.Std[j] < 0.1*math.Abs(e.Std.Mean[j]) {
			n++
		}
	}
	return n
}

func (p *loadedProblem) settingsForRecord() map[string]any {
	alpha, beta := p.settings.chosenWeights(p.featureTree != nil)
	opt := p.settings.solveOptions(1).WithDefaults()
	used := map[string]any{
		"alpha": alpha.Record(), "beta": beta.Record(), "alpha_max": p.AlphaMax,
		"max-iter": opt.MaxIter, "tol": opt.Tol, "clusters": p.settings.clusters, "state": p.settings.state,
	}
	if mu := p.settings.mu; mu.Value > 0 {
		used["mu"] = method.Weights{mu}.Record()
	}
	used["rho"], used["mu-max"], used["start"] = p.settings.rho, p.settings.muMax, p.settings.start
	if p.settings.kind == HUFS {
		used["tree"] = noTree
		if p.featureTree != nil {
			used["tree"] = p.settings.chosenTree(p.evidence.Names())
		}
		return used
	}
	kind, anchors := p.Graph()
	used["graph"] = namesOfGraphKinds[kind]
	if kind != GraphNone {
		used["neighbors"] = p.settings.anchors.Neighbors
	}
	if kind == GraphKNN && p.settings.sigma > 0 {
		used["sigma"] = p.settings.sigma
	}
	if kind == GraphAnchor {
		used["anchors"], used["anchor-method"] = anchors, p.settings.anchors.Placing
	}
	return used
}

// Settings implements method.Varied: it returns the number of pairs of weights α and β.
func (m *configuredMethod) Settings() int { return max(len(m.alpha), 1) * max(len(m.beta), 1) }

// Path implements method.Varied: it ranks the features for every α with every β, from rows that are loaded once.
func (m *configuredMethod) Path(ctx context.Context, e *method.Evidence) (g *method.Grid, err error) {
	p, err := m.loadRows(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	rankings := make([]*method.Ranking, len(p.alpha)*len(p.beta))
	weightsOf := func(i int) (alpha, beta resolvedWeight) { return p.alpha[i/len(p.beta)], p.beta[i%len(p.beta)] }
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(max(e.Parallel, 1))
	for i := range rankings {
		group.Go(func() (err error) {
			alpha, beta := weightsOf(i)
			rankings[i], err = p.rankWithWeights(inner, alpha, beta, max(e.Threads/max(e.Parallel, 1), 1))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	g = &method.Grid{Used: p.settingsForRecord(), Passes: p.Passes(), Width: len(p.beta)}
	kind, _ := p.Graph()
	apart := 0
	for i, r := range rankings {
		alpha, beta := weightsOf(i)
		// A μ₀ below β makes the iterates so ill-conditioned that rounding decides.
		rounded := m.kind == EUFS && kind != GraphNone && p.settings.initialMu(p.AlphaMax, beta.value) < beta.value
		if rounded {
			apart++
		}
		flags := stream.Textf("{alpha} %v {beta} %v", alpha.given, beta.given)
		g.Settings = append(g.Settings, method.Setting{
			Alpha: alpha.value, Beta: beta.value, Gamma: math.NaN(), Name: flags, Flags: flags, Ranking: r, Sound: len(r.Warnings) == 0, Apart: rounded,
		})
	}
	if apart > 0 {
		g.Warnings = append(g.Warnings, stream.Textf("%d of %d settings are left out of the agreement: mu is below beta, so that rounding may decide their rankings; choose a larger {mu}",
			apart, len(rankings)))
	}
	return g, nil
}
