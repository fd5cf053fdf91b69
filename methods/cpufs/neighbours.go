package cpufs

import (
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// neighbourGraph is the graph of nearest neighbours. Its Laplacian may join any two rows, so all of C and F is in
// memory, n×c each. An iteration makes two passes.
type neighbourGraph struct {
	s         *solver
	laplacian *rows.Graph
	c, f      []float64
}

func (g *neighbourGraph) setLaplacian(laplacian *rows.Graph) {
	n := g.s.rows.source.N * g.s.c
	g.laplacian, g.c, g.f = laplacian, make([]float64, n), make([]float64, n)
}

func (g *neighbourGraph) valuesToSave() []any {
	return []any{&g.laplacian.Start, &g.laplacian.Index, &g.laplacian.Value, &g.c, &g.f}
}

func (g *neighbourGraph) closeFiles() error                      { return nil }
func (g *neighbourGraph) startClusterPass() []stream.ScratchPass { return nil }

func (g *neighbourGraph) addClusterRows(b *rowBlock, c []float64) error {
	copy(g.c[b.first*g.s.c:], c)
	return nil
}

func (g *neighbourGraph) rowsOfBlock(x []float64, block int) []float64 {
	r := g.s.rows.source
	return x[r.First[block]*g.s.c:][:r.Height[block]*g.s.c]
}

func (g *neighbourGraph) startIteration(_ context.Context, mix []float64) error {
	s := g.s
	for number := range s.rows.source.Height {
		multiplyInPlace(s.team, g.rowsOfBlock(g.c, number), s.c, mix, s.y)
	}
	cutNegative(g.f, g.c)
	for number, h := range s.rows.source.Height {
		lc := s.lc[:h*s.c]
		g.laplacian.LaplacianTo(s.opt.Threads, lc, g.c, s.rows.source.First[number], h, s.c)
		s.sums.addSums(s.rowSumsOfStart(g.rowsOfBlock(g.c, number), lc))
	}
	return nil
}

func (g *neighbourGraph) updateCAndF(ctx context.Context) error {
	if err := g.computeC(ctx); err != nil {
		return err
	}
	s := g.s
	c := s.c
	// One product computes XᵀF, XᵀC and, if G is not in memory, XᵀXW.
	parts := s.productCount()
	clear(s.sum)
	s.sums = rowSums{}
	err := s.rows.eachBlock(ctx, "updating F", func(b *rowBlock) error {
		h := b.x.Rows
		y, f, cRows := s.multiplyBlock(b, s.w, c), g.rowsOfBlock(g.f, b.number), g.rowsOfBlock(g.c, b.number)
		z, lc := s.z[:h*parts*c], s.lc[:h*c]
		g.laplacian.LaplacianTo(s.opt.Threads, lc, g.c, b.first, h, c)
		s.sums.addSums(s.computeF(f, y, cRows, lc))
		joinSideBySide(z, c, [][]float64{f, cRows, y}[:parts]...)
		s.addTransposed(b, z, s.sum, parts*c)
		if s.opt.watch != nil {
			s.opt.watch(b.first, cRows, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.splitSums(ctx, s.xc)
}

// computeC overwrites C by Q (see the package comment), and then computes the new C from Q.
func (g *neighbourGraph) computeC(ctx context.Context) error {
	s := g.s
	c := s.c
	s.khatriRao(s.ab, s.a)
	polar := newProcrustes(s)
	err := s.rows.eachBlock(ctx, "forming Q", func(b *rowBlock) error {
		h := b.x.Rows
		y, f, q := s.multiplyBlock(b, s.ab, c), g.rowsOfBlock(g.f, b.number), g.rowsOfBlock(g.c, b.number)
		lf := s.lc[:h*c]
		g.laplacian.LaplacianTo(s.opt.Threads, lf, g.f, b.first, h, c)
		for i := range q {
			q[i] = 2*y[i] - s.opt.Nu*lf[i] + 2*s.opt.Eta*f[i]
		}
		return polar.addBlock(q)
	})
	if err != nil {
		return err
	}
	if err := polar.factorizeQ(); err != nil {
		return err
	}
	root := make([]float64, c*c) // writeRowsOfC fills it, but it is not used, because XᵀC is summed up from C
	for number := range s.rows.source.Height {
		own := g.rowsOfBlock(g.c, number)
		polar.writeRowsOfC(number, own, append(s.y[:0], own...), root)
	}
	return nil
}

// heatGraph joins near rows x and y by edges of weight w = exp(−‖x−y‖²/σ²), and normalizes the matrix W of the weights:
// A = D^(−1/2)·W·D^(−1/2), D being the diagonal matrix of the row sums of W.
//
// With values in [0, 1] and the paper's σ = 1, the distances ‖x−y‖² of pictures are a few tens, and w is 10⁻¹⁰ or less.
// A number added to all squared distances of a row would cancel in A. So A is computed from logarithms of w, which do
// not underflow, and pictures of any size keep their edges.
func heatGraph(near []rows.Neighbour, n int, sigma float64) *rows.Graph {
	g := rows.JoinNeighbours(near, n)
	g.MapValues(func(_, _ int, square float64) float64 { return -square / sigma / sigma })
	degree := make([]float64, n) // logarithm of the degree
	for i := range degree {
		degree[i] = logSumExp(g.Value[g.Start[i]:g.Start[i+1]])
	}
	g.MapValues(func(i, j int, v float64) float64 { return math.Exp(v - (degree[i]+degree[j])/2) })
	return g
}

func logSumExp(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	top, sum := slices.Max(x), 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}
