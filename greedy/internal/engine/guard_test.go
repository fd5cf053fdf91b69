package engine

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// illConditioned has singular values over seven orders of magnitude, and is chosen
// down to its rank or nearly so.
func illConditioned() greedytest.Matrix {
	return greedytest.SmoothMatrix(20, 300, 200, 150, 0.9).AddNoise(21, 1e-6)
}

// watched runs Algorithm 1 or 2 (c > 0) to the rank of sym.
func watched(t *testing.T, g *gram.Matrix, c int, watch Watcher) *selection.Result {
	t.Helper()
	m := must.Get(NewGram(g, g.Diagonal(2), must.Get(target.NewData(kernel.NewTeam(2), g, greedytest.RandomGroups(g.D, c)))(t), 2))(t)
	m.Groups = greedytest.RandomGroups(g.D, c)
	return must.Get(RunLayers(t.Context(), m, m.Criterion, selection.Options{K: g.D, Threads: 2}, watch))(t)
}

// The recursion with its guard chooses as if every f were recomputed at every turn, to the last bit of the scores. A
// bound of ∞ forces the recomputation.
func TestGuardEqualsRecomputing(t *testing.T) {
	x := illConditioned()
	g := gram.Full(x.Gram(), x.D)
	for _, c := range []int{0, 1, 5} {
		want := watched(t, g, c, func(c *Criterion) {
			for i := range c.ErrBound {
				c.ErrBound[i] = math.Inf(1)
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
	g := gram.Full(x.Gram(), x.D)
	for _, height := range []int{0, 5} {
		m := must.Get(NewGram(g, g.Diagonal(2), must.Get(target.NewData(kernel.NewTeam(2), g, greedytest.RandomGroups(x.D, height)))(t), 2))(t)
		worst := 0.0
		must.Get(RunLayers(t.Context(), m, m.Criterion, selection.Options{K: x.D, Threads: 2}, func(c *Criterion) {
			saved := *c
			saved.F, saved.ErrBound = slices.Clone(c.F), slices.Clone(c.ErrBound)
			saved.TargetNorm, saved.isExact = slices.Clone(c.TargetNorm), slices.Clone(c.isExact)
			var live []int
			for i, ok := range c.Alive {
				if ok {
					live = append(live, i)
				}
			}
			for len(live) > 0 { // few at a time, which does not renew the bounds
				some := live[:min(8, len(live))]
				must.Do(t, m.MakeExact(t.Context(), some))
				for _, i := range some {
					off := math.Abs(c.F[i] - saved.F[i])
					worst = max(worst, off/saved.ErrBound[i])
					if off > saved.ErrBound[i] {
						t.Errorf("turn %d: f[%d] is off by %g, bound %g", c.Turn, i, off, saved.ErrBound[i])
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
	g := gram.Full(x.Gram(), x.D)
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []int{0, 5} {
		want := watched(t, g, c, nil)
		got := watched(t, g, c, func(c *Criterion) {
			for i := range c.F {
				drift := 1e-3 * math.Abs(c.F[i])
				c.F[i] += drift * (2*r.Float64() - 1)
				c.ErrBound[i] += drift
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
	x := greedytest.SmoothMatrix(22, 60, 40, 30, 0.6).AddNoise(23, 1e-4)
	sym := x.Gram()
	got := watched(t, gram.Full(sym, x.D), 0, nil)
	big300 := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	residual := make([]*big.Float, len(sym))
	for i, v := range sym {
		residual[i] = big300(v)
	}
	at := func(i, j int) *big.Float { return residual[i*x.D+j] }
	done := make([]bool, x.D)
	first := greedytest.FirstLayerSize(got)
	for turn, p := range got.Order[:first] {
		score := make([]float64, x.D)
		best := 0.0
		for i := range x.D {
			if done[i] {
				continue
			}
			f := big300(0)
			for j := range x.D {
				f.Add(f, new(big.Float).Mul(at(i, j), at(i, j)))
			}
			if g, _ := at(i, i).Float64(); g > ExhaustedShare*sym[i*x.D+i] {
				score[i], _ = f.Quo(f, at(i, i)).Float64()
				best = max(best, score[i])
			}
		}
		// g is known to 1e-15 of its start, so its quotient to this share:
		g, _ := at(p, p).Float64()
		if slack := TieShare + 1e-14*sym[p*x.D+p]/g; score[p] < best*(1-slack) {
			t.Fatalf("turn %d: chose %d of score %g, best is %g", turn, p, score[p], best)
		}
		if math.Abs(got.Scores[turn]/score[p]-1) > 1e-9+1e-13*sym[p*x.D+p]/g {
			t.Errorf("turn %d: score %v, want %v", turn, got.Scores[turn], score[p])
		}
		done[p] = true
		column := make([]*big.Float, x.D)
		for i := range column {
			column[i] = new(big.Float).Copy(at(i, p))
		}
		for i := range x.D {
			for j := range x.D {
				step := new(big.Float).Mul(column[i], column[j])
				at(i, j).Sub(at(i, j), step.Quo(step, column[p]))
			}
		}
	}
	if first < 30 {
		t.Errorf("only %d features", first)
	}
}

// TestLayout: a choice allocates what its layout declares, for H = G and for groups of features, whose target is given.
func TestLayout(t *testing.T) {
	const d, k, c = 1000, 40, 500
	g := gram.Full(greedytest.RandomMatrix(3, 1100, d, 0).Gram(), d)
	team := kernel.NewTeam(1)
	for name, groups := range map[string][]int{"self": nil, "groups": greedytest.RandomGroups(d, c)} {
		h, height := must.Get(target.NewData(team, g, groups))(t), d
		declared := int64(0)
		if groups != nil {
			height, declared = c, 8*k*c // the vectors υ
		}
		declared += room.Measure(func(l *room.Layout) { LayOutChoice(l, d, k, height) }) - kernel.TeamBytes(d, height)
		roomtest.CheckLayout(t, name, declared, func() {
			m := must.Get(NewGram(g, g.Diagonal(1), h, 1))(t)
			m.Team = team
			must.Get(RunLayers(t.Context(), m, m.Criterion, selection.Options{K: k, Threads: 1}, nil))(t)
		})
	}
}
