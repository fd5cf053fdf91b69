package triangle

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// f⁰ by the entries of sparse rows is Σⱼ Gᵢⱼ² to the rounding that is said, and has the same bits in passes of any
// number of rows of G, with rows in memory, and for any workers; without features of earlier layers too.
func TestStartByEntries(t *testing.T) {
	wide := greedytest.CountMatrix(52, 60, 9000) // of which a row of g is a list
	for i := range wide.N {
		for j := range wide.Col {
			if (i*31+j*17)%97 > 1 {
				wide.Col[j][i] = 0
			}
		}
	}
	for _, x := range []greedytest.Matrix{greedytest.CountMatrix(50, 90, 70), wide} {
		for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
			for _, weight := range [][]float64{nil, greedytest.RowWeights(x.N)} {
				src := greedytest.NewSource(x, 32)
				src.Sparse, src.Weight = true, weight
				profile := gram.NewProfile(src.D)
				must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, profile))
				std := rowstest.Standardizer(t, src, scale, gram.FillMean)
				a := src.StandardizedMatrix(t, scale, gram.FillMean)
				out := make([]bool, a.D)
				for i := range out {
					out[i] = i%7 == 3
				}
				for _, chosen := range [][]bool{nil, out} {
					start := func(whole bool, numbers int64, workers int) (f, diag, size []float64) {
						s := &Passes{Rows: scan.NewReader(src, std, &selection.StreamOptions{Options: selection.Options{Threads: workers}}), Chosen: chosen, MaxNumbers: numbers}
						if whole {
							s.Rows.KeepInMemory(profile.Entries)
						}
						if !CanStartByEntries(s.Rows) {
							t.Fatal("not by entries")
						}
						f, diag, size, err := s.StartByEntries(t.Context())
						must.Do(t, err)
						for i := range f {
							f[i], diag[i], size[i] = f[i]/s.Rows.Unit/s.Rows.Unit, diag[i]/s.Rows.Unit, size[i]/s.Rows.Unit/s.Rows.Unit
						}
						return f, diag, size
					}
					f, diag, size := start(true, 0, 1)
					for _, numbers := range []int64{int64(a.D), 100 * int64(a.D), int64(a.D * a.D)} {
						for _, workers := range []int{1, 3} {
							for _, whole := range []bool{false, true} {
								if numbers < 100*int64(a.D) && a.D > 1000 && !whole {
									continue // thousands of passes
								}
								again, squares, _ := start(whole, numbers, workers)
								if !slices.Equal(again, f) || !slices.Equal(squares, diag) {
									t.Errorf("%d features, %v: %d numbers, %d workers, in memory %v: other bits", a.D, scale, numbers, workers, whole)
								}
							}
						}
					}
					some := []int{0, 1, 3, 10, a.D / 2, a.D - 1}
					for _, i := range some {
						want := 0.0
						for j := range a.D {
							if chosen == nil || !chosen[i] && !chosen[j] {
								g := 0.0
								for row, v := range a.Col[i] {
									g += v * a.Col[j][row]
								}
								want += g * g
								if i == j && math.Abs(diag[i]-g) > 1e-12*g {
									t.Errorf("G of feature %d is %v, want %v", i, diag[i], g)
								}
							}
						}
						// The naive sum is of products of n rows.
						if bound := engine.RoundingBound(a.D)*size[i] + 8*engine.RoundingBound(a.N)*want; math.Abs(f[i]-want) > bound {
							t.Errorf("%d features, %v: f of %d is %v, want %v: off by more than %v", a.D, scale, i, f[i], want, bound)
						}
					}
				}
			}
		}
	}
}

// Columns whose means are far above their deviations leave no digits to a sum by entries.
func TestFarMeansAreNotByEntries(t *testing.T) {
	x := greedytest.CountMatrix(50, 90, 70)
	for i := range x.N {
		x.Col[3][i] = 1e6 + float64(i%2)
	}
	src := greedytest.NewSource(x, 32)
	src.Sparse = true
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		r := scan.NewReader(src, rowstest.Standardizer(t, src, scale, gram.FillMean), &selection.StreamOptions{})
		if got := CanStartByEntries(r); got != (scale == gram.ScaleNone) { // which takes nothing off
			t.Errorf("%v: by entries %v", scale, got)
		}
	}
}
