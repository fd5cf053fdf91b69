package gram

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// singlesOf is a table whose values a float32 holds.
func (t table) singlesOf() table {
	for j, col := range t.Cols {
		t.Cols[j] = slices.Clone(col)
		for i, v := range col {
			t.Cols[j][i] = float64(float32(v))
		}
	}
	return t
}

// A factor kept as float32 has the features of one of float64, to the bit, under every scale, fill and
// weight, and the same products to the rounding of sums.
func TestNarrowFactor(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		tab.Cols = slices.Insert(tab.Cols, 3, make([]float64, tab.N())) // constant: left out
		tab = tab.singlesOf()
		opt := FinishOptions{Scale: scale, Fill: fill}
		rows := NewRows(len(tab.Cols), int64(tab.N())+5, 3, true)
		tab.add(t, rows, 13)
		wideRows := tab.kept(t, 13, tab.N())
		pick, a, b := []int{tab.N() - 1, 0}, make([]float64, 2), make([]float64, 2)
		for j := range tab.Cols {
			rows.Entries(a, j, pick)
			wideRows.Entries(b, j, pick)
			for i := range a {
				if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
					t.Fatalf("entry of column %d is %v, want %v", j, a[i], b[i])
				}
			}
		}
		narrow, wide := must.Get(rows.Finish(tab.Columns(), opt))(t), must.Get(wideRows.Finish(tab.Columns(), opt))(t)
		must.Do(t, narrow.Check())
		if narrow.R != nil || !narrow.IsFactor() || narrow.Absent() || narrow.Rank != wide.Rank || !slices.Equal(narrow.Columns, wide.Columns) {
			t.Fatalf("a factor of %d rows, columns %v; want %d, %v", narrow.Rank, narrow.Columns, wide.Rank, wide.Columns)
		}
		sameFactor(t, "finished", &narrow.Matrix, &wide.Matrix, 0)
		centred, want, room := narrow.CentredMatrix(2), wide.CentredMatrix(2), make([]float64, narrow.Rank)
		for j := range narrow.D {
			size := 0.0 // largest absolute value, the scale of the mean's rounding
			for _, v := range wide.Feature(nil, j) {
				size = max(size, math.Abs(v))
			}
			for i, v := range centred.Feature(room, j) {
				if w := want.Feature(nil, j)[i]; math.Abs(v-w) > 8*0x1p-53*size {
					t.Fatalf("centred: feature %d, row %d is %v, want %v", j, i, v, w)
				}
			}
		}
		factor, wanted := make([]float64, narrow.D), make([]bool, len(tab.Cols))
		for j := range factor {
			factor[j] = float64(j) - 1.5
		}
		for j := range wanted {
			wanted[j] = j%3 != 1
		}
		for _, g := range []*Gram{narrow, wide} {
			g.Scale(2, factor)
			g.Keep(wanted)
			g.Clear(0)
		}
		sameFactor(t, "scaled, kept and one cleared", &narrow.Matrix, &wide.Matrix, 1e-14)
		if narrow.At(0, 0) != 0 {
			t.Error("a cleared feature is not 0")
		}
	})
}

