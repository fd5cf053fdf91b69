package cpufs

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// anchored is the anchor graph, L = I − BBᵀ. Both graph terms of a row need sums over all
// rows, LF = F − B·S_F and LC = C − B·S_C with S_F = BᵀF and S_C = BᵀC, m×c; but what is
// missing is sparse. So an iteration takes one pass,
//
//	f = max(0, (α·xW + ηc − ½ν(c − b·S_C))/(α + η))
//	q' = 2x(A⊙B) + (2η − ν)f     of the next iteration
//
// with sums P = XᵀF, XᵀQ' and S_F, and what follows goes through the state alone:
// q = q' + ν·b·S_F and the R of Q; then c from q, S_C, and XᵀC from XᵀQ = XᵀQ' +
// ν(BᵀX)ᵀS_F. The next A and B are known before the pass, since they follow from XᵀC.
// State is one n×c array, q' and c in turn.
type anchored struct {
	s      *solver
	factor *factor
	rows   *state    // q' or c
	bx     []float64 // BᵀX, m×d
	sf, sc []float64 // m×c
	xq     []float64 // XᵀQ', d×c
	lc     []float64
	taking *walk
}

func (g *anchored) describe() string { return "anchor" }

// newAnchored opens the state.
func newAnchored(s *solver, w weigher, scratch stream.Scratch) (*anchored, error) {
	m, count := w.anchors()
	height, c := s.rows.height, s.c
	// What is wanted in all comes first, so that a run does not fail half way.
	if err := scratch.Reserve(int64(len(height)) * (recordBytes(c, height) + recordBytes(2*count, height))); err != nil {
		return nil, err
	}
	g := &anchored{s: s, bx: make([]float64, m*s.d), sf: make([]float64, m*c), sc: make([]float64, m*c), xq: make([]float64, s.d*c)}
	var err error
	if g.factor, err = newFactor(w, scratch, height); err != nil {
		return nil, err
	}
	if g.rows, err = newState(scratch, "the state of the rows", c, height); err != nil {
		return nil, errors.Join(err, g.factor.pairs.file.Close())
	}
	return g, nil
}

func (g *anchored) close() error {
	return errors.Join(g.factor.pairs.file.Close(), g.rows.file.Close())
}

// walk goes through the rows and their weights.
func (g *anchored) walk(mode stream.ScratchMode) []use {
	return []use{{g.rows, mode}, {g.factor.pairs, stream.ScratchRead}}
}

// take finds the weights of the rows too.
func (g *anchored) take(b *block, c []float64) error {
	if g.taking == nil {
		g.taking = newWalk(use{g.rows, stream.ScratchWrite}, use{g.factor.pairs, stream.ScratchWrite})
	}
	rows, err := g.taking.next()
	if err != nil {
		return err
	}
	copy(rows[0], c)
	z, err := g.factor.weigh(b, rows[1])
	if err != nil {
		return err
	}
	kernel.SparseGemm(g.s.team, z, b.x, kernel.RowMajor(g.bx, g.factor.m, g.s.d, g.s.d))
	return nil
}

func (g *anchored) taken(err error) error {
	if g.taking == nil {
		return err
	}
	return g.taking.close(err)
}

// begin scales C and B, finds S_C, and then the sums of F = C and q' of the first
// iteration, for which A and B follow from XᵀC.
func (g *anchored) begin(ctx context.Context, scale []float64) error {
	s := g.s
	c := s.c
	root := g.factor.root()
	for i := range g.bx {
		g.bx[i] *= root[i/s.d]
	}
	err := each(func(_ int, rows [][]float64) error {
		cRows, pairs := rows[0], rows[1]
		scaleColumns(cRows, scale)
		for e := 0; e < len(pairs); e += 2 {
			pairs[e+1] *= root[int(pairs[e])]
		}
		g.scatter(g.factor.rows(pairs), cRows, g.sc)
		return nil
	}, use{g.rows, stream.ScratchModify}, use{g.factor.pairs, stream.ScratchModify})
	if err != nil {
		return err
	}
	copy(g.sf, g.sc)
	a, b := s.nextAB()
	ab := make([]float64, s.d*c)
	s.khatriRao(ab, a, b)
	return g.pass(ctx, "forming Q", stream.ScratchModify, func(b *block, cRows []float64, weights kernel.Sparse) error {
		s.sums.add(s.compare(cRows, g.smoothed(cRows, weights)))
		y := s.times(b, ab, c)
		for i, f := range cRows {
			cRows[i] = 2*y[i] + (2*s.opt.Eta-s.opt.Nu)*f
		}
		s.addTransposed(b, cRows, g.xq, c)
		return nil
	})
}

