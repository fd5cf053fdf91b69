package target

import (
	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// thinColumns holds the matrix U of a target LU by lists of the entries of its columns. So a product of L and a column
// costs one operation for each of these entries and each row of L.
type thinColumns struct {
	*anchor.Columns
	rootTransposed kernel.Matrix[float64] // Lᵀ
	rootOffset     []float64              // L·Root; its product with Mean[j] is subtracted from column j

	shortColumns              kernel.Compressed
	longColumns, longProducts []float64
}

const (
	// listShare: a column with entries for more than a quarter of the anchors is cheaper in a matrix product than entry
	// by entry. A selection from a table of 1,000,000 × 100,000 took 75 s of processor time with an eighth, 72 s with a
	// quarter and 73 s with a half.
	listShare = 4
	// thinColumnsTogether is the number of columns in one matrix product.
	thinColumnsTogether = 512
)

func (t *thinColumns) setRoot(root kernel.Matrix[float64]) {
	t.rootTransposed = kernel.RowMajor(make([]float64, root.Rows*root.Cols), root.Cols, root.Rows, root.Rows)
	kernel.Copy(t.rootTransposed, root.Trans())
	t.rootOffset = make([]float64, root.Rows)
	for a, x := range t.Root {
		kernel.Axpy(x, t.rootTransposed.Data[a*root.Rows:][:root.Rows], t.rootOffset)
	}
}

func (t *thinColumns) isLongColumn(feature int) bool { return t.Entries(feature)*listShare > t.M }

func (t *thinColumns) writeColumns(team *kernel.Team, dst kernel.Matrix[float64], unit float64, list []int, from int) {
	feature := func(i int) int {
		if list != nil {
			return list[i]
		}
		return from + i
	}
	rows := t.rootTransposed.Cols
	var long []int
	for i := range dst.Rows {
		if t.isLongColumn(feature(i)) {
			long = append(long, i)
		}
	}
	clear(dst.Data[:(dst.Rows-1)*dst.RowStride+rows])
	t.shortColumns.Reset()
	t.shortColumns.Cols = t.M
	for i := range dst.Rows {
		if j := feature(i); !t.isLongColumn(j) {
			at, value, full := t.List(j)
			for e, a := range at {
				t.shortColumns.AddEntry(int(a), unit*value[e])
			}
			for a, v := range full { // a column kept in full, if anchors are few
				t.shortColumns.AddEntry(a, unit*v)
			}
		}
		t.shortColumns.EndRow()
	}
	t.shortColumns.AddProduct(team.Threads(), t.rootTransposed, dst)
	kernel.Each(team.Threads(), dst.Rows, func(i int) {
		if j := feature(i); !t.isLongColumn(j) {
			kernel.Axpy(-unit*t.Mean[j], t.rootOffset, dst.Data[i*dst.RowStride:][:rows])
		}
	})
	if need := len(long) * t.M; len(t.longColumns) < need {
		t.longColumns = make([]float64, need)
	}
	if need := len(long) * rows; len(t.longProducts) < need {
		t.longProducts = make([]float64, need)
	}
	if len(long) == 0 {
		return
	}
	kernel.Each(team.Threads(), len(long), func(q int) {
		column := t.longColumns[q*t.M:][:t.M]
		t.ColumnTo(column, feature(long[q]))
		floats.Scale(unit, column)
	})
	whole := kernel.RowMajor(t.longProducts, len(long), rows, rows)
	clear(whole.Data[:len(long)*rows])
	kernel.Gemm(team, 1, kernel.RowMajor(t.longColumns, len(long), t.M, t.M), t.rootTransposed, whole)
	for q, i := range long {
		copy(dst.Data[i*dst.RowStride:][:rows], whole.Data[q*rows:][:rows])
	}
}

// dualMatrix returns CCᵀ, C being the matrix of the columns without the excluded features. A short column costs its number of
// entries squared, and a long column costs m².
func (t *thinColumns) dualMatrix(team *kernel.Team, excluded []bool) kernel.Matrix[float64] {
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
		case excluded != nil && excluded[j]:
		case t.isLongColumn(j):
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
	// A column c is stored as s with c = s − mean·r and r = Root. So Σccᵀ = Σssᵀ − rwᵀ − wrᵀ + Σmean²·rrᵀ, w being Σ
	// mean·s.
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
	const run = 16 // rows of K, so that workers share no cache lines
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
	kernel.MirrorUpper(workers, k)
	return k
}

// ThinColumnsBytes returns the memory for a target by the columns of a thin graph with m anchors.
func ThinColumnsBytes(m int) int64 {
	return 8 * int64(m) * int64(m+thinColumnsTogether+2*ResidualColumns)
}
