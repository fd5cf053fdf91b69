package cpufs

import (
	"context"
	"errors"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares CPUFS and CPUFSnn.
func Specs() []method.Spec {
	spec := func(nonnegative bool, name, about string) method.Spec {
		return method.Spec{
			Name: name, About: about,
			Guide: method.Guide{
				When:    "pictures, and other grids of cells; a table of the paper",
				Time:    "a few products of n·d numbers with the clusters in each iteration",
				Caution: "it needs a grid; for clusters random pixels did better on public sets, though it leaves little error",
			}, From: method.FromRows, Scale: gram.ScaleMinMax,
			Takes: method.Takes{
				Iterates: true, Cells: true, Scales: []gram.Scale{gram.ScaleMinMax, gram.ScaleNone},
				WhyScales: stream.Textf("the tensor model of %s takes no negative values and keeps the picture's proportions; want minmax, or none where no value is negative", name),
			},
			PathAdvice: stream.Textf("goes through the rows anew for each setting, which path has nothing to save on; select with each {nu}, {alpha} and {beta}"),
			New:        func() method.Method { return &configuredMethod{name: name, nonnegative: nonnegative} },
		}
	}
	return []method.Spec{
		spec(false, "cpufs", "pixels, or other cells of a grid, through a tensor model of the pictures (Chen, Guan, Li 2023)"),
		spec(true, "cpufsnn", "the same with weights that are not negative, most of them exactly 0"),
	}
}

// configuredMethod is CPUFS or CPUFSnn with its settings.
type configuredMethod struct {
	name        string
	nonnegative bool
	shape       string
	alpha, beta method.Weights
	nu, eta     float64
	graph       string
	clusters    int
	start       string
	anchors     method.Anchors
	stopping    method.Iteration
}

func (m *configuredMethod) Options(o *method.Options) {
	o.Text(&m.shape, "shape", "the grid of the features, `RxC`: rows by columns, a row of it after the other; or RxCxB, by bands, all bands of a pixel in turn (default: from names px_R_C or px_R_C_B)").
		Refuse(func(text string) error {
			if text == "" {
				return stream.Usagef("{shape} is empty: want rows by columns, as 28x28, or also by bands, as 28x28x3")
			}
			_, err := ParseShape(text)
			return err
		})
	o.Weights(&m.alpha, "alpha", "weight of the fit to the clusters (default 1)").Refuse(func(string) error { return m.checkWeights("alpha", m.alpha) })
	o.Weights(&m.beta, "beta", "weight of the row sparsity (default 1)").Refuse(func(string) error { return m.checkWeights("beta", m.beta) })
	o.Float(&m.nu, "nu", 0, "weight `NU` of the graph (default 1)").Refuse(func(string) error { return checkWeight("nu", method.Weight{Value: m.nu}) })
	o.Float(&m.eta, "eta", 0, "weight `ETA` that keeps the clusters nonnegative (default 1e5)").Refuse(func(string) error { return checkWeight("eta", method.Weight{Value: m.eta}) })
	m.anchors.Declare(o)
	o.Choice(&m.graph, "graph", "auto", "the graph of the rows: knn (up to 20,000 rows), anchor (above)", "auto", "knn", "anchor", "none")
	o.Check(func(isSet func(string) bool) error {
		switch {
		case m.graph == "none":
			return stream.Usagef("{graph} none is not for method %s, whose graph weighs {nu}; want knn or anchor", m.name)
		case m.graph == "knn" && (isSet("anchors") || isSet("anchor-method")):
			return stream.Usagef("{graph} knn has no anchors; choose {graph anchor}, or leave {anchors} and {anchor-method} out")
		}
		return nil
	})
	o.Clusters(&m.clusters)
	o.Start(&m.start)
	m.stopping.Declare(o, "500", "1e-6", "falls")
}

func (m *configuredMethod) checkWeights(option string, list method.Weights) error {
	if err := list.RefuseShares(option, m.name); err != nil {
		return err
	}
	for _, w := range list {
		if err := checkWeight(option, w); err != nil {
			return err
		}
	}
	return nil
}

func checkWeight(option string, weight method.Weight) error {
	switch {
	case !(weight.Value > 0):
		return stream.Usagef("%v %v: want a number above 0", stream.Option(option), weight)
	case Options{Nu: weight.Value}.Validate() != nil:
		return stream.Usagef("%v %v: want a number between 1e-12 and 1e12", stream.Option(option), weight)
	}
	return nil
}

func (m *configuredMethod) newOptions(seed uint64, threads int) Options {
	return Options{
		Nonnegative: m.nonnegative, Clusters: m.clusters, Start: map[string]Start{"soft": StartSoft, "random": StartRandom}[m.start], Nu: m.nu, Eta: m.eta, Alpha: m.alpha.First(), Beta: m.beta.First(),
		MaxIter: m.stopping.Most, Tol: m.stopping.Tol, Neighbors: m.anchors.Neighbors, Anchors: m.anchors.Count, AnchorKMeans: m.anchors.KMeans(), AnchorsBalanced: m.anchors.IsBalanced(),
		Graph: map[string]GraphKind{"knn": GraphKNN, "anchor": GraphAnchors}[m.graph],
		Seed:  seed, Threads: threads,
	}
}

func (m *configuredMethod) newGrid(names []string) (Grid, error) {
	if m.shape == "" {
		return NewGrid(names, nil)
	}
	shape, err := ParseShape(m.shape)
	if err != nil {
		return Grid{}, err
	}
	return NewGrid(names, shape)
}

func (m *configuredMethod) Cost(s method.Shape) (method.Cost, error) {
	grid, err := m.newGrid(s.Names())
	if err != nil {
		return method.Cost{}, err
	}
	opt := m.newOptions(0, s.Threads)
	opt.Scratch = stream.InMemory{} // Select will have a scratch, and Plan only checks whether it is nil
	if opt.Memory = s.Memory; opt.Memory == 0 {
		opt.Memory = math.MaxInt64 / 2
	}
	p, err := opt.Plan(s.Source, grid)
	if err != nil && !errors.As(err, new(*stream.MemoryError)) { // Least reports too little memory
		return method.Cost{}, err
	}
	opt = opt.WithDefaults(s.Source.Rows())
	c := method.Cost{Bytes: p.Bytes, Least: p.Least, Scratch: p.Scratch, Rewritten: p.Rewritten, Cramped: p.GramNoRoom, Passes: p.inputPasses(opt), Iterations: opt.MaxIter}
	if s.Memory > 0 {
		c.Bytes = s.Memory
	}
	return c, nil
}

// inputPasses returns the number of times that a run of at most opt.MaxIter iterations reads the input.
func (p Plan) inputPasses(opt Options) method.Passes {
	if p.RowsInMemory {
		return method.Passes{Least: p.SetupPasses, Most: p.SetupPasses, Why: stream.Textf("then the rows are loaded")}
	}
	each := p.IterationPasses + 1 // one more if rounding would blur XᵀC
	why := stream.Textf("then %d to set up, and %d or %d an iteration, at most %d of these", p.SetupPasses, p.IterationPasses, each, opt.MaxIter)
	most := p.SetupPasses + each*opt.MaxIter
	if !p.Gram {
		// The first step of each side finds its length with a pass. Projected steps need a pass for every trial, at most
		// 60.
		if most += p.sides; opt.Nonnegative {
			most += p.sides * opt.Steps * 59 * opt.MaxIter
			why = stream.Textf("then %d to set up, and %d or more an iteration, at most %d of these", p.SetupPasses, p.IterationPasses, opt.MaxIter)
		}
	}
	return method.Passes{Least: p.SetupPasses + p.IterationPasses, Most: most, Why: why}
}

func (m *configuredMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	for j := range e.Profile.Columns {
		if c := &e.Profile.Columns[j]; c.Observed > 0 && math.IsInf(c.Max-c.Min, 0) {
			return nil, &stream.DataError{RowGroup: -1, Row: -1, Column: e.Columns[j].Name, Err: errors.New("the range of its values overflows")}
		}
	}
	grid, err := m.newGrid(e.Names())
	if err != nil {
		return nil, err
	}
	opt := m.newOptions(e.Seed, e.Threads)
	if opt.WithDefaults(e.Source.Rows()).Graph == GraphAnchors && opt.Anchors == 0 {
		// The number of anchors depends on the rows that are not dropped, and is at most the planned number.
		if opt.Anchors, err = anchor.Count(0, e.Rows, opt.Neighbors); err != nil {
			return nil, err
		}
	}
	opt.Scaling, opt.Memory, opt.Scratch, opt.Stages = newScaling(e), e.Memory, e.Scratch, e.Stages
	opt.Meter, opt.Pass, opt.Progress = e.Meter, e.Pass, e.Iteration
	res, err := Select(ctx, e.Source, grid, opt)
	if err != nil {
		return nil, err
	}
	if err := e.Release(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(e.Rows)
	r := res.ToRanking()
	r.Passes, r.Warnings = res.Passes, res.Warnings
	r.Used = map[string]any{
		"shape": shapeText(grid.Shape), "clusters": opt.Clusters, "start": m.start,
		"nu": opt.Nu, "alpha": opt.Alpha, "beta": opt.Beta, "eta": opt.Eta,
		"max-iter": opt.MaxIter, "tol": opt.Tol, "graph": res.Graph, "neighbors": opt.Neighbors,
	}
	if res.Graph == "anchor" {
		r.Used["anchors"], r.Used["anchor-method"] = res.Plan.Anchors, m.anchors.Placing
	}
	if e.K > res.Nonzero {
		r.Ties = nil // the warning replaces them
		r.Warnings = append(r.Warnings, stream.Textf("ranks %d to %d have a score of 0: column order decides which are selected; {k} %d takes those that the method chose",
			res.Nonzero+1, e.K, max(res.Nonzero, 1)))
	}
	return r, nil
}

// newScaling returns the scaling to [0, 1], or else a scaling that only fills in missing values, or nil.
func newScaling(e *method.Evidence) *Scaling {
	s := MinMax(e.Profile, e.Fill)
	switch {
	case e.Scale == gram.ScaleMinMax:
		return s
	case !e.Missing:
		return nil
	}
	return &Scaling{Fill: s.Fill}
}