// pass goes through the rows of X with their state and weights.
func (g *anchored) pass(ctx context.Context, what string, mode stream.ScratchMode, do func(b *block, rows []float64, weights kernel.Sparse) error) error {
	w := newWalk(g.walk(mode)...)
	return w.close(g.s.rows.pass(ctx, what, func(b *block) error {
		rows, err := w.next()
		if err != nil {
			return err
		}
		return do(b, rows[0], g.factor.rows(rows[1]))
	}))
}

// scatter adds BᵀY of a block to sum, m×c.
func (g *anchored) scatter(b kernel.Sparse, y, sum []float64) {
	c := g.s.c
	kernel.SparseGemm(g.s.team, b, kernel.RowMajor(y, b.Rows, c, c), kernel.RowMajor(sum, g.factor.m, c, c))
}

// smoothed returns the rows of LC = C − B·S_C of a block, lent until the next call.
func (g *anchored) smoothed(c []float64, b kernel.Sparse) []float64 {
	g.lc = grow(g.lc, len(c))
	copy(g.lc, c)
	axpySparse(g.s.opt.Threads, -1, b, g.sc, g.lc, g.s.c)
	return g.lc
}

func (g *anchored) advance(ctx context.Context) error {
	if err := g.newC(ctx); err != nil {
		return err
	}
	s := g.s
	c := s.c
	// X is multiplied by W beside the next A⊙B, and then Xᵀ by F beside Q' and, where G is
	// none, XW.
	a, b := s.nextAB()
	ab := make([]float64, s.d*c)
	s.khatriRao(ab, a, b)
	both := make([]float64, s.d*2*c)
	beside(both, c, s.w, ab)
	parts := 2
	if s.g == nil {
		parts = 3
	}
	sum := make([]float64, s.d*parts*c)
	clear(g.sf)
	s.sums = sums{}
	var f, xw []float64
	err := g.pass(ctx, "updating F", stream.ScratchModify, func(b *block, rows []float64, weights kernel.Sparse) error {
		h := b.x.Rows
		y := s.times(b, both, 2*c)
		f, xw = grow(f, h*c), grow(xw, h*c)
		columns(xw, y, 0, c, 2*c)
		s.sums.add(s.newF(f, xw, rows, g.smoothed(rows, weights)))
		if s.opt.watch != nil {
			s.opt.watch(b.first, rows, f)
		}
		g.scatter(weights, f, g.sf)
		columns(rows, y, c, c, 2*c)
		for i, v := range f {
			rows[i] = 2*rows[i] + (2*s.opt.Eta-s.opt.Nu)*v
		}
		s.z = grow(s.z, h*parts*c)
		beside(s.z, c, [][]float64{f, rows, xw}[:parts]...)
		s.addTransposed(b, s.z, sum, parts*c)
		return nil
	})
	if err != nil {
		return err
	}
	columns(s.p, sum, 0, c, parts*c)
	columns(g.xq, sum, c, c, parts*c)
	return s.settleGW(ctx, sum, 2, parts)
}

// newC makes C of the Q' in state, and finds S_C and XᵀC.
func (g *anchored) newC(ctx context.Context) error {
	s := g.s
	c, m := s.c, g.factor.m
	polar := s.newProcrustes()
	err := each(func(_ int, rows [][]float64) error {
		q := rows[0]
		axpySparse(s.opt.Threads, s.opt.Nu, g.factor.rows(rows[1]), g.sf, q, c)
		return polar.add(q)
	}, g.walk(stream.ScratchModify)...)
	if err != nil {
		return err
	}
	// XᵀQ = XᵀQ' + ν(BᵀX)ᵀS_F
	kernel.Gemm(s.team, s.opt.Nu, kernel.RowMajor(g.bx, m, s.d, s.d).Trans(), kernel.RowMajor(g.sf, m, c, c), kernel.RowMajor(g.xq, s.d, c, c))
	if err := polar.factor(); err != nil {
		return err
	}
	clear(g.sc)
	root := make([]float64, c*c)
	var q []float64
	err = each(func(number int, rows [][]float64) error {
		q = append(q[:0], rows[0]...)
		polar.rowsTo(number, rows[0], q, root)
		g.scatter(g.factor.rows(rows[1]), rows[0], g.sc)
		return nil
	}, g.walk(stream.ScratchModify)...)
	if err != nil {
		return err
	}
	if s.kappa <= mostKappa {
		return s.solveRoot(s.xc, g.xq, root)
	}
	s.direct++
	clear(s.xc)
	return g.pass(ctx, "multiplying by C", stream.ScratchRead, func(b *block, rows []float64, _ kernel.Sparse) error {
		s.addTransposed(b, rows, s.xc, c)
		return nil
	})
}