// sameFactor requires two factors to be equal: entries to a share of each feature's largest, and products to the
// rounding of sums.
func sameFactor(t *testing.T, what string, got, want *Matrix, tol float64) {
	t.Helper()
	d, r := want.D, want.Rank
	room, largest := make([]float64, r), make([]float64, d)
	for j := range d {
		row := want.Feature(nil, j)
		for _, v := range row {
			largest[j] = max(largest[j], math.Abs(v))
		}
		for i, v := range got.Feature(room, j) {
			if math.Abs(v-row[i]) > tol*largest[j] {
				t.Fatalf("%s: feature %d, row %d is %v, want %v", what, j, i, v, row[i])
			}
		}
	}
	sums := (tol + float64(r+d)*0x1p-52) * float64(r)
	near := func(name string, got, want []float64, size func(i int) float64) {
		t.Helper()
		for i, v := range got {
			if !(math.Abs(v-want[i]) <= 4*sums*size(i)) {
				t.Fatalf("%s: %s %d is %v, want %v", what, name, i, v, want[i])
			}
		}
	}
	near("diagonal", got.Diagonal(2), want.Diagonal(2), func(i int) float64 { return largest[i] * largest[i] })
	var all float64
	for _, v := range largest {
		all += v * v
	}
	near("dual", got.Dual(2), want.Dual(2), func(int) float64 { return all })
	const k = maxDirectRows + 2
	for _, n := range []int{1, maxDirectRows, k} {
		list := make([]int, n)
		for i := range list {
			list[i] = (2 * i) % d
		}
		a, b := make([]float64, n*d), make([]float64, n*d)
		got.ColumnsTo(2, a, list)
		want.ColumnsTo(2, b, list)
		near("columns", a, b, func(i int) float64 { return largest[i%d] * largest[list[i/d]] })
		a1 := make([]float64, n*d)
		got.ColumnsTo(5, a1, list)
		if !slices.Equal(a, a1) {
			t.Fatalf("%s: threads change the bits of %d columns", what, n)
		}
		x := make([]float64, n*d)
		for i := range x {
			x[i] = float64(i%7) - 3
		}
		clear(a)
		clear(b)
		got.AddProduct(2, n, x, a)
		want.AddProduct(2, n, x, b)
		near("product", a, b, func(i int) float64 { return 4 * float64(d) * math.Sqrt(all) * max(largest[i%d], math.Sqrt(all)) })
	}
}

// More features than a panel holds are the same sums, and panels are all features, once each, in order.
func TestNarrowPanels(t *testing.T) {
	const d, n = 2*minPanelFeatures + 37, 5
	tab := table{}
	for j := range d {
		col := make([]float64, n)
		for i := range col {
			col[i] = float64((i*j+3*i+j)%11) - 4
		}
		tab.Cols = append(tab.Cols, col)
	}
	rows := NewRows(d, n, 2, true)
	tab.add(t, rows, 2)
	g := must.Get(rows.Finish(tab.Columns(), FinishOptions{Scale: ScaleNone}))(t)
	next := 0
	dual := make([]float64, n*n)
	g.Panels(3, func(from, count int, features []float64) {
		if from != next || len(features) < count*n {
			t.Fatalf("a panel from %d on, want %d", from, next)
		}
		for j := range count {
			for i, v := range features[j*n:][:n] {
				if want := tab.Cols[g.Columns[from+j]][i]; v != want {
					t.Fatalf("feature %d, row %d is %v, want %v", from+j, i, v, want)
				}
				for l, w := range features[j*n:][:n] {
					dual[i*n+l] += v * w
				}
			}
		}
		next += count
	})
	if next != g.D {
		t.Fatalf("%d features in panels, want %d", next, g.D)
	}
	if !slices.Equal(g.Dual(2), dual) { // whole numbers: exact
		t.Error("RRᵀ by panels is another")
	}
}

// A value that float32 does not hold is refused, wherever it comes from.
func TestNarrowRefuses(t *testing.T) {
	dense := &stream.Chunk{Block: 2, Rows: 2, Cols: 2, Data: []float64{1, 0.1, 2, 3}, Stride: 2}
	if err := NewRows(2, 2, 1, true).Add(dense); err == nil {
		t.Error("0.1 was taken for a float32")
	}
	sparse := &stream.Chunk{Block: 1, Rows: 1, Cols: 2, Sparse: &stream.CSR{RowPtr: []int{0, 1}, Index: []int32{1}, Value: []float64{0.1}}}
	if err := NewRows(2, 2, 1, true).Add(sparse); err == nil {
		t.Error("a sparse 0.1 was taken for a float32")
	}
}
