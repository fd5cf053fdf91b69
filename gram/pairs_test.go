package gram

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pair is the naive twin of Pair in numbers of 300 bits, from the rows that have both columns.
func (t table) pair(a, b []float64) (weight, product, squaresA, squaresB float64) {
	var rows []int
	for i := range a {
		if a[i] == a[i] && b[i] == b[i] {
			rows = append(rows, i)
		}
	}
	w := num(0)
	for _, i := range rows {
		w = add(w, t.w(i))
	}
	if w.Sign() == 0 {
		return 0, 0, 0, 0
	}
	mean := func(x []float64) *big.Float {
		sum := num(0)
		for _, i := range rows {
			sum = add(sum, times(t.w(i), num(x[i])))
		}
		return over(sum, w)
	}
	sum := func(x, y []float64) float64 {
		mx, my, s := mean(x), mean(y), num(0)
		for _, i := range rows {
			s = add(s, times(t.w(i), times(minus(num(x[i]), mx), minus(num(y[i]), my))))
		}
		return float(s)
	}
	return float(w), sum(a, b), sum(a, a), sum(b, b)
}

// fillMeans replaces missing entries by the mean of their column.
func (t table) fillMeans() table {
	cols := slices.Clone(t.Cols)
	for j, col := range cols {
		sum, w := num(0), num(0)
		for i, x := range col {
			if x == x {
				sum, w = add(sum, times(t.w(i), num(x))), add(w, t.w(i))
			}
		}
		mean := float(over(sum, w))
		cols[j] = slices.Clone(col)
		for i, x := range col {
			if x != x {
				cols[j][i] = mean
			}
		}
	}
	t.Cols = cols
	return t
}

// TestPanelIsTheTwin: every pair of every panel, pairwise-complete and filled, weighted or not, for any chunks, dense or sparse, with
// panels of one column up to all, of later columns only and of all.
func TestPanelIsTheTwin(t *testing.T) {
	for _, fill := range []Fill{FillPairwise, FillMean} {
		for _, weighted := range []bool{false, true} {
			tab := sample(4, 2*stripRows+37, true, weighted)
			twin := tab
			if fill == FillMean {
				twin = tab.fillMeans()
			}
			p := NewProfile(len(tab.Cols))
			tab.add(t, p, 100)
			std := must.Get(NewStandardizer(p, make([]stream.Column, len(tab.Cols)), ScaleStandard, fill))(t)
			want := twin.allPairs()
			for _, height := range []int{1, stripRows - 1, stripRows, tab.N()} {
				d := len(std.Columns)
				tab.Sparse = height == stripRows-1 || height == tab.N() // the same entries as sparse rows
				for _, blocks := range [][]int{{0}, {0, 1, 2, 7}, {0, 3}} {
					for _, onlyLater := range []bool{true, false} {
						panel := NewPairPanel(std, d*d, fill == FillPairwise, 2)
						for k, first := range blocks {
							end, from := d, 0
							if k+1 < len(blocks) {
								end = blocks[k+1]
							}
							if onlyLater {
								from = first
							}
							panel.BeginPass(first, end-first, from)
							tab.add(t, panel, height)
							panel.EndPass()
							comparePanel(t, panel, want, fmt.Sprint(fill, weighted, height, blocks, onlyLater))
						}
					}
				}
			}
		}
	}
}

// allPairs returns the sums of pair for all pairs of columns.
func (t table) allPairs() (all [][][4]float64) {
	for _, a := range t.Cols {
		var row [][4]float64
		for _, b := range t.Cols {
			weight, product, squaresA, squaresB := t.pair(a, b)
			row = append(row, [4]float64{weight, product, squaresA, squaresB})
		}
		all = append(all, row)
	}
	return all
}

func comparePanel(tb testing.TB, p *PairPanel, all [][][4]float64, name string) {
	tb.Helper()
	for i := p.First; i < p.First+p.Count; i++ {
		for j := p.From; j < len(p.std.Columns); j++ {
			a, b := p.std.Columns[i], p.std.Columns[j]
			weight, product, squaresA, squaresB := all[a][b][0], all[a][b][1], all[a][b][2], all[a][b][3]
			got := p.SumsOfPair(i, j)
			// 549 products of about 1 round to 549 ulps in all; the mean over the rows of a pair is off the mean by up to
			// a few deviations, and its square is subtracted.
			const tolerance = 549 * 20 * 0x1p-52
			if math.Abs(got.Weight-weight) > tolerance*weight {
				tb.Fatalf("%s: weight of %d and %d: got %v, want %v", name, a, b, got.Weight, weight)
			}
			want := product / math.Sqrt(squaresA*squaresB)
			if r := got.PearsonCorrelation(); math.Abs(r-want) > tolerance {
				tb.Fatalf("%s: correlation of %d and %d: got %v, want %v", name, a, b, r, want)
			}
			unit := p.std.Std[i] * p.std.Std[j] // of the sums, which are of standardized columns
			if math.Abs(got.Product*unit-product) > tolerance*weight*unit {
				tb.Fatalf("%s: product of %d and %d: got %v, want %v", name, a, b, got.Product*unit, product)
			}
			if i == j && got.PearsonCorrelation() != 1 {
				tb.Fatalf("%s: correlation of %d with itself: got %v, want 1", name, a, got.PearsonCorrelation())
			}
		}
	}
}

