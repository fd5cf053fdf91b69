package gram

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// kept are the rows of a table, added in blocks of the given height.
func (t table) kept(tb testing.TB, height, room int) *Rows {
	r := NewRows(len(t.Cols), int64(room), 3, false)
	t.add(tb, r, height)
	return r
}

// A factor equals the Gram matrix, under every scale, fill and weight, for any chunks and capacity, and its parts
// equal the parts of the matrix in full.
func TestRowsAreAFactor(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		tab.Cols = slices.Insert(tab.Cols, 3, make([]float64, tab.N())) // constant: left out
		opt := FinishOptions{Scale: scale, Fill: fill}
		g := must.Get(tab.kept(t, 13, tab.N()).Finish(tab.Columns(), opt))(t)
		full := finish(t, tab.moments(t, Options{Threads: 2}, 13), tab, scale, fill)
		if !slices.Equal(g.Columns, full.Columns) || g.D != full.D || g.Rows != full.Rows || g.Weight != full.Weight || len(g.LeftOut) != 1 {
			t.Fatalf("columns %v of %d rows, want %v of %d", g.Columns, g.Rows, full.Columns, full.Rows)
		}
		ref := tab.reference(scale, fill)
		d := g.D
		near := func(what string, i, j int, got float64) {
			t.Helper()
			tol := 400 * 0x1p-52 * math.Sqrt(ref.sym[i][i]*ref.sym[j][j]) // as in TestStandardizer
			for _, k := range []int{i, j} {
				tol *= (1 + ref.condition[k]) * (1 + math.Abs(ref.mean[k])/ref.std[k])
			}
			if !(math.Abs(got-ref.sym[i][j]) <= tol) {
				t.Fatalf("%s [%d,%d] = %g, want %g ± %g", what, i, j, got, ref.sym[i][j], tol)
			}
		}
		list := []int{d - 1, 0, 2}
		columns, column, product, unit := make([]float64, len(list)*d), make([]float64, d), make([]float64, d), make([]float64, d)
		g.ColumnsTo(2, columns, list)
		for i, j := range list {
			g.ColumnTo(2, column, j)
			clear(unit)
			clear(product)
			unit[j] = 1
			g.AddProduct(2, 1, unit, product)
			near("diagonal", j, j, g.Diagonal(2)[j])
			for k := range d {
				near("columns", j, k, columns[i*d+k])
				near("column", j, k, column[k])
				near("row", j, k, g.Row(2, make([]float64, d), j)[k])
				near("product", j, k, product[k])
				near("entry", j, k, g.At(j, k))
			}
		}
		again := must.Get(tab.kept(t, 7, tab.N()+9).Finish(tab.Columns(), opt))(t)
		if again.Rank != g.Rank {
			t.Fatalf("%d rows, want %d", again.Rank, g.Rank)
		}
		for i, v := range again.R {
			if w := g.R[i]; math.Abs(v-w) > 1e-7*(math.Abs(w)+1) { // profiles of other chunks round otherwise
				t.Fatalf("other chunks: entry %d is %v, want %v", i, v, w)
			}
		}
		for _, some := range []int{1, unpackedRows, unpackedRows + 1} {
			var z []float64
			for i := range some {
				z = append(z, g.Feature(nil, i%d)...)
			}
			up := make([]float64, some*d)
			g.AddUps(2, some, z, up)
			for i := range up {
				near("rows up", i/d%d, i%d, up[i])
			}
		}
		if trace(g.Dual(2), g.Rank)-sum(g.Diagonal(1)) > 1e-9*trace(g.Dual(2), g.Rank) {
			t.Error("the dual has another trace")
		}
	})
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func trace(a []float64, n int) (s float64) {
	for i := range n {
		s += a[i*n+i]
	}
	return s
}

