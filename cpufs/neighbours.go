package cpufs

import "context"

// neighbours is the graph of nearest neighbours. Its Laplacian joins any row with any
// other, so that C and F are in memory whole, n×c. An iteration takes two passes.
type neighbours struct {
	s    *solver
	l    *laplacian
	c, f []float64
}

func newNeighbours(s *solver, l *laplacian) *neighbours {
	n := s.rows.n * s.c
	return &neighbours{s: s, l: l, c: make([]float64, n), f: make([]float64, n)}
}

func (g *neighbours) describe() string      { return "knn" }
func (g *neighbours) close() error          { return nil }
func (g *neighbours) taken(err error) error { return err }

func (g *neighbours) take(b *block, c []float64) error {
	copy(g.c[b.first*g.s.c:], c)
	return nil
}

// rows are those of a block in C or F.
func (g *neighbours) rows(x []float64, number int) []float64 {
	r := g.s.rows
	return x[r.first[number]*g.s.c:][:r.height[number]*g.s.c]
}

func (g *neighbours) begin(_ context.Context, scale []float64) error {
	s := g.s
	scaleColumns(g.c, scale)
	copy(g.f, g.c)
	for number, h := range s.rows.height {
		s.y = grow(s.y, h*s.c)
		g.l.mulTo(s.opt.Threads, s.y, g.c, s.rows.first[number], h, s.c)
		s.sums.add(s.compare(g.rows(g.c, number), s.y))
	}
	return nil
}

func (g *neighbours) advance(ctx context.Context) error {
	if err := g.newC(ctx); err != nil {
		return err
	}
	s := g.s
	c := s.c
	// Xᵀ is multiplied by F beside C and, where G is none, XW.
	parts := 2
	if s.g == nil {
		parts = 3
	}
	sum := make([]float64, s.d*parts*c)
	s.sums = sums{}
	var lc []float64
	err := s.rows.pass(ctx, "updating F", func(b *block) error {
		h := b.x.Rows
		y, f, cRows := s.times(b, s.w, c), g.rows(g.f, b.number), g.rows(g.c, b.number)
		lc = grow(lc, h*c)
		g.l.mulTo(s.opt.Threads, lc, g.c, b.first, h, c)
		s.sums.add(s.newF(f, y, cRows, lc))
		s.z = grow(s.z, h*parts*c)
		beside(s.z, c, [][]float64{f, cRows, y}[:parts]...)
		s.addTransposed(b, s.z, sum, parts*c)
		if s.opt.watch != nil {
			s.opt.watch(b.first, cRows, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	columns(s.p, sum, 0, c, parts*c)
	columns(s.xc, sum, c, c, parts*c)
	return s.settleGW(ctx, sum, 2, parts)
}

// newC forms Q in C's place, and C of it.
func (g *neighbours) newC(ctx context.Context) error {
	s := g.s
	c := s.c
	ab := make([]float64, s.d*c)
	s.khatriRao(ab, s.a, s.b)
	polar := s.newProcrustes()
	var lf []float64
	err := s.rows.pass(ctx, "forming Q", func(b *block) error {
		h := b.x.Rows
		y, f, q := s.times(b, ab, c), g.rows(g.f, b.number), g.rows(g.c, b.number)
		lf = grow(lf, h*c)
		g.l.mulTo(s.opt.Threads, lf, g.f, b.first, h, c)
		for i := range q {
			q[i] = 2*y[i] - s.opt.Nu*lf[i] + 2*s.opt.Eta*f[i]
		}
		return polar.add(q)
	})
	if err != nil {
		return err
	}
	if err := polar.factor(); err != nil {
		return err
	}
	root := make([]float64, c*c) // not needed: XᵀC is summed up from C
	for number := range s.rows.height {
		rows := g.rows(g.c, number)
		s.y = append(s.y[:0], rows...)
		polar.rowsTo(number, rows, s.y, root)
	}
	return nil
}
