package kernel

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// Sparse is an n×m matrix Z with the same number of entries, Count, in every row, such as the weights of rows on their
// nearest anchors: row i has Value[i*Count+e] in column Index[i*Count+e]. Columns may repeat within a row.
type Sparse struct {
	Rows, Cols, Count int
	Index             []int32
	Value             []float64
}

// SparseGemm adds Zᵀ·X to C. Z is n×m, X is n×d in any layout (column-major is fastest), and C is m×d row-major. It
// costs 2·n·z.Count·d flops, and uses the memory given by [SparseBytes]. The terms of an element are added one by one
// in the order of the rows. Therefore its bits depend neither on the team nor on a division of the rows into several
// calls.
func SparseGemm(t *Team, z Sparse, x, c Matrix[float64]) {
	x.checkBounds("X")
	c.checkBounds("C")
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
	for i := 0; i < x.Rows; i += stripRows {
		n := min(stripRows, x.Rows-i)
		e := i * z.Count
		p.addProduct(Sparse{n, z.Cols, z.Count, z.Index[e:], z.Value[e:]}, x.Sub(i, 0, n, x.Cols), c)
	}
}

const (
	// stripColumns is the number of columns of C that a worker computes at a time. Their sums fit into registers. The rows
	// of X that are added (512 KB) fit into a level-2 cache.
	stripColumns = 32
	// stripRows is the number of rows of Z whose entries are sorted by column at a time. A row of C is then read and
	// written only once for all of them.
	stripRows = 2048
)

// SparseBytes returns the scratch memory of SparseGemm for the given numbers of workers and of rows in a call, if Z has
// m columns and `count` entries in each row.
func SparseBytes(workers, rows, m, count int) int64 {
	return room.Measure(func(l *room.Layout) { new(sparseProduct).reserveMemory(l, workers, min(rows, stripRows), m, count) })
}

// sparseProduct contains the arguments of the current SparseGemm, and stripColumns×stripRows scratch numbers per
// worker.
type sparseProduct struct {
	team    *Team
	x, c    Matrix[float64]
	starts  []int32 // index of the first entry of each column of Z; the last element is the number of all entries
	rowOf   []int32 // row of each entry; entries are sorted by column, then by row
	weights []float64
	rows    []float64
	body    func(worker int)
}

func (p *sparseProduct) initForTeam(t *Team) { p.team, p.body = t, p.runWorker }

func (p *sparseProduct) reserveMemory(l *room.Layout, workers, rows, columns, count int) {
	reserveSlice(l, &p.starts, columns+1)
	reserveSlice(l, &p.rowOf, rows*count)
	reserveSlice(l, &p.weights, rows*count)
	reserveSlice(l, &p.rows, workers*stripColumns*rows)
}

func (p *sparseProduct) addProduct(z Sparse, x, c Matrix[float64]) {
	t, entries := p.team, z.Rows*z.Count
	workers := min(t.workers, panelCount(x.Cols, stripColumns))
	if entries*x.Cols < t.minSharedSize {
		workers = 1
	}
	p.reserveMemory(nil, workers, z.Rows, z.Cols, z.Count)
	starts := p.starts[:z.Cols+1]
	clear(starts)
	for _, j := range z.Index[:entries] {
		starts[j]++
	}
	end := int32(0)
	for j, n := range starts {
		end += n
		starts[j] = end // the end of column j; becomes its start while entries are placed from the last to the first
	}
	for e := entries - 1; e >= 0; e-- {
		j := z.Index[e]
		starts[j]--
		p.rowOf[starts[j]], p.weights[starts[j]] = int32(e/z.Count), z.Value[e]
	}
	p.x, p.c = x, c
	t.runTogether(workers, p.body)
	p.x, p.c = Matrix[float64]{}, Matrix[float64]{}
}

