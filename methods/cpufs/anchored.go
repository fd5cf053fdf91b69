package cpufs

import (
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// anchorGraph is the anchor graph, with L = I − BBᵀ. A row of LF or LC needs sums over all rows: LF = F − B·S_F and LC
// = C − B·S_C with S_F = BᵀF and S_C = BᵀC, m×c. But the contribution of these sums to a row is sparse. So an iteration
// makes one pass. For each row, with its rows x, f, c, q' and b of X, F, C, Q' and B and the other symbols of the
// package comment, it computes
//
//	f = max(0, (α·xW + ηc − ½ν(c − b·S_C))/(α + η))
//	q' = 2x(A⊙B) + (2η − ν)f     of the next iteration
//
// and the sums P = XᵀF, XᵀQ' and S_F. The other steps read only the state, not X. First they compute the rows q = q' +
// ν·b·S_F of Q and the triangular factor of Q, then the rows c from q, and S_C. XᵀC follows from XᵀQ = XᵀQ' +
// ν(BᵀX)ᵀS_F. The next A and B follow from XᵀC, so they are known before the pass. The state is one n×c array, which
// contains q' and c in turn.
type anchorGraph struct {
	s         *solver
	weights   *rows.AnchoredGraph
	stateFile stream.ScratchFile // q' or c
	bx        []float64          // BᵀX, m×d
	sf, sc    []float64          // S_F and S_C, m×c
	xq        []float64          // XᵀQ', d×c
	both      []float64          // scratch: W and A⊙B side by side, d×2c
}

func newAnchorGraph(l *room.Layout, s *solver, anchors int) *anchorGraph {
	take := func(n int) []float64 { return room.Slice[float64](l, n) }
	return &anchorGraph{s: s, bx: take(anchors * s.d), sf: take(anchors * s.c), sc: take(anchors * s.c), xq: take(s.d * s.c), both: take(s.d * 2 * s.c)}
}

func (g *anchorGraph) openFiles(anchors, neighbors int) (err error) {
	s := g.s
	c, block, blocks := s.c, rowsPerRecord(slices.Max(s.rows.source.Height)), len(s.rows.source.Height)
	total := int64(block) * int64(blocks)
	// Reserve everything first, so that a run does not fail half way.
	if err := s.stage.Reserve(total * int64(stateBytesPerRow(c, neighbors))); err != nil {
		return err
	}
	if g.weights, err = rows.NewAnchored(s.stage, anchors, neighbors, total, block); err != nil {
		g.weights = nil
		return err
	}
	g.stateFile, err = s.stage.Make("the state of the rows", total*8*int64(c), 8*block*c)
	return err
}

func (g *anchorGraph) valuesToSave() []any { return []any{g.bx, g.sf, g.xq} }

func stateBytesPerRow(clusters, neighbors int) int { return 8*clusters + rows.EntryBytes*neighbors }

// rowsPerRecord returns the number of rows for which a record has room, if no block has more than `height` rows. It is
// even, so that all records are aligned to 8 bytes.
func rowsPerRecord(height int) int { return height + height%2 }

func (g *anchorGraph) closeFiles() error {
	if g.weights == nil {
		return nil
	}
	return rows.CloseFiles(g.weights.File, g.stateFile)
}

func (g *anchorGraph) viewBlock(block int, records [][]byte) ([]float64, kernel.Sparse) {
	h := g.s.rows.source.Height[block]
	return rows.ViewNumbers[float64](records[0])[:h*g.s.c], g.weights.ViewRows(records[1], h)
}

// addClusterRows stores c, the rows of C of block b, and computes the weights of the block's rows on the anchors.
func (g *anchorGraph) addClusterRows(b *rowBlock, c []float64) error {
	own, z := g.viewBlock(b.number, b.records)
	copy(own, c)
	if fixed := g.s.opt.givenWeights; fixed != nil {
		copy(z.Index, fixed.Index[b.first*z.Count:])
		copy(z.Value, fixed.Value[b.first*z.Count:])
		g.weights.AddWeights(z)
	} else if err := g.weights.WeighRows(z, b.x); err != nil {
		return err
	}
	kernel.SparseGemm(g.s.team, z, b.x, kernel.RowMajor(g.bx, z.Cols, g.s.d, g.s.d))
	return nil
}

func (g *anchorGraph) startClusterPass() []stream.ScratchPass {
	return []stream.ScratchPass{rows.WritePass(g.stateFile), rows.WritePass(g.weights.File)}
}

func (g *anchorGraph) eachBlock(ctx context.Context, visit func(number int, c []float64, weights kernel.Sparse) error, passes ...stream.ScratchPass) error {
	return rows.EachBlock(ctx, len(g.s.rows.source.Height), func(number int, records [][]byte) error {
		c, weights := g.viewBlock(number, records)
		return visit(number, c, weights)
	}, passes...)
}

// startIteration completes C, scales B, and computes S_C and S_F. Then it computes the sums, and Q' of the first
// iteration, for which the A of all sides follow from XᵀC. See anchorGraph for the symbols.
func (g *anchorGraph) startIteration(ctx context.Context, mix []float64) error {
	s := g.s
	c := s.c
	root := make([]float64, g.weights.M) // Δ^(−1/2), and 0 for an anchor that no row uses
	for j, v := range g.weights.Delta {
		if v > 0 {
			root[j] = 1 / math.Sqrt(v)
		}
	}
	for i := range g.bx {
		g.bx[i] *= root[i/s.d]
	}
	err := g.eachBlock(ctx, func(_ int, cRows []float64, weights kernel.Sparse) error {
		multiplyInPlace(s.team, cRows, s.c, mix, s.y)
		for e, j := range weights.Index {
			weights.Value[e] *= root[j]
		}
		g.addAnchorSums(weights, cRows, g.sc)
		f := s.f[:len(cRows)]
		cutNegative(f, cRows)
		g.addAnchorSums(weights, f, g.sf)
		return nil
	}, rows.ModifyPass(g.stateFile), rows.ModifyPass(g.weights.File))
	if err != nil {
		return err
	}
	s.khatriRao(s.ab, s.nextFactors())
	return g.passWithState(ctx, "forming Q", stream.ScratchModify, func(b *rowBlock, cRows []float64, weights kernel.Sparse) error {
		s.sums.addSums(s.rowSumsOfStart(cRows, g.laplacianRows(cRows, weights)))
		y := s.multiplyBlock(b, s.ab, c)
		for i, v := range cRows {
			cRows[i] = 2*y[i] + (2*s.opt.Eta-s.opt.Nu)*max(v, 0)
		}
		s.addTransposed(b, cRows, g.xq, c)
		return nil
	})
}

func (g *anchorGraph) passWithState(ctx context.Context, purpose string, mode stream.ScratchMode, visit func(b *rowBlock, c []float64, weights kernel.Sparse) error) error {
	return g.s.rows.eachBlock(ctx, purpose, func(b *rowBlock) error {
		c, weights := g.viewBlock(b.number, b.records)
		return visit(b, c, weights)
	}, g.stateFile.Pass(mode), rows.ReadPass(g.weights.File))
}

func (g *anchorGraph) addAnchorSums(weights kernel.Sparse, values, sums []float64) {
	c := g.s.c
	kernel.SparseGemm(g.s.team, weights, kernel.RowMajor(values, weights.Rows, c, c), kernel.RowMajor(sums, weights.Cols, c, c))
}

// laplacianRows returns the rows of LC = C − B·S_C of a block. They are valid until the next call.
func (g *anchorGraph) laplacianRows(c []float64, b kernel.Sparse) []float64 {
	lc := g.s.lc[:len(c)]
	copy(lc, c)
	rows.AddProduct(g.s.opt.Threads, -1, b, g.sc, lc, g.s.c)
	return lc
}

func (g *anchorGraph) updateCAndF(ctx context.Context) error {
	if err := g.computeC(ctx); err != nil {
		return err
	}
	s := g.s
	c := s.c
	// One product computes XW and X(A⊙B) for the next A and B. Another computes XᵀF, XᵀQ' and, if G is not in memory,
	// XᵀXW.
	s.khatriRao(s.ab, s.nextFactors())
	joinSideBySide(g.both, c, s.w, s.ab)
	parts := s.productCount()
	clear(s.sum)
	clear(g.sf)
	s.sums = rowSums{}
	err := g.passWithState(ctx, "updating F", stream.ScratchModify, func(b *rowBlock, own []float64, weights kernel.Sparse) error {
		h := b.x.Rows
		y := s.multiplyBlock(b, g.both, 2*c)
		z, f, xw := s.z[:h*parts*c], s.f[:h*c], s.xw[:h*c]
		copyColumnRange(xw, y, 0, c, 2*c)
		s.sums.addSums(s.computeF(f, xw, own, g.laplacianRows(own, weights)))
		if s.opt.watch != nil {
			s.opt.watch(b.first, own, f)
		}
		g.addAnchorSums(weights, f, g.sf)
		copyColumnRange(own, y, c, c, 2*c)
		for i, v := range f {
			own[i] = 2*own[i] + (2*s.opt.Eta-s.opt.Nu)*v
		}
		joinSideBySide(z, c, [][]float64{f, own, xw}[:parts]...)
		s.addTransposed(b, z, s.sum, parts*c)
		return nil
	})
	if err != nil {
		return err
	}
	return s.splitSums(ctx, g.xq)
}

// computeC computes C from the Q' in the state, and then S_C and XᵀC.
func (g *anchorGraph) computeC(ctx context.Context) error {
	s := g.s
	c, m := s.c, g.weights.M
	polar := newProcrustes(s)
	err := g.eachBlock(ctx, func(_ int, q []float64, weights kernel.Sparse) error {
		rows.AddProduct(s.opt.Threads, s.opt.Nu, weights, g.sf, q, c)
		return polar.addBlock(q)
	}, rows.ModifyPass(g.stateFile), rows.ReadPass(g.weights.File))
	if err != nil {
		return err
	}
	// XᵀQ = XᵀQ' + ν(BᵀX)ᵀS_F
	kernel.Gemm(s.team, s.opt.Nu, kernel.RowMajor(g.bx, m, s.d, s.d).Trans(), kernel.RowMajor(g.sf, m, c, c), kernel.RowMajor(g.xq, s.d, c, c))
	if err := polar.factorizeQ(); err != nil {
		return err
	}
	clear(g.sc)
	root := make([]float64, c*c)
	err = g.eachBlock(ctx, func(number int, own []float64, weights kernel.Sparse) error {
		s.y = append(s.y[:0], own...)
		polar.writeRowsOfC(number, own, s.y, root)
		g.addAnchorSums(weights, own, g.sc)
		return nil
	}, rows.ModifyPass(g.stateFile), rows.ReadPass(g.weights.File))
	if err != nil {
		return err
	}
	if s.conditionOfQ <= maxCondition {
		return polar.divideByRoot(s.xc, g.xq, root)
	}
	s.directPasses++
	clear(s.xc)
	return g.passWithState(ctx, "multiplying by C", stream.ScratchRead, func(b *rowBlock, own []float64, _ kernel.Sparse) error {
		s.addTransposed(b, own, s.xc, c)
		return nil
	})
}
