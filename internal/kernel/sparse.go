package kernel

import "fmt"

// Sparse is an n×m matrix Z with count entries in every row, such as the weights of
// rows on their nearest anchors: row i has Value[i*Count+e] in column
// Index[i*Count+e]. Columns may repeat within a row.
type Sparse struct {
	Rows, Cols, Count int
	Index             []int32
	Value             []float64
}

// SparseGemm adds Zᵀ·X to C: Z n×m, X n×d in any layout (column-major is fastest),
// C m×d row-major. Costs 2·n·count·d flops. The terms of an element are added one by
// one in the order of the rows: bits do not depend on the team, and cutting the rows
// into several calls does not change them either.
func SparseGemm(t *Team, z Sparse, x, c Matrix[float64]) {
	x.check("X")
	c.check("C")
	if x.Rows != z.Rows || c.Rows != z.Cols || c.Cols != x.Cols || c.ColStride != 1 ||
		len(z.Index) < z.Rows*z.Count || len(z.Value) < z.Rows*z.Count {
		panic(fmt.Sprintf("kernel: SparseGemm of %d×%d (%d a row) and %d×%d into %d×%d",
			z.Rows, z.Cols, z.Count, x.Rows, x.Cols, c.Rows, c.Cols))
	}
	for _, j := range z.Index[:z.Rows*z.Count] {
		if uint(j) >= uint(z.Cols) {
			panic(fmt.Sprintf("kernel: SparseGemm: column %d of %d", j, z.Cols))
		}
	}
	if x.Rows == 0 || x.Cols == 0 || z.Count == 0 {
		return
	}
	p := &t.sparse
	p.z, p.x, p.c = z, x, c
	workers := min(t.workers, panels(x.Cols, strip))
	if z.Rows*z.Count*x.Cols < t.alone {
		workers = 1
	}
	if n := workers * strip * stripRows; len(p.rows) < n {
		p.rows = aligned[float64](n)
	}
	t.together(workers, p.body)
	p.z, p.x, p.c = Sparse{}, Matrix[float64]{}, Matrix[float64]{}
}

const (
	// strip is the number of columns of C that a worker fills at a time: for 2,000
	// anchors they are 512 KB and stay in a level-2 cache while all rows pass by.
	strip = 32
	// stripRows is the number of rows brought into row-major order at a time.
	stripRows = 64
)

// sparseProduct is a SparseGemm under way, and its scratch: strip×stripRows a worker.
type sparseProduct struct {
	team *Team
	z    Sparse
	x, c Matrix[float64]
	rows []float64
	body func(worker int)
}

func (p *sparseProduct) init(t *Team) { p.team, p.body = t, p.work }

func (p *sparseProduct) work(worker int) {
	s, tasks := p.team.join(), panels(p.x.Cols, strip)
	rows := p.rows[worker*strip*stripRows:][:strip*stripRows]
	for task, ok := s.task(tasks); ok; task, ok = s.task(tasks) {
		j := task * strip
		w := min(strip, p.x.Cols-j)
		for i := 0; i < p.x.Rows; i += stripRows {
			n := min(stripRows, p.x.Rows-i)
			p.team.isa.f64.pack(rows[:w*n], w, p.x.Sub(i, j, n, w).Trans())
			e := i * p.z.Count
			p.team.isa.axpyRows(n, p.z.Count, &p.z.Index[e], &p.z.Value[e], &rows[0], w, w, &p.c.Data[j], p.c.RowStride)
		}
	}
}
