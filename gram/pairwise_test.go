package gram

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// pairwise is the naive twin in numbers of 300 bits: each covariance from the rows that have both
// columns, each scale from a column's own observed entries.
func (t table) pairwise(scale Scale) [][]float64 {
	n := t.N()
	total := num(0)
	for i := range n {
		total = add(total, t.w(i))
	}
	moments := func(a, b []float64) (meanA, meanB, cov float64) {
		sa, sb, w := num(0), num(0), num(0)
		for i := range n {
			if a[i] == a[i] && b[i] == b[i] {
				w = add(w, t.w(i))
				sa, sb = add(sa, times(t.w(i), num(a[i]))), add(sb, times(t.w(i), num(b[i])))
			}
		}
		if w.Sign() == 0 {
			return 0, 0, 0
		}
		ma, mb, sum := over(sa, w), over(sb, w), num(0)
		for i := range n {
			if a[i] == a[i] && b[i] == b[i] {
				sum = add(sum, times(t.w(i), times(minus(num(a[i]), ma), minus(num(b[i]), mb))))
			}
		}
		return float(ma), float(mb), float(over(sum, w))
	}
	type units struct{ shift, divisor, mean float64 }
	own := make([]units, len(t.Cols))
	for j, col := range t.Cols {
		mean, _, variance := moments(col, col)
		u := units{0, 1, mean}
		seen := slices.DeleteFunc(slices.Clone(col), math.IsNaN)
		switch scale {
		case ScaleCenter:
			u.shift = mean
		case ScaleStandard:
			u.shift, u.divisor = mean, math.Sqrt(variance)
		case ScalePareto:
			u.shift, u.divisor = mean, math.Sqrt(math.Sqrt(variance))
		case ScaleMinMax:
			u.shift, u.divisor = slices.Min(seen), slices.Max(seen)-slices.Min(seen)
		case ScaleUnit:
			u.divisor = math.Sqrt(float(total) * (variance + mean*mean))
		}
		own[j] = u
	}
	g := make([][]float64, len(t.Cols))
	for i, a := range t.Cols {
		for j, b := range t.Cols {
			_, _, cov := moments(a, b)
			offset := (own[i].mean - own[i].shift) * (own[j].mean - own[j].shift)
			g[i] = append(g[i], float(total)*(cov+offset)/own[i].divisor/own[j].divisor)
		}
	}
	return g
}

// TestPairwiseIsTheTwins: for every scale, weighted or not, for any chunks, and merged.
func TestPairwiseIsTheTwins(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		tab := sample(2, 61, true, weighted)
		tab.Cols = slices.Delete(tab.Cols, 1, 2) // 1e8 ± 1 in raw units would set the tolerance for all
		for _, scale := range append(slices.Clone(scales), ScalePareto) {
			want := tab.pairwise(scale)
			for _, height := range []int{1, 7, 61} {
				m := tab.moments(t, Options{}, height)
				if height == 7 {
					m = NewMoments(len(tab.Cols), Options{})
					tab.AddRows(t, m, 0, 20, 7)
					rest := NewMoments(len(tab.Cols), Options{})
					tab.AddRows(t, rest, 20, 61, 7)
					must.Do(t, m.Merge(rest))
				}
				g := finish(t, m, tab, scale, FillPairwise)
				if len(g.Columns) != len(tab.Cols) {
					t.Fatalf("columns %v", g.Columns)
				}
				for i := range want {
					for j := range want {
						// Sums about the pilots round to some 61 ulps of √(GᵢᵢGⱼⱼ); a pilot is off the
						// mean by a few deviations.
						if tol := 61 * 100 * 0x1p-52 * math.Sqrt(want[i][i]*want[j][j]); !(math.Abs(g.Sym[i*g.D+j]-want[i][j]) <= tol) {
							t.Fatalf("%v, weighted %v, height %d: G[%d, %d] = %v, want %v", scale, weighted, height, i, j, g.Sym[i*g.D+j], want[i][j])
						}
					}
				}
				for j, n := range g.Filled {
					if n != 0 {
						t.Errorf("%d entries of column %d were filled", n, j)
					}
				}
			}
		}
	}
}

// TestPairwiseOfWhole: where nothing is missing it is the Gram matrix, to the rounding of one product.
func TestPairwiseOfWhole(t *testing.T) {
	tab := sample(3, 80, false, true)
	for _, scale := range scales {
		want := finish(t, tab.moments(t, Options{}, 80), tab, scale, FillMean)
		got := finish(t, tab.moments(t, Options{}, 80), tab, scale, FillPairwise)
		for i, v := range want.Sym {
			if got := got.Sym[i]; math.Abs(got-v) > 8*0x1p-52*math.Abs(v) {
				t.Fatalf("%v: entry %d is %v, want %v", scale, i, got, v)
			}
		}
	}
}

// TestPairwiseApart: columns that no row has both of have no covariance, and are told.
func TestPairwiseApart(t *testing.T) {
	var tab table
	tab.Cols = [][]float64{make([]float64, 40), make([]float64, 40), make([]float64, 40)}
	for i := range 40 {
		x := float64(i*i%17) - 3
		tab.Cols[0][i], tab.Cols[1][i], tab.Cols[2][i] = x, math.NaN(), x*x
		if i >= 20 {
			tab.Cols[0][i], tab.Cols[1][i] = math.NaN(), x
		}
	}
	g := finish(t, tab.moments(t, Options{}, 9), tab, ScaleStandard, FillPairwise)
	told := slices.ContainsFunc(g.Warnings, func(s string) bool { return strings.Contains(s, "1 pairs") })
	if g.Sym[1] != 0 || g.Sym[3] != 0 || !told {
		t.Errorf("G[0, 1] = %v, warnings %v", g.Sym[1], g.Warnings)
	}
}