func (p *sparseProduct) runWorker(worker int) {
	s, n, tasks := p.team.joinSteps(), p.x.Rows, panelCount(p.x.Cols, stripColumns)
	rows := p.rows[worker*stripColumns*n:][:stripColumns*n]
	for task, ok := s.nextTask(tasks); ok; task, ok = s.nextTask(tasks) {
		j := task * stripColumns
		w := min(stripColumns, p.x.Cols-j)
		p.team.isa.f64.packPanel(rows[:w*n], w, p.x.Sub(0, j, n, w).Trans())
		p.team.isa.gatherRows(p.c.Rows, &p.starts[0], &p.rowOf[0], &p.weights[0], &rows[0], w, w, &p.c.Data[j], p.c.RowStride)
	}
}

// Compressed is a sparse matrix stored by rows: the entries of row i are Value[e] in column Index[e], for e from
// Starts[i] up to Starts[i+1].
type Compressed struct {
	Rows, Cols    int
	Starts, Index []int32
	Value         []float64
}

// AddEntry appends an entry to the last row.
func (a *Compressed) AddEntry(column int, value float64) {
	a.Index, a.Value = append(a.Index, int32(column)), append(a.Value, value)
}

// EndRow ends the last row. Entries added later belong to a new row.
func (a *Compressed) EndRow() {
	if a.Rows == 0 {
		a.Starts = append(a.Starts[:0], 0)
	}
	a.Starts = append(a.Starts, int32(len(a.Index)))
	a.Rows++
}

// AddProduct adds A·X to C. X and C are row-major. It costs 2·w flops for each entry if X has w columns. The terms of
// an element of C are added one by one in the order of the entries, so its bits do not depend on the number of workers.
func (a Compressed) AddProduct(workers int, x, c Matrix[float64]) {
	x.checkBounds("X")
	c.checkBounds("C")
	if x.Rows != a.Cols || c.Rows != a.Rows || c.Cols != x.Cols || x.ColStride != 1 || c.ColStride != 1 {
		panic(fmt.Sprintf("kernel: %d×%d by its rows times %d×%d into %d×%d", a.Rows, a.Cols, x.Rows, x.Cols, c.Rows, c.Cols))
	}
	if len(a.Index) == 0 || x.Cols == 0 {
		return
	}
	const rows = 256
	high := panelCount(a.Rows, rows)
	Each(workers, high*panelCount(x.Cols, stripColumns), func(task int) {
		i, j := task%high*rows, task/high*stripColumns
		high, e := min(rows, a.Rows-i), a.Starts[i]
		if a.Starts[i+high] > e {
			best.gatherRows(high, &a.Starts[i], &a.Index[e], &a.Value[e], &x.Data[j], x.RowStride, min(stripColumns, x.Cols-j),
				&c.Data[i*c.RowStride+j], c.RowStride)
		}
	})
}

// Row returns views of row i's columns and values.
func (a *Compressed) Row(i int) (columns []int32, values []float64) {
	from, to := a.Starts[i], a.Starts[i+1]
	return a.Index[from:to], a.Value[from:to]
}

// Reset removes all rows, and keeps the memory for new rows.
func (a *Compressed) Reset() { a.Rows, a.Index, a.Value = 0, a.Index[:0], a.Value[:0] }

// TransposedCopy returns Aᵀ stored by rows. A row of Aᵀ lists its entries in the order of the rows of A.
func (a *Compressed) TransposedCopy() Compressed {
	t := Compressed{Rows: a.Cols, Cols: a.Rows, Starts: make([]int32, a.Cols+1), Index: make([]int32, len(a.Index)), Value: make([]float64, len(a.Value))}
	for _, j := range a.Index {
		t.Starts[j+1]++
	}
	for j := range a.Cols {
		t.Starts[j+1] += t.Starts[j]
	}
	next := append([]int32(nil), t.Starts[:a.Cols]...)
	for i := range a.Rows {
		columns, values := a.Row(i)
		for e, j := range columns {
			t.Index[next[j]], t.Value[next[j]] = int32(i), values[e]
			next[j]++
		}
	}
	return t
}
