package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestSummarize(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x         []float64
		mean, std float64
	}{
		{nil, nan, nan},
		{[]float64{3}, 3, nan},
		{[]float64{0.1, 0.1, 0.1}, 0.1, 0},
		{[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32.0 / 7)},
	} {
		s := Summarize(c.x)
		equal(t, "mean and spread", []float64{s.Mean, s.Std}, []float64{c.mean, c.std}, 1e-15)
		if s.Runs != len(c.x) {
			t.Errorf("%d runs, want %d", s.Runs, len(c.x))
		}
	}
}

// TestWelch: a published example, by way of the definition with gonum's own statistics.
func TestWelch(t *testing.T) {
	// Example 1 of the article on Welch's t-test in Wikipedia, with p by R's t.test.
	a := []float64{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4}
	b := []float64{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4}
	got := WelchTest(a, b)
	equal(t, "t, freedom, p", []float64{got.T, got.Freedom, got.P}, []float64{-2.46, 24.99, 0.021}, 0.005)

	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		x, y := make([]float64, 2+random.IntN(20)), make([]float64, 2+random.IntN(20))
		for i := range x {
			x[i] = random.NormFloat64()
		}
		for i := range y {
			y[i] = 0.5 + 3*random.NormFloat64()
		}
		mx, vx := stat.MeanVariance(x, nil)
		my, vy := stat.MeanVariance(y, nil)
		ex, ey := vx/float64(len(x)), vy/float64(len(y))
		tt := (mx - my) / math.Sqrt(ex+ey)
		nu := (ex + ey) * (ex + ey) / (ex*ex/float64(len(x)-1) + ey*ey/float64(len(y)-1))
		p := 2 * distuv.StudentsT{Sigma: 1, Nu: nu}.Survival(math.Abs(tt))
		got := WelchTest(x, y)
		// Two ways of rounding some twenty terms.
		equal(t, "twin", []float64{got.T, got.Freedom, got.P}, []float64{tt, nu, p}, 1e-10*nu)
		back := WelchTest(y, x)
		equal(t, "exchanged", []float64{back.T, back.P}, []float64{-got.T, got.P}, 1e-12)
	}
}

func TestWelchEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		a, b []float64
		want Test
	}{
		{[]float64{1, 1}, []float64{1, 1, 1}, Test{0, 3, 1}},
		{[]float64{1, 1}, []float64{2, 2}, Test{-inf, 2, 0}},
		{[]float64{2, 2}, []float64{1, 1}, Test{inf, 2, 0}},
		{[]float64{1}, []float64{1, 2}, Test{nan, nan, nan}},
		{nil, nil, Test{nan, nan, nan}},
		// One side varies: freedom is its own.
		{[]float64{1, 1, 1}, []float64{0, 1, 2}, Test{0, 2, 1}},
	} {
		got := WelchTest(c.a, c.b)
		if got.T != c.want.T && !(math.IsNaN(got.T) && math.IsNaN(c.want.T)) {
			t.Errorf("Welch(%v, %v) = %+v, want %+v", c.a, c.b, got, c.want)
		}
		equal(t, "freedom, p", []float64{got.Freedom, got.P}, []float64{c.want.Freedom, c.want.P}, 1e-12)
	}
}

// TestMark: the largest mean is best, near ones are marked with it, far ones are not.
func TestMark(t *testing.T) {
	p, best := MarkBest([][]float64{{0.50, 0.52, 0.54}, {0.51, 0.53, 0.52}, {0.10, 0.11, 0.12}, {0.521, 0.531, 0.523}, nil})
	if want := []bool{true, true, false, true, false}; !slices.Equal(best, want) {
		t.Errorf("best %v, want %v", best, want)
	}
	if p[3] != 1 || !(p[0] > 0.05 && p[0] < 1) || p[2] > 1e-3 || !math.IsNaN(p[4]) {
		t.Errorf("p = %v, want 1 for the best, 0.05 to 1 for the near one, at most 0.001 for the far one, NaN without scores", p)
	}
	// Single runs cannot be tested: only the best mean is marked, and its equals.
	if _, best := MarkBest([][]float64{{0.5}, {0.4}, {0.5}}); !slices.Equal(best, []bool{true, false, true}) {
		t.Errorf("single runs: %v", best)
	}
}
