package greedy

import (
	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// thinColumns are U of a target as lists, and what makes products of them with L cost their entries.
type thinColumns struct {
	*anchor.Columns
	turned kernel.Matrix[float64] // Lᵀ
	root   []float64              // L·Root, of what is taken off every column

	short        kernel.Compressed
	dense, whole []float64
}

const (
	// listShare: a column of more than a quarter of the anchors is cheaper in a product of matrices than entry
	// by entry. A selection from 1,000,000 × 100,000 took 75 s of cpu with an eighth, 72 with a quarter and 73
	// with a half.
	listShare = 4
	// thinColumnsTogether are in a product of matrices at a time.
	thinColumnsTogether = 512
)

// turn takes L.
func (t *thinColumns) turn(root kernel.Matrix[float64]) {
	t.turned = kernel.RowMajor(make([]float64, root.Rows*root.Cols), root.Cols, root.Rows, root.Rows)
	kernel.Copy(t.turned, root.Trans())
	t.root = make([]float64, root.Rows)
	for a, x := range t.Root {
		kernel.Axpy(x, t.turned.Data[a*root.Rows:][:root.Rows], t.root)
	}
}

// long says that column j is one for products of matrices.
func (t *thinColumns) long(j int) bool { return t.Entries(j)*listShare > t.M }

// rowsTo is [target.rowsTo].
func (t *thinColumns) rowsTo(team *kernel.Team, dst kernel.Matrix[float64], unit float64, list []int, from int) {
	feature := func(i int) int {
		if list != nil {
			return list[i]
		}
		return from + i
	}
	rows := t.turned.Cols
	var long []int
	for i := range dst.Rows {
		if t.long(feature(i)) {
			long = append(long, i)
		}
	}
	clear(dst.Data[:(dst.Rows-1)*dst.RowStride+rows])
	t.short.Reset()
	t.short.Cols = t.M
	for i := range dst.Rows {
		if j := feature(i); !t.long(j) {
			at, value, full := t.List(j)
			for e, a := range at {
				t.short.Add(int(a), unit*value[e])
			}
			for a, v := range full { // of few anchors
				t.short.Add(a, unit*v)
			}
		}
		t.short.End()
	}
	t.short.AddProduct(team.Threads(), t.turned, dst)
	kernel.Each(team.Threads(), dst.Rows, func(i int) {
		if j := feature(i); !t.long(j) {
			kernel.Axpy(-unit*t.Mean[j], t.root, dst.Data[i*dst.RowStride:][:rows])
		}
	})
	if need := len(long) * t.M; len(t.dense) < need {
		t.dense = make([]float64, need)
	}
	if need := len(long) * rows; len(t.whole) < need {
		t.whole = make([]float64, need)
	}
	if len(long) == 0 {
		return
	}
	kernel.Each(team.Threads(), len(long), func(q int) {
		column := t.dense[q*t.M:][:t.M]
		t.ColumnTo(column, feature(long[q]))
		floats.Scale(unit, column)
	})
	whole := kernel.RowMajor(t.whole, len(long), rows, rows)
	clear(whole.Data[:len(long)*rows])
	kernel.Gemm(team, 1, kernel.RowMajor(t.dense, len(long), t.M, t.M), t.turned, whole)
	for q, i := range long {
		copy(dst.Data[i*dst.RowStride:][:rows], whole.Data[q*rows:][:rows])
	}
}

// dual is CCᵀ of the features that are not out: the squares of the entries of short columns, and m² of a long one.
func (t *thinColumns) dual(team *kernel.Team, out []bool) kernel.Matrix[float64] {
	m := t.M
	k := kernel.RowMajor(make([]float64, m*m), m, m, m)
	block := make([]float64, thinColumnsTogether*m)
	short, long := make([]int, 0, t.D), 0
	flush := func() {
		kernel.Syrk(team, 1, kernel.RowMajor(block, long, m, m).Trans(), k)
		long = 0
	}
	for j := range t.D {
		switch {
		case out != nil && out[j]:
		case t.long(j):
			t.ColumnTo(block[long*m:][:m], j)
			if long++; long == thinColumnsTogether {
				flush()
			}
		default:
			short = append(short, j)
		}
	}
	if long > 0 {
		flush()
	}
	// With s what is held of c = s − mean·Root: Σcc' is Σss' less the products of Root with Σ mean·s.
	with, squares := make([]float64, m), 0.0
	for _, j := range short {
		mean := t.Mean[j]
		squares += mean * mean
		at, value, full := t.List(j)
		for e, a := range at {
			with[a] += mean * value[e]
		}
		if full != nil {
			kernel.Axpy(mean, full, with)
		}
	}
	const run = 16 // rows of K, so that workers share no lines
	workers := team.Threads()
	kernel.Each(workers, workers, func(worker int) {
		mine := func(a int) bool { return a/run%workers == worker }
		for _, j := range short {
			at, value, full := t.List(j)
			for e, a := range at {
				if !mine(int(a)) {
					continue
				}
				row := k.Data[int(a)*m:][:m]
				for q := e; q < len(at); q++ {
					row[at[q]] += value[e] * value[q]
				}
			}
			for a, v := range full {
				if v != 0 && mine(a) {
					kernel.Axpy(v, full[a:], k.Data[a*m+a:(a+1)*m])
				}
			}
		}
		for a := range m {
			if row := k.Data[a*m : (a+1)*m]; mine(a) {
				kernel.Axpy(squares*t.Root[a]-with[a], t.Root[a:], row[a:])
				kernel.Axpy(-t.Root[a], with[a:], row[a:])
			}
		}
	})
	kernel.Mirror(workers, k)
	return k
}

// thinBytes is what these hold beside the columns and L.
func thinBytes(m int) int64 {
	return 8 * int64(m) * int64(m+thinColumnsTogether+2*residualColumns)
}
