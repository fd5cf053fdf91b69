package planted

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// read returns the columns of a range of rows.
func read(t *testing.T, tab *Table, r stream.Range) [][]float64 {
	t.Helper()
	out := make([][]float64, len(tab.Columns()))
	next := r.From
	for c, err := range tab.Chunks(context.Background(), r) {
		must.Do(t, err)
		if c.Start != next || c.Rows != c.Block {
			t.Fatalf("block %d+%d, want start %d", c.Start, c.Rows, next)
		}
		next += int64(c.Rows)
		for j := range out {
			out[j] = append(out[j], c.Col(j)...)
		}
	}
	return out
}

// gramOf is the Gram matrix of the standardized columns, constants as zeros.
func gramOf(cols [][]float64) [][]float64 {
	n := float64(len(cols[0]))
	for _, x := range cols {
		mean, squares := 0.0, 0.0
		for _, v := range x {
			mean += v / n
		}
		for i := range x {
			x[i] -= mean
			squares += x[i] * x[i]
		}
		for i := range x {
			if squares > 1e-9*n {
				x[i] /= math.Sqrt(squares)
			} else {
				x[i] = 0
			}
		}
	}
	g := make([][]float64, len(cols))
	for i, x := range cols {
		for _, y := range cols {
			s := 0.0
			for k := range x {
				s += x[k] * y[k]
			}
			g[i] = append(g[i], s)
		}
	}
	return g
}

// greedy is the naive twin of greedy selection: score every column on the residual's
// Gram matrix, take the best, project it out. It also returns the best score of a
// column outside the group that the winner is from.
func greedy(g [][]float64, k int, group func(j int) int) (order []int, margin float64) {
	margin = math.Inf(1)
	for range k {
		best, score := -1, make([]float64, len(g))
		for i := range g {
			if g[i][i] < 1e-6 {
				continue
			}
			for _, x := range g[i] {
				score[i] += x * x / g[i][i]
			}
			if best < 0 || score[i] > score[best] {
				best = i
			}
		}
		for i := range g {
			if group(i) != group(best) {
				margin = min(margin, score[best]/score[i])
			}
		}
		order = append(order, best)
		pivot := slices.Clone(g[best])
		for i := range g {
			for j := range g {
				g[i][j] -= pivot[i] * pivot[j] / pivot[best]
			}
		}
	}
	return order, margin
}

// Greedy takes one column of each group, the largest group first, whatever the seed,
// and no other column comes near.
func TestAnswerIsUnambiguous(t *testing.T) {
	for _, opt := range []Options{{Rows: 500}, {Rows: 2000, Factors: 10}, {Rows: 1000, Factors: 1, Noise: 5}, {Rows: 1000, Factors: 3, Noise: 30},
		{Rows: 1000, Columns: 10}, {Rows: 1000, Columns: 61, Classes: 8}, {Rows: 1000, Columns: 40, Factors: 5, Classes: 2}} {
		for seed := uint64(1); seed <= 5; seed++ {
			opt.Seed = seed
			tab := New(opt)
			a := tab.Answer()
			group := func(j int) int {
				return slices.IndexFunc(a.Groups, func(g []int) bool { return slices.Contains(g, j) })
			}
			order, margin := greedy(gramOf(read(t, tab, stream.Range{})), len(a.Groups), group)
			for f, j := range order {
				if group(j) != f {
					t.Fatalf("%+v: step %d took %d of group %d", opt, f+1, j, group(j))
				}
			}
			if margin < 1.05 {
				t.Errorf("%+v: the next group scores within %.3f of the winner", opt, margin)
			}
			if a.CoveredGroups(order) != len(a.Groups) || a.CoveredGroups(order[1:]) != len(a.Groups)-1 || a.CoveredGroups(a.Noise) != 0 {
				t.Errorf("Found miscounts")
			}
		}
	}
}

func TestAnswerCoversColumns(t *testing.T) {
	tab := New(Options{Factors: 4, Noise: 3, Constant: 2})
	a := tab.Answer()
	all := slices.Concat(append(a.Groups, a.Mixtures, a.Noise, a.Constant)...)
	slices.Sort(all)
	for i, j := range all {
		if i != j || len(all) != len(tab.Columns()) {
			t.Fatalf("columns %v of %d", all, len(tab.Columns()))
		}
	}
	sizes := fmt.Sprint(len(a.Groups[0]), len(a.Groups[1]), len(a.Groups[2]), len(a.Groups[3]), len(a.Mixtures), len(a.Noise), len(a.Constant))
	if sizes != "6 5 4 3 2 3 2" {
		t.Errorf("sizes %s", sizes)
	}
	cols := read(t, tab, stream.Range{To: 100})
	for _, j := range a.Constant {
		if slices.Min(cols[j]) != slices.Max(cols[j]) {
			t.Errorf("column %d is not constant", j)
		}
	}
}

// Any range is a piece of the whole, and reading twice gives the same values.
func TestRanges(t *testing.T) {
	tab := New(Options{Rows: 10000, Factors: 2, GroupRow: 3000})
	whole := read(t, tab, stream.Range{})
	if len(whole[0]) != 10000 || !slices.Equal(tab.Cuts(), []int64{0, 3000, 6000, 9000, 10000}) {
		t.Fatalf("%d rows, cuts %v", len(whole[0]), tab.Cuts())
	}
	for _, r := range []stream.Range{{From: 0, To: 3000}, {From: 3000, To: 9000}, {From: 9000, To: 10000}, {From: 17, To: 4005}} {
		for j, col := range read(t, tab, r) {
			if !slices.Equal(col, whole[j][r.From:r.To]) {
				t.Fatalf("rows %v differ", r)
			}
		}
	}
	for _, err := range tab.Chunks(context.Background(), stream.Range{From: 0, To: 10001}) {
		if err == nil {
			t.Error("read behind the end")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range tab.Chunks(ctx, stream.Range{}) {
		if err == nil {
			t.Error("read after cancellation")
		}
	}
	if slices.Equal(whole[0], read(t, New(Options{Rows: 10000, Factors: 2, GroupRow: 3000, Seed: 2}), stream.Range{})[0]) {
		t.Error("the seed has no effect")
	}
}

// normal has mean 0 and variance 1 within five standard errors of 1e5 draws.
func TestNormal(t *testing.T) {
	series := NewSeries(1, 7)
	const n = 100000
	var sum, squares float64
	for i := range int64(n) {
		x := series.Normal(i)
		sum += x
		squares += x * x
	}
	if math.Abs(sum/n) > 5/math.Sqrt(n) || math.Abs(squares/n-1) > 5*math.Sqrt(2)/math.Sqrt(n) {
		t.Errorf("mean %g, variance %g", sum/n, squares/n)
	}
}