// Rotating the rows does not change G, and RotateToFactor rotates matrices that belong to the rows; scaling and keeping
// features act as on G in full; CentredMatrix removes the mean.
func TestFactorLaws(t *testing.T) {
	tab := sample(5, 40, false, true)
	g := must.Get(tab.kept(t, 40, 40).Finish(tab.Columns(), FinishOptions{Scale: ScaleUnit}))(t)
	full := finish(t, tab.moments(t, Options{}, 40), tab, ScaleUnit, FillMean)
	same := func(what string, a, b *Matrix) {
		t.Helper()
		if a.D != b.D {
			t.Fatalf("%s: %d features, want %d", what, a.D, b.D)
		}
		for i := range a.D {
			for j := range a.D {
				if math.Abs(a.At(i, j)-b.At(i, j)) > 1e-7 {
					t.Fatalf("%s: [%d,%d] is %v, want %v", what, i, j, a.At(i, j), b.At(i, j))
				}
			}
		}
	}
	n := g.Rank
	v, b := make([]float64, n*n), make([]float64, n*2)
	for i := range n { // a reflection: I − 2xxᵀ/‖x‖², x of ones
		for j := range n {
			v[i*n+j] = -2 / float64(n)
		}
		v[i*n+i]++
		b[2*i], b[2*i+1] = float64(i), 1
	}
	before := slices.Clone(g.R)
	if turned := g.RotateToFactor(2, 2, b); !slices.Equal(turned, b) {
		t.Error("rows that were not turned turn others")
	}
	g.Dual(2)
	g.Rotate(2, v)
	same("rotated", &g.Matrix, &full.Matrix)
	if got, want := trace(g.Dual(2), n), sum(g.Diagonal(2)); math.Abs(got-want) > 1e-9*want {
		t.Errorf("the dual kept its rows: trace %v, want %v", got, want)
	}
	once := g.RotateToFactor(2, 2, b)
	g.Rotate(2, v) // back again
	for i, x := range g.R {
		if math.Abs(x-before[i]) > 1e-12 {
			t.Fatal("a reflection twice is not the identity")
		}
	}
	for i, x := range g.RotateToFactor(2, 2, b) {
		if math.Abs(x-b[i]) > 1e-12 || i == 0 && once[0] == b[0] {
			t.Fatal("what belongs to the rows does not turn with them")
		}
	}
	centred := finish(t, tab.moments(t, Options{}, 40), tab, ScaleCenter, FillMean)
	raw := must.Get(tab.kept(t, 40, 40).Finish(tab.Columns(), FinishOptions{Scale: ScaleMinMax}))(t)
	minmax := finish(t, tab.moments(t, Options{}, 40), tab, ScaleMinMax, FillMean)
	for i := range minmax.D {
		for j := range minmax.D {
			minmax.Sym[i*minmax.D+j] -= minmax.Weight * minmax.Offset[i] * minmax.Offset[j]
		}
	}
	same("centred", raw.CentredMatrix(2), &minmax.Matrix)
	wanted := []bool{true, false, true, true, false, true, false, true}
	factor := make([]float64, 5)
	for i := range factor {
		factor[i] = float64(i) - 1.5
	}
	whole := must.Get(tab.kept(t, 40, 40).Finish(tab.Columns(), FinishOptions{Scale: ScaleCenter}))(t)
	for _, m := range []*Gram{whole, centred} {
		m.Keep(wanted)
		m.Scale(2, factor)
	}
	for i := range whole.D {
		for j := range whole.D {
			if tol := 1e-7 * math.Sqrt(centred.At(i, i)*centred.At(j, j)); math.Abs(whole.At(i, j)-centred.At(i, j)) > tol {
				t.Errorf("kept and scaled: [%d,%d] is %v, want %v", i, j, whole.At(i, j), centred.At(i, j))
			}
		}
	}
}

// Sparse rows are the same rows; positions and entries equal the table's.
func TestRowsOfTheTable(t *testing.T) {
	tab := wide(11, 30, false)
	dense, sparse := tab.kept(t, 30, 30), NewRows(11, 30, 2, false)
	must.Do(t, sparse.Add(tab.sparse(0, 12)))
	must.Do(t, sparse.Add(tab.sparse(12, 30)))
	rows, a, b := []int{29, 0, 13}, make([]float64, 3), make([]float64, 3)
	for j := range 11 {
		dense.Entries(a, j, rows)
		sparse.Entries(b, j, rows)
		for i, r := range rows {
			if a[i] != tab.Cols[j][r] || b[i] != a[i] {
				t.Fatalf("column %d, row %d: %v and %v, want %v", j, r, a[i], b[i], tab.Cols[j][r])
			}
		}
	}
	if dense.Len() != 30 || dense.Position(17) != 17 || sparse.Position(29) != 29 {
		t.Errorf("%d rows, the 18th at %d", dense.Len(), dense.Position(17))
	}
	if err := dense.Add(tab.Chunk(0, 1)); err == nil || dense.Len() != 30 || dense.Profile.Rows != 30 {
		t.Errorf("a row beyond the room: %v", err)
	}
	if err := sparse.Add(&stream.Chunk{Rows: 1, Cols: 3}); err == nil {
		t.Error("a row of other columns was added")
	}
	if _, err := dense.Finish(tab.Columns(), FinishOptions{Fill: FillPairwise}); err == nil {
		t.Error("a factor was filled pair by pair")
	}
	if _, err := NewRows(3, 5, 1, false).Finish(make([]stream.Column, 3), FinishOptions{}); err == nil {
		t.Error("no rows are a factor")
	}
}
