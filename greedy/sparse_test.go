package greedy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// passSums are all products of a pass; run has the products of a third of the triangle.
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
func sparseSums(t *testing.T, src *source, scale gram.Scale, blocks, workers int, features, groups []int, v []float64) passSums {
	std, profile := rowstest.Standardizer(t, src, scale, gram.FillMean), gram.NewProfile(src.d)
	must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, profile))
	r := newReader(src, std, &StreamOptions{Options: Options{Threads: workers}})
	if r.blockLimit = blocks; blocks == 0 {
		r.keepInMemory(profile.Entries)
	}
	s := sumsOf(t, r, features, groups, v)
	if r.inMemory != (blocks == 0) {
		t.Errorf("blocks of %d: all rows in memory: %v", blocks, r.inMemory)
	}
	return s
}

func sumsOf(t *testing.T, r *reader, features, groups []int, v []float64) passSums {
	d, count, c := r.d, len(v)/r.d, slices.Max(groups)+1
	from, to := d/3, d/3*2
	s := passSums{make([]float64, d*d), make([]float64, (to-from)*(d-from)), make([]float64, len(features)*d), make([]float64, len(v)), make([]float64, c*d), make([]float64, d), nil}
	sketched := newSketch(d, 16, 1, -1)
	sums := make([]float64, count)
	must.Do(t, r.runPass(t.Context(), rowPass{addBlock: func(b *rowBlock) {
		scratch := make([]float64, (len(features)+count+c)*b.rows)
		r.addTriangle(b, s.triangle, 0, d)
		r.addTriangle(b, s.run, from, to)
		r.addColumns(b, s.columns, features, scratch)
		r.addProducts(b, s.products, v, count, scratch, sums)
		r.addGroupProducts(b, s.groups, groups, c, scratch)
		r.addSquares(b, s.squares)
		sketched.addRows(r, b)
	}}))
	r.unshiftTriangle(s.triangle, 0, d)
	r.unshiftTriangle(s.run, from, to)
	r.unshiftColumns(s.columns, features)
	r.unshiftProducts(s.products, sums)
	r.unshiftGroupProducts(s.groups, groups, c)
	r.unshiftSquares(s.squares)
	sketched.removeShift(r)
	s.sketch = sketched.e
	if r.inMemory {
		r.writeTriangle(s.triangle, 0, d)
	}
	for i := range d {
		clear(s.triangle[i*d:][:i])
	}
	for i := range to - from {
		clear(s.run[i*(d-from):][:i])
	}
	for _, sums := range [][]float64{s.triangle, s.run, s.columns, s.products, s.groups, s.squares} {
		for i := range sums {
			sums[i] /= r.unit
		}
	}
	return s
}

