package greedy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/must"
)

// illConditioned has singular values over seven orders of magnitude, and is chosen
// down to its rank or nearly so.
func illConditioned() matrix { return smooth(20, 300, 200, 150, 0.9).noisy(21, 1e-6) }

// drawn are c groups of d features; nil for none.
func drawn(d, c int) []int {
	if c == 0 {
		return nil
	}
	return Partition(d, c, 1)
}

// targetOf is the target of groups, or G itself for none.
func targetOf(tb testing.TB, g *gram.Matrix, groups []int) *target {
	tb.Helper()
	team := kernel.NewTeam(2)
	switch {
	case groups != nil:
		return must.Get(partitionTarget(team, g, groups))(tb)
	case g.IsFactor():
		return must.Get(factoredTarget(team, g))(tb)
	}
	return gramTarget(g)
}

// watched runs Algorithm 1 or 2 (c > 0) to the rank of sym.
func watched(t *testing.T, g *gram.Matrix, c int, watch turnWatcher) *Result {
	t.Helper()
	return must.Get(selectInMemory(t.Context(), g, targetOf(t, g, drawn(g.D, c)), Options{K: g.D, Threads: 2}, watch))(t)
}

// The recursion with its guard chooses as if every f were recomputed at every turn, to the last bit of the scores. A
// bound of ∞ forces the recomputation.
func TestGuardEqualsRecomputing(t *testing.T) {
	x := illConditioned()
	g := gram.Full(x.gram(), x.d)
	for _, c := range []int{0, 1, 5} {
		want := watched(t, g, c, func(c *criterion) {
			for i := range c.errBound {
				c.errBound[i] = math.Inf(1)
			}
		})
		got := watched(t, g, c, nil)
		if len(got.Order) < 100 {
			t.Fatalf("c = %d: only %d features", c, len(got.Order))
		}
		if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Scores, want.Scores) {
			t.Errorf("c = %d: the guarded recursion chose otherwise", c)
		}
	}
}

// The bound holds: at every turn the recursion's f lies within err of the exact one.
func TestGuardBound(t *testing.T) {
	x := illConditioned()
	g := gram.Full(x.gram(), x.d)
	for _, height := range []int{0, 5} {
		m := must.Get(newGramEngine(g, g.Diagonal(2), targetOf(t, g, drawn(x.d, height)), 2))(t)
		worst := 0.0
		must.Get(runLayers(t.Context(), m, m.criterion, Options{K: x.d, Threads: 2}, func(c *criterion) {
			saved := *c
			saved.f, saved.errBound = slices.Clone(c.f), slices.Clone(c.errBound)
			saved.targetNorm, saved.isExact = slices.Clone(c.targetNorm), slices.Clone(c.isExact)
			var live []int
			for i, ok := range c.alive {
				if ok {
					live = append(live, i)
				}
			}
			for len(live) > 0 { // few at a time, which does not renew the bounds
				some := live[:min(8, len(live))]
				must.Do(t, m.makeExact(t.Context(), some))
				for _, i := range some {
					off := math.Abs(c.f[i] - saved.f[i])
					worst = max(worst, off/saved.errBound[i])
					if off > saved.errBound[i] {
						t.Errorf("turn %d: f[%d] is off by %g, bound %g", c.turn, i, off, saved.errBound[i])
					}
				}
				live = live[len(some):]
			}
			*c = saved
		}))(t)
		t.Logf("height %d: largest error is %.2g of its bound", height, worst)
	}
}

// For any drift within the bounds, the choice is the same.
func TestGuardAgainstDrift(t *testing.T) {
	x := illConditioned()
	g := gram.Full(x.gram(), x.d)
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []int{0, 5} {
		want := watched(t, g, c, nil)
		got := watched(t, g, c, func(c *criterion) {
			for i := range c.f {
				drift := 1e-3 * math.Abs(c.f[i])
				c.f[i] += drift * (2*r.Float64() - 1)
				c.errBound[i] += drift
			}
		})
		if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Scores, want.Scores) {
			t.Errorf("c = %d: drift changed the choice", c)
		}
	}
}

// Against exact arithmetic on the same G. Where the best two differ by less than G's
// own rounding, amplified by the condition reached, either is right.
func TestGuardEqualsExactArithmetic(t *testing.T) {
	x := smooth(22, 60, 40, 30, 0.6).noisy(23, 1e-4)
	sym := x.gram()
	got := mustSelect(t, x, Options{K: x.d})
	big300 := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	residual := make([]*big.Float, len(sym))
	for i, v := range sym {
		residual[i] = big300(v)
	}
	at := func(i, j int) *big.Float { return residual[i*x.d+j] }
	done := make([]bool, x.d)
	first := ofFirst(got)
	for turn, p := range got.Order[:first] {
		score := make([]float64, x.d)
		best := 0.0
		for i := range x.d {
			if done[i] {
				continue
			}
			f := big300(0)
			for j := range x.d {
				f.Add(f, new(big.Float).Mul(at(i, j), at(i, j)))
			}
			if g, _ := at(i, i).Float64(); g > exhaustedShare*sym[i*x.d+i] {
				score[i], _ = f.Quo(f, at(i, i)).Float64()
				best = max(best, score[i])
			}
		}
		// g is known to 1e-15 of its start, so its quotient to this share:
		g, _ := at(p, p).Float64()
		if slack := tieShare + 1e-14*sym[p*x.d+p]/g; score[p] < best*(1-slack) {
			t.Fatalf("turn %d: chose %d of score %g, best is %g", turn, p, score[p], best)
		}
		if math.Abs(got.Scores[turn]/score[p]-1) > 1e-9+1e-13*sym[p*x.d+p]/g {
			t.Errorf("turn %d: score %v, want %v", turn, got.Scores[turn], score[p])
		}
		done[p] = true
		column := make([]*big.Float, x.d)
		for i := range column {
			column[i] = new(big.Float).Copy(at(i, p))
		}
		for i := range x.d {
			for j := range x.d {
				step := new(big.Float).Mul(column[i], column[j])
				at(i, j).Sub(at(i, j), step.Quo(step, column[p]))
			}
		}
	}
	if first < 30 {
		t.Errorf("only %d features", first)
	}
}
