package anchor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// GreedyChoice is package greedy's choice of k of d features for the target that H is of,
// with its scores and errors. Package greedy builds on this one, so that only a test
// outside it can set this.
var GreedyChoice func(t *testing.T, sym, h []float64, d, k int) (order []int, scores, left []float64)

// With the full n×n A, T = AᵗX̃: H, the choices, and by projection the rest of T.
func TestSmoothTwin(t *testing.T) {
	const n, d, m, k = 90, 7, 15, 3
	tab := clusters(n, d, 1)
	g := tab.graph(t, tab.random(t, m, gram.ScaleStandard), Options{Neighbors: k})
	w := tab.dense(gram.ScaleStandard, tab.own(t, m), k)
	target := w.x
	for round := range 4 {
		if round > 0 {
			target = times(w.a, target)
		}
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s := g.Smooth(2, round)
			checkNear(t, "H", s.H, times(transposed(target), w.x), 1e-11)
			total := squares(target)
			if !(math.Abs(s.Total-total) <= 1e-11*total) {
				t.Errorf("‖T‖² = %v, want %v", s.Total, total)
			}
			chosen, scores, _ := GreedyChoice(t, g.G.Sym, s.H, d, 5)
			order, left := bestColumns(w.x, target, 5)
			if !slices.Equal(chosen, order) {
				t.Fatalf("order %v, want %v", chosen, order)
			}
			for i, e := range s.Error(scores) {
				// Scores are off by rounding of f, ‖T‖⁴ in size, over g of at least 1e-2 of it.
				if !(math.Abs(e-left[i]/total) <= 1e-10) {
					t.Errorf("error %v after %d, want %v", e, i+1, left[i]/total)
				}
			}
		})
	}
}

// bestColumns tries all columns of x, chooses the columns that leave least of the target, and returns the errors.
func bestColumns(x, target [][]float64, k int) (order []int, left []float64) {
	basis := [][]float64{} // orthonormal
	cols, t := transposed(x), transposed(target)
	for range k {
		best, at, next := math.Inf(-1), -1, []float64(nil)
		for j, col := range cols {
			e := slices.Clone(col)
			for range 2 {
				for _, q := range basis {
					kernel.Axpy(-kernel.Dot(e, q), q, e)
				}
			}
			norm := math.Sqrt(kernel.Dot(e, e))
			if slices.Contains(order, j) || norm < 1e-9 {
				continue
			}
			gain := 0.0
			for _, col := range t {
				v := kernel.Dot(col, e) / norm
				gain += v * v
			}
			if gain > best {
				best, at = gain, j
				next = slices.Clone(e)
				for i := range next {
					next[i] /= norm
				}
			}
		}
		basis, order = append(basis, next), append(order, at)
		for _, col := range t {
			kernel.Axpy(-kernel.Dot(col, next), next, col)
		}
		left = append(left, squares(t))
	}
	return order, left
}

func squares(a [][]float64) (sum float64) {
	for _, row := range a {
		sum += kernel.Dot(row, row)
	}
	return sum
}

// Without smoothing it is greedy on centred data, to the last bit of the curve.
func TestNoSmoothingIsGreedy(t *testing.T) {
	tab := clusters(120, 12, 2).shifted(1000)
	g := tab.graph(t, tab.random(t, 20, gram.ScaleStandard), Options{})
	s := g.Smooth(1, 0)
	got, scores, _ := GreedyChoice(t, g.G.Sym, s.H, g.D, 8)
	centred := tab.gram(t, gram.ScaleStandard)
	want, _, left := GreedyChoice(t, centred.Sym, centred.Sym, centred.D, 8)
	if !slices.Equal(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	same, sameScores, _ := GreedyChoice(t, g.G.Sym, g.G.Sym, g.D, 8)
	if !slices.Equal(got, same) || !slices.Equal(scores, sameScores) {
		t.Errorf("choices %v of scores %v differ from %v of %v", got, scores, same, sameScores)
	}
	for i, e := range s.Error(scores) {
		if math.Abs(e-left[i]) > 1e-12 {
			t.Errorf("error %v after %d, want %v", e, i+1, left[i])
		}
	}
}

// H is symmetric to the last bit, the same for any workers, and follows the columns.
func TestSmoothBits(t *testing.T) {
	tab := clusters(200, 70, 3)
	g := tab.graph(t, tab.random(t, 30, gram.ScaleStandard), Options{})
	order := rand.New(rand.NewPCG(1, 1)).Perm(g.D)
	permuted := &Graph{Rows: g.Rows, M: g.M, D: g.D, G: g.G, Delta: g.Delta, S: g.S, C: make([]float64, g.M*g.D)}
	for i := range g.M {
		for j, to := range order {
			permuted.C[i*g.D+to] = g.C[i*g.D+j]
		}
	}
	c := slices.Clone(g.C)
	for round := 1; round <= 4; round++ {
		h, eight, p := g.Smooth(1, round), g.Smooth(8, round), permuted.Smooth(2, round)
		if !slices.Equal(h.H, eight.H) || h.Total != eight.Total {
			t.Fatalf("t=%d: workers change bits", round)
		}
		for i := range g.D {
			for j := range g.D {
				if h.H[i*g.D+j] != h.H[j*g.D+i] || h.H[i*g.D+j] != p.H[order[i]*g.D+order[j]] {
					t.Fatalf("t=%d: H[%d,%d] is not symmetric or moves with its place", round, i, j)
				}
			}
		}
	}
	if !slices.Equal(c, g.C) {
		t.Error("smoothing changed the graph")
	}
}
