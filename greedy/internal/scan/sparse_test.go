package scan

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// PassSums are all products of a pass; run has the products of a third of the triangle.
type passSums struct{ triangle, run, columns, products, groups, squares, sketch []float64 }

// differ lists the products that have other bits.
func (s passSums) differ(o passSums) (names []string) {
	for name, pair := range map[string][2][]float64{"triangle": {s.triangle, o.triangle}, "run": {s.run, o.run}, "columns": {s.columns, o.columns},
		"products": {s.products, o.products}, "groups": {s.groups, o.groups}, "squares": {s.squares, o.squares}, "sketch": {s.sketch, o.sketch}} {
		if !slices.Equal(pair[0], pair[1]) {
			names = append(names, name)
		}
	}
	return names
}

// sparseSums computes them in blocks of the given number of entries and rows; 0 keeps all rows in memory, whose
// triangle is then computed without a pass.
func sparseSums(t *testing.T, src *greedytest.Source, scale gram.Scale, blocks, workers int, features, groups []int, v []float64) passSums {
	std, profile := rowstest.Standardizer(t, src, scale, gram.FillMean), gram.NewProfile(src.D)
	must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, profile))
	r := NewReader(src, std, &selection.StreamOptions{Options: selection.Options{Threads: workers}})
	if r.BlockLimit = blocks; blocks == 0 {
		r.KeepInMemory(profile.Entries)
	}
	s := sumsOf(t, r, features, groups, v)
	if r.InMemory != (blocks == 0) {
		t.Errorf("blocks of %d: all rows in memory: %v", blocks, r.InMemory)
	}
	return s
}

func sumsOf(t *testing.T, r *Reader, features, groups []int, v []float64) passSums {
	d, count, c := r.D, len(v)/r.D, slices.Max(groups)+1
	from, to := d/3, d/3*2
	s := passSums{make([]float64, d*d), make([]float64, (to-from)*(d-from)), make([]float64, len(features)*d), make([]float64, len(v)), make([]float64, c*d), make([]float64, d), nil}
	sketched := NewSketch(d, 16, 1, -1)
	sums := make([]float64, count)
	must.Do(t, r.RunPass(t.Context(), Pass{AddBlock: func(b *Block) {
		scratch := make([]float64, (len(features)+count+c)*b.Rows)
		r.AddTriangle(b, s.triangle, 0, d)
		r.AddTriangle(b, s.run, from, to)
		r.AddColumns(b, s.columns, features, scratch)
		r.AddProducts(b, s.products, v, count, scratch, sums)
		r.AddGroupProducts(b, s.groups, groups, c, scratch)
		r.AddSquares(b, s.squares)
		sketched.AddRows(r, b)
	}}))
	r.UnshiftTriangle(s.triangle, 0, d)
	r.UnshiftTriangle(s.run, from, to)
	r.UnshiftColumns(s.columns, features)
	r.UnshiftProducts(s.products, sums)
	r.UnshiftGroupProducts(s.groups, groups, c)
	r.UnshiftSquares(s.squares)
	sketched.RemoveShift(r)
	s.sketch = sketched.E
	if r.InMemory {
		r.WriteTriangle(s.triangle, 0, d)
	}
	for i := range d {
		clear(s.triangle[i*d:][:i])
	}
	for i := range to - from {
		clear(s.run[i*(d-from):][:i])
	}
	for _, sums := range [][]float64{s.triangle, s.run, s.columns, s.products, s.groups, s.squares} {
		for i := range sums {
			sums[i] /= r.Unit
		}
	}
	return s
}

// Products of sparse rows equal the products of dense rows, and have the same bits however the rows are cut into
// blocks, in memory or not, for any number of workers.
func TestSparseProducts(t *testing.T) {
	x := greedytest.CountMatrix(50, 90, 70)
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		for _, weight := range [][]float64{nil, greedytest.RowWeights(90)} {
			t.Run(fmt.Sprint(scale, weight != nil), func(t *testing.T) {
				src := greedytest.NewSource(x, 32)
				src.Sparse, src.Weight = true, weight
				a := src.StandardizedMatrix(t, scale, gram.FillMean)
				d := a.D
				features, groups := []int{0, d - 1, 7, 7}, make([]int, d)
				for i := range groups {
					groups[i] = i * i % 67
				}
				v := greedytest.RandomMatrix(51, d, 3, 1)
				vs := slices.Concat(v.Col...)
				want := sparseSums(t, src, scale, 1, 1, features, groups, vs)
				for _, blocks := range []int{2, 50, 1000, 1 << 18, 0} {
					for _, workers := range []int{1, 3} {
						got := sparseSums(t, src, scale, blocks, workers, features, groups, vs)
						if names := got.differ(want); names != nil {
							t.Errorf("blocks of %d, %d workers: other bits: %v", blocks, workers, names)
						}
					}
				}
				g := a.Gram()
				near := func(what string, got, want, size float64) {
					t.Helper()
					// n additions of numbers below size, shifted and not, each rounded by 2^-53.
					if math.Abs(got-want) > 200*0x1p-53*size {
						t.Errorf("%s: %v, want %v", what, got, want)
					}
				}
				size := 0.0 // of sums before their shift is taken out
				for j := range d {
					for i, y := range src.Matrix.Col[j] {
						w := 1.0
						if weight != nil {
							w = weight[i]
						}
						size = max(size, float64(a.N)*w*(y*y+1))
					}
				}
				for i := range d {
					for j := i; j < d; j++ {
						near("triangle", want.triangle[i*d+j], g[i*d+j], size)
					}
					near("squares", want.squares[i], g[i*d+i], size)
					for k, p := range features {
						near("columns", want.columns[k*d+i], g[p*d+i], size)
					}
					for k := range v.Col {
						sum := 0.0
						for j, y := range v.Col[k] {
							sum += g[i*d+j] * y
						}
						near("products", want.products[k*d+i], sum, size*float64(d))
					}
					sums := make([]float64, slices.Max(groups)+1)
					for j, k := range groups {
						sums[k] += g[i*d+j]
					}
					for k, sum := range sums {
						near("groups", want.groups[k*d+i], sum, size*float64(d))
					}
				}
			})
		}
	}
}

// TestLayout: sparse rows in memory, and their order by features, take the memory of their layout.
func TestLayout(t *testing.T) {
	const entries, rows, d = 200_000, 20_000, 30_000
	roomtest.CheckLayout(t, "sparse rows", SparseRowsBytes(entries, rows, d), func() {
		s := &sparseBlock{d: d}
		s.layOut(nil, entries, rows, d)
		for i := range rows {
			for e := range entries / rows {
				s.addEntry((i+e*3001)%d, 1)
			}
			s.endRow(1, int64(i))
		}
		s.sortedBlock()
	})
}