// TestPanelMeanFarOff: a mean that is 1e12 deviations away, and is rounded to some hundred of these, costs no digits.
func TestPanelMeanFarOff(t *testing.T) {
	var tab table
	tab.Cols = [][]float64{make([]float64, 300), make([]float64, 300)}
	for i := range 300 {
		tab.Cols[0][i] = 1e15 + float64(i*i%97)
		tab.Cols[1][i] = -3e15 + float64(i*i%97) + float64(i*7%5)
	}
	p := NewProfile(2)
	tab.add(t, p, 64)
	std := must.Get(NewStandardizer(p, make([]stream.Column, 2), ScaleStandard, FillMean))(t)
	panel := NewPairPanel(std, 4, false, 1)
	panel.BeginPass(0, 2, 0)
	tab.add(t, panel, 64)
	panel.EndPass()
	_, product, a, b := tab.pair(tab.Cols[0], tab.Cols[1])
	if got, want := panel.SumsOfPair(0, 1).PearsonCorrelation(), product/math.Sqrt(a*b); math.Abs(got-want) > 1e-13 {
		t.Errorf("correlation: got %v, want %v", got, want)
	}
}

// TestPanelApart: columns that no row has both of, and a column that is constant in the rows of another, have no
// correlation.
func TestPanelApart(t *testing.T) {
	var tab table
	nan := math.NaN()
	tab.Cols = [][]float64{{1, 2, 3, nan, nan, nan}, {nan, nan, nan, 4, 5, 7}, {3, 3, 3, 1, 2, 9}}
	p := NewProfile(3)
	tab.add(t, p, 6)
	std := must.Get(NewStandardizer(p, make([]stream.Column, 3), ScaleStandard, FillPairwise))(t)
	panel := NewPairPanel(std, 9, true, 1)
	panel.BeginPass(0, 3, 0)
	tab.add(t, panel, 6)
	panel.EndPass()
	for _, pair := range [][3]int{{0, 1, 0}, {0, 2, 3}, {2, 0, 3}} {
		got := panel.SumsOfPair(pair[0], pair[1])
		if r := got.PearsonCorrelation(); r == r || got.Weight != float64(pair[2]) {
			t.Errorf("columns %d and %d: got %v from %v rows, want no number from %d", pair[0], pair[1], r, got.Weight, pair[2])
		}
	}
}

// TestMidranks: with at most RankBins different values they are the ranks, of which equal values share the middle.
func TestMidranks(t *testing.T) {
	tab := sample(5, 700, true, false)
	p, h := NewProfile(len(tab.Cols)), NewRankHistograms(len(tab.Cols), 1)
	tab.add(t, p, 64)
	tab.add(t, h, 64)
	scores := must.Get(NewMidranks(h, p))(t)
	for j, col := range tab.Cols {
		seen := slices.DeleteFunc(slices.Clone(col), math.IsNaN)
		for _, x := range seen {
			below, equal := 0, 0
			for _, y := range seen {
				if y < x {
					below++
				} else if y == x {
					equal++
				}
			}
			want := (float64(below) + float64(equal)/2) / float64(len(seen))
			if got := scores.Score(j, x); math.Abs(got-want) > 0x1p-51 {
				t.Fatalf("column %d, %v: got %v, want %v", j, x, got, want)
			}
		}
	}
}

// TestPairWeights: the weight of the rows that have both columns, which outlasts Finish.
func TestPairWeights(t *testing.T) {
	tab := sample(6, 120, true, true)
	m := tab.moments(t, Options{}, 33)
	weights := m.PairWeights()
	finish(t, m, tab, ScaleCenter, FillPairwise)
	for i, a := range tab.Cols {
		for j, b := range tab.Cols {
			if want, _, _, _ := tab.pair(a, b); math.Abs(weights(i, j)-want) > 120*0x1p-52*want+1e-13 {
				t.Errorf("columns %d and %d: got %v, want %v", i, j, weights(i, j), want)
			}
		}
	}
}