// Products of sparse rows equal the products of dense rows, and have the same bits however the rows are cut into
// blocks, in memory or not, for any number of workers.
func TestSparseProducts(t *testing.T) {
	x := counts(50, 90, 70)
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		for _, weight := range [][]float64{nil, weights(90)} {
			t.Run(fmt.Sprint(scale, weight != nil), func(t *testing.T) {
				src := serve(x, 32)
				src.Sparse, src.Weight = true, weight
				a := src.standardized(t, scale, gram.FillMean)
				d := a.d
				features, groups := []int{0, d - 1, 7, 7}, make([]int, d)
				for i := range groups {
					groups[i] = i * i % 67
				}
				v := random(51, d, 3, 1)
				vs := slices.Concat(v.col...)
				want := sparseSums(t, src, scale, 1, 1, features, groups, vs)
				for _, blocks := range []int{2, 50, 1000, 1 << 18, 0} {
					for _, workers := range []int{1, 3} {
						got := sparseSums(t, src, scale, blocks, workers, features, groups, vs)
						if names := got.differ(want); names != nil {
							t.Errorf("blocks of %d, %d workers: other bits: %v", blocks, workers, names)
						}
					}
				}
				g := a.gram()
				near := func(what string, got, want, size float64) {
					t.Helper()
					// n additions of numbers below size, shifted and not, each rounded by 2^-53.
					if math.Abs(got-want) > 200*0x1p-53*size {
						t.Errorf("%s: %v, want %v", what, got, want)
					}
				}
				size := 0.0 // of sums before their shift is taken out
				for j := range d {
					for i, y := range src.col[j] {
						w := 1.0
						if weight != nil {
							w = weight[i]
						}
						size = max(size, float64(a.n)*w*(y*y+1))
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
					for k := range v.col {
						sum := 0.0
						for j, y := range v.col[k] {
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

// f⁰ by the entries of sparse rows is Σⱼ Gᵢⱼ² to the rounding that is said, and has the same bits in passes of any
// number of rows of G, with rows in memory, and for any workers; without features of earlier layers too.
func TestStartByEntries(t *testing.T) {
	wide := counts(52, 60, 9000) // of which a row of g is a list
	for i := range wide.n {
		for j := range wide.col {
			if (i*31+j*17)%97 > 1 {
				wide.col[j][i] = 0
			}
		}
	}
	for _, x := range []matrix{counts(50, 90, 70), wide} {
		for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
			for _, weight := range [][]float64{nil, weights(x.n)} {
				src := serve(x, 32)
				src.Sparse, src.Weight = true, weight
				profile := gram.NewProfile(src.d)
				must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, profile))
				std := rowstest.Standardizer(t, src, scale, gram.FillMean)
				a := src.standardized(t, scale, gram.FillMean)
				out := make([]bool, a.d)
				for i := range out {
					out[i] = i%7 == 3
				}
				for _, chosen := range [][]bool{nil, out} {
					start := func(whole bool, numbers int64, workers int) (f, diag, size []float64) {
						s := &streamEngine{rows: newReader(src, std, &StreamOptions{Options: Options{Threads: workers}}), entryCount: profile.Entries}
						if whole {
							s.rows.keepInMemory(profile.Entries)
						}
						if chosen != nil {
							s.criterion = &criterion{chosen: chosen}
						}
						if !s.canStartByEntries() {
							t.Fatal("not by entries")
						}
						f, diag, size, err := s.startByEntries(t.Context(), "", numbers)
						must.Do(t, err)
						for i := range f {
							f[i], diag[i], size[i] = f[i]/s.rows.unit/s.rows.unit, diag[i]/s.rows.unit, size[i]/s.rows.unit/s.rows.unit
						}
						return f, diag, size
					}
					f, diag, size := start(true, 0, 1)
					for _, numbers := range []int64{int64(a.d), 100 * int64(a.d), int64(a.d * a.d)} {
						for _, workers := range []int{1, 3} {
							for _, whole := range []bool{false, true} {
								if numbers < 100*int64(a.d) && a.d > 1000 && !whole {
									continue // thousands of passes
								}
								again, squares, _ := start(whole, numbers, workers)
								if !slices.Equal(again, f) || !slices.Equal(squares, diag) {
									t.Errorf("%d features, %v: %d numbers, %d workers, in memory %v: other bits", a.d, scale, numbers, workers, whole)
								}
							}
						}
					}
					some := []int{0, 1, 3, 10, a.d / 2, a.d - 1}
					for _, i := range some {
						want := 0.0
						for j := range a.d {
							if chosen == nil || !chosen[i] && !chosen[j] {
								g := 0.0
								for row, v := range a.col[i] {
									g += v * a.col[j][row]
								}
								want += g * g
								if i == j && math.Abs(diag[i]-g) > 1e-12*g {
									t.Errorf("G of feature %d is %v, want %v", i, diag[i], g)
								}
							}
						}
						// The naive sum is of products of n rows.
						if bound := roundingBound(a.d)*size[i] + 8*roundingBound(a.n)*want; math.Abs(f[i]-want) > bound {
							t.Errorf("%d features, %v: f of %d is %v, want %v: off by more than %v", a.d, scale, i, f[i], want, bound)
						}
					}
				}
			}
		}
	}
}

// Columns whose means are far above their deviations leave no digits to a sum by entries.
func TestFarMeansAreNotByEntries(t *testing.T) {
	x := counts(50, 90, 70)
	for i := range x.n {
		x.col[3][i] = 1e6 + float64(i%2)
	}
	src := serve(x, 32)
	src.Sparse = true
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		s := &streamEngine{rows: newReader(src, rowstest.Standardizer(t, src, scale, gram.FillMean), &StreamOptions{}), entryCount: 1}
		if got := s.canStartByEntries(); got != (scale == gram.ScaleNone) { // which takes nothing off
			t.Errorf("%v: by entries %v", scale, got)
		}
	}
}
