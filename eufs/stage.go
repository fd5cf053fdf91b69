package eufs

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// problemState is the saved part of a problem without its files. A run that resumes from it reads no rows again.
type problemState struct {
	element, passes int
	startRows       []float64
	v               []float64
	alphaMax        float64
	anchorCount     int
	// These are the arrays of rows.Graph, if the graph is of nearest rows.
	neighbourStart []int
	neighbourIndex []int32
	neighbourValue []float64
}

func (s *problemState) pointersToFields() []any {
	return []any{&s.element, &s.passes, &s.startRows, &s.v, &s.alphaMax, &s.anchorCount, &s.neighbourStart, &s.neighbourIndex, &s.neighbourValue}
}

func (p *Problem) currentState() *problemState {
	s := &problemState{element: int(p.t.element), passes: p.Passes(), startRows: p.start.clusterRows, v: p.v, alphaMax: p.AlphaMax, anchorCount: p.anchorCount}
	if g := p.graph; g != nil && g.neighbours != nil {
		s.neighbourStart, s.neighbourIndex, s.neighbourValue = g.neighbours.Start, g.neighbours.Index, g.neighbours.Value
	}
	return s
}

func (p *Problem) restoreFrom(stage stream.Stage, s *problemState) (err error) {
	t := p.t
	if s.element < 0 || s.element >= len(elements) || len(s.v) != t.d*t.k || s.startRows != nil && len(s.startRows) != t.k*t.k {
		return stream.Dataf("", "the checkpoint belongs to other rows: remove its folder")
	}
	t.element = elementType(s.element)
	t.passes.Store(int64(s.passes))
	p.v, p.AlphaMax, p.anchorCount = s.v, s.alphaMax, s.anchorCount
	if !p.setup.Reread {
		if err := t.makeFile(stage); err != nil {
			return err
		}
	}
	p.start = &startSource{layout: t.layout, u: p.setup.U, clusterRows: s.startRows}
	if p.setup.Start != StartGiven {
		if err := p.start.makeFile(stage); err != nil {
			return err
		}
	}
	switch p.setup.Graph {
	case GraphKNN:
		p.graph = &graph{neighbours: &rows.Graph{Start: s.neighbourStart, Index: s.neighbourIndex, Value: s.neighbourValue}}
		p.graph.neighbours.SetDegrees()
	case GraphAnchor:
		p.graph = new(graph)
		p.graph.anchored, err = rows.NewAnchored(stage, p.anchorCount, p.setup.Neighbors, t.n, t.block)
	}
	return err
}

// stageName returns the name under which the state of the run is saved. It depends on the settings, the tree, and the
// form of the saved figures.
func (s *solver) stageName() string {
	h := fnv.New64a()
	fmt.Fprint(h, s.alpha, s.beta, s.opt.Mu, s.opt.Rho, s.opt.MuMax, s.opt.Method, s.opt.Float32, figuresOfStep)
	if s.opt.Tree != nil {
		fmt.Fprint(h, s.opt.Tree.nodeGroups())
	}
	return fmt.Sprintf("solve%016x", h.Sum64())
}

func (s *solver) loadProgress(ctx context.Context) (stream.Progress, error) {
	progress, err := s.stage.Load(ctx, s.valuesToSave()...)
	if err == nil && progress != stream.StageNew {
		s.trace = traceFromNumbers(s.figures)
	}
	return progress, err
}

// valuesToSave returns the state of an iteration without M and without the state of the rows, with the symbols of the
// package comment: V and the previous V, BᵀU or all of U, HUFS's P and Y₃, and the figures so far.
func (s *solver) valuesToSave() []any {
	s.figures = traceToNumbers(s.trace)
	list := []any{&s.mu, &s.ratio, s.v, s.oldV, &s.figures}
	if s.multiplier != nil {
		list = append(list, s.multiplier.gathered[argumentU])
	}
	if s.tree != nil {
		for i := range s.tree.p {
			list = append(list, s.tree.p[i], s.tree.y[i])
		}
	}
	return list
}

const figuresOfStep = 9 // numbers of a Step that are saved

func traceToNumbers(trace []Step) []float64 {
	var list []float64
	for _, s := range trace {
		list = append(list, float64(s.Iteration), s.Mu, s.Objective, s.Split, s.Graph, s.ResidualZ, s.ResidualE, s.ResidualP, float64(s.Rank))
	}
	return list
}

func traceFromNumbers(figures []float64) []Step {
	var trace []Step
	for ; len(figures) >= figuresOfStep; figures = figures[figuresOfStep:] {
		f := figures
		trace = append(trace, Step{Iteration: int(f[0]), Mu: f[1], Objective: f[2], Split: f[3], Graph: f[4], ResidualZ: f[5], ResidualE: f[6], ResidualP: f[7], Rank: int(f[8])})
	}
	return trace
}
