package cpufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// solver is one run of Select, with the state of its iteration.
type solver struct {
	model
	opt        Options // with defaults
	rows       *gridReader
	team       *kernel.Team
	descent    *factorDescent
	graph      rowGraph
	stage      stream.Stage
	objectives []float64 // eq. (2) at the start and after each iteration

	g               []float64 // G = XᵀX, d×d, stored in full; if it is nil, every product with G is a pass
	low, high       []float64 // least and largest value of each cell
	conditionOfQ    float64   // condition number of the last Q
	directPasses    int       // number of iterations that needed a pass to find XᵀC
	looseIterations int       // number of iterations in which C was not determined

	sum []float64 // scratch for the products of a pass, see productCount
	// These are scratch for a block: the product of X and a matrix, a matrix by which Xᵀ is multiplied, rows of the product
	// of L and a matrix, and, for anchors, rows of F and XW.
	y, z, lc, f, xw []float64
}

// layOut takes the memory of a run from l, except for the scratch for a block. anchors is 0 for a graph of neighbours.
func (s *solver) layOut(l *room.Layout, shape []int, anchors int) {
	s.model = newModel(l, shape, s.opt.Clusters)
	s.descent = newFactorDescent(l, &s.model)
	s.low, s.high = room.Slice[float64](l, s.d), room.Slice[float64](l, s.d)
	s.sum = room.Slice[float64](l, s.d*s.productCount()*s.c)
	s.graph = &neighbourGraph{s: s, laplacian: new(rows.Graph)}
	if anchors > 0 {
		s.graph = newAnchorGraph(l, s, anchors)
	}
}

func (s *solver) layOutBlock(l *room.Layout, rowsOfTallest int) {
	n := rowsOfTallest * s.c
	s.z, s.lc = room.Slice[float64](l, n*s.productCount()), room.Slice[float64](l, n)
	if _, ok := s.graph.(*anchorGraph); ok {
		s.y, s.f, s.xw = room.Slice[float64](l, n*2), room.Slice[float64](l, n), room.Slice[float64](l, n)
	} else {
		s.y = room.Slice[float64](l, n)
	}
}

// rowGraph is a Laplacian L, together with its part of the iteration over rows.
type rowGraph interface {
	// addClusterRows stores the rows of C of a block, h×c. It is called in the pass that assigns rows to clusters.
	// startClusterPass returns the passes over scratch files for that pass.
	addClusterRows(b *rowBlock, c []float64) error
	startClusterPass() []stream.ScratchPass
	// startIteration multiplies the rows that were stored by mix, c×c, which makes them C, computes the rowSums for F = C
	// with its negative entries set to 0, and prepares the first iteration. The A of all sides, XᵀC and P = XᵀF are known
	// already.
	startIteration(ctx context.Context, mix []float64) error
	// updateCAndF computes C and F for the new A of the model, and then XᵀC, P = XᵀF, the rowSums and GW = XᵀXW.
	updateCAndF(ctx context.Context) error
	// valuesToSave returns the part of an iteration's state that is in memory; the rest is in scratch files. It is for
	// the values of a stream.Stage.
	valuesToSave() []any
	closeFiles() error
}

// multiplyBlock writes X·M for the rows of a block of X to s.y, h×w, for a d×w matrix M, row-major.
func (s *solver) multiplyBlock(b *rowBlock, m []float64, w int) []float64 {
	y := s.y[:b.x.Rows*w]
	clear(y)
	kernel.Gemm(s.team, 1, b.x, kernel.RowMajor(m, s.d, w, w), kernel.RowMajor(y, b.x.Rows, w, w))
	return y
}

// addTransposed adds XᵀY of a block to sum, d×w, for an h×w matrix Y, row-major.
func (s *solver) addTransposed(b *rowBlock, y, sum []float64, w int) {
	kernel.Gemm(s.team, 1, b.x.Trans(), kernel.RowMajor(y, b.x.Rows, w, w), kernel.RowMajor(sum, s.d, w, w))
}

// multiplyByG writes the product of G and the d×c matrix m to dst. Without G in memory, it makes a pass.
func (s *solver) multiplyByG(ctx context.Context, dst, m []float64) error {
	clear(dst)
	c := s.c
	if s.g != nil {
		kernel.Gemm(s.team, 1, kernel.RowMajor(s.g, s.d, s.d, s.d), kernel.RowMajor(m, s.d, c, c), kernel.RowMajor(dst, s.d, c, c))
		return nil
	}
	return s.rows.eachBlock(ctx, "multiplying by XᵀX", func(b *rowBlock) error {
		s.addTransposed(b, s.multiplyBlock(b, m, c), dst, c)
		return nil
	})
}

func copyColumnRange(dst, src []float64, from, width, srcWidth int) {
	for i := range len(src) / max(srcWidth, 1) {
		copy(dst[i*width:][:width], src[i*srcWidth+from:])
	}
}

func joinSideBySide(dst []float64, partWidth int, parts ...[]float64) {
	wide := partWidth * len(parts)
	for p, src := range parts {
		for i := range len(src) / max(partWidth, 1) {
			copy(dst[i*wide+p*partWidth:][:partWidth], src[i*partWidth:][:partWidth])
		}
	}
}

// computeF computes rows of F from rows of XW, C and LC, and returns the rowSums of these rows:
//
//	f = max(0, (αh + ηc − ½ν(LᵀC)) / (α + η))   // line 7, mended: eq. (3)
//
// h being the rows of XW.
func (s *solver) computeF(f, h, cRows, lc []float64) rowSums {
	c, o := s.c, &s.opt
	return s.sumOverRuns(len(cRows)/c, func(t *rowSums, from, to int) {
		for i := from; i < to; i++ {
			hi, ci, li, fi := h[i*c:][:c], cRows[i*c:][:c], lc[i*c:][:c], f[i*c:][:c]
			for k := range fi {
				v := max((o.Alpha*hi[k]+o.Eta*ci[k]-o.Nu/2*li[k])/(o.Alpha+o.Eta), 0)
				fi[k] = v
				off := ci[k] - v
				t.ff += v * v
				t.cf += off * off
				t.clf += v * li[k]
			}
		}
	})
}

// sumOverRuns divides n rows into runs of consecutive rows, and calls visit for each run [from, to). The function visit
// must add the sums over the run to t. The result is the sum of all t, added up in order.
func (s *solver) sumOverRuns(n int, visit func(t *rowSums, from, to int)) (total rowSums) {
	runs := make([]rowSums, (n+rows.RunRows-1)/rows.RunRows)
	rows.EachRun(s.opt.Threads, n, func(run, from, to int) { visit(&runs[run], from, to) })
	for _, t := range runs {
		total.addSums(t)
	}
	return total
}

func (s *solver) rowSumsOfStart(cRows, lcRows []float64) rowSums {
	return s.sumOverRuns(len(cRows)/s.c, func(t *rowSums, from, to int) {
		for i := from * s.c; i < to*s.c; i++ {
			f := max(cRows[i], 0)
			t.ff += f * f
			t.cf += (cRows[i] - f) * (cRows[i] - f)
			t.clf += f * lcRows[i]
		}
	})
}

// productCount returns the number of n×c matrices by which a pass multiplies Xᵀ: F, one that depends on the rowGraph,
// and, if G is not in memory, XW.
func (s *solver) productCount() int {
	if s.g == nil {
		return 3
	}
	return 2
}

// splitSums divides s.sum, which has the products of a pass (see productCount) side by side. It stores the products XᵀF
// and XᵀXW in P and GW, and writes the third one to the argument other. If G is in memory, GW is computed as G·W.
func (s *solver) splitSums(ctx context.Context, other []float64) error {
	c, wide := s.c, s.productCount()*s.c
	copyColumnRange(s.p, s.sum, 0, c, wide)
	copyColumnRange(other, s.sum, c, c, wide)
	if s.g != nil {
		return s.multiplyByG(ctx, s.gw, s.w)
	}
	copyColumnRange(s.gw, s.sum, 2*c, c, wide)
	return nil
}

func multiplyInPlace(team *kernel.Team, x []float64, c int, m, scratch []float64) {
	n := len(x) / c
	old := scratch[:len(x)]
	copy(old, x)
	clear(x)
	kernel.Gemm(team, 1, kernel.RowMajor(old, n, c, c), kernel.RowMajor(m, c, c, c), kernel.RowMajor(x, n, c, c))
}

func cutNegative(dst, x []float64) {
	for i, v := range x {
		dst[i] = max(v, 0)
	}
}
