package refine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// bestTrade tries every exchange of a set, except of features to keep.
func bestTrade(x greedytest.Matrix, groups, s []int, keep []bool) (left float64) {
	left = math.Inf(1)
	for a := range s {
		for p := range x.D {
			if keep[a] || slices.Contains(s, p) {
				continue
			}
			other := slices.Clone(s)
			other[a] = p
			left = min(left, greedytest.ErrorLeft(x, groups, other))
		}
	}
	return left
}

// Every exchange made is the best there is, by least squares, and lowers F; the search ends
// where none does.
func TestTradesAreTheBest(t *testing.T) {
	made := 0
	for name, x := range greedytest.SwapCases() {
		for _, groups := range [][]int{nil, selection.Partition(x.D, 6, 3)} {
			t.Run(fmt.Sprintf("%s/partitioned=%v", name, groups != nil), func(t *testing.T) {
				g := gram.Full(x.Gram(), x.D)
				m := must.Get(engine.NewGram(g, g.Diagonal(2), must.Get(target.NewData(kernel.NewTeam(2), g, groups))(t), 2))(t)
				keep := make([]bool, 5)
				keep[2] = true
				e, ok := newExchanger(m, rand.New(rand.NewPCG(3, 3)).Perm(x.D)[:5], keep, nil)
				if !ok {
					t.Fatal("the start is dependent")
				}
				kept, unit := e.set[2], m.ScoreUnit()
				for {
					before := greedytest.ErrorLeft(x, groups, e.set)
					want := bestTrade(x, groups, e.set, keep)
					b := e.bestOfAllPlaces()
					if b.p < 0 {
						if want < before*(1-1e-4) {
							t.Errorf("an exchange that leaves %v of %v was missed", want, before)
						}
						break
					}
					if gain := b.gain * unit; math.Abs(before-gain-want) > 1e-9*before {
						t.Fatalf("exchange %+v leaves %v, the best %v", b, before-gain, want)
					}
					if !e.tryExchange(b) {
						t.Fatalf("exchange %+v was not made", b)
					}
					made++
					if e.identityDrift() > 1e-10 {
						t.Errorf("drift %g", e.identityDrift())
					}
					e.setEntriesOfChosen()
					if after := greedytest.ErrorLeft(x, groups, e.set); after >= before || math.Abs(after-want) > 1e-9*before {
						t.Errorf("leaves %v after %v, want %v", after, before, want)
					}
					e.compareAfresh(t)
				}
				if e.set[2] != kept {
					t.Error("a feature to keep has left")
				}
			})
		}
	}
	if made < 20 {
		t.Errorf("only %d exchanges: the test has lost its point", made)
	}
}

// compareAfresh compares the updated numbers of exchanges with the same numbers computed from G and H.
func (x *exchanger) compareAfresh(t *testing.T) {
	t.Helper()
	old := [][]float64{slices.Clone(x.p), slices.Clone(x.u), slices.Clone(x.v), slices.Clone(x.w), slices.Clone(x.f), slices.Clone(x.g)}
	if !x.recomputeAll() {
		t.Fatal("no columns to go by")
	}
	for i, now := range [][]float64{x.p, x.u, x.v, x.w, x.f, x.g} {
		size := 0.0
		for _, v := range now {
			size = max(size, math.Abs(v))
		}
		for j, v := range now {
			// A few dozen operations on numbers of this size, and the condition of G_SS.
			if math.Abs(v-old[i][j]) > 1e-10*size {
				t.Fatalf("%s entry %d is %v, afresh %v", []string{"P", "U", "V", "W", "f", "g"}[i], j, old[i][j], v)
			}
		}
	}
}

// TestLayout: an exchanger allocates what its layout declares, for any number of exchanges.
func TestLayout(t *testing.T) {
	const d, k, c = 900, 80, 200
	x := greedytest.SmoothMatrix(5, 1000, d, 700, 0.99)
	g, set := gram.Full(x.Gram(), d), rand.New(rand.NewPCG(3, 3)).Perm(d)[:k]
	for name, groups := range map[string][]int{"self": nil, "groups": selection.Partition(d, c, 3)} {
		m := must.Get(engine.NewGram(g, g.Diagonal(1), must.Get(target.NewData(kernel.NewTeam(1), g, groups))(t), 1))(t)
		declared := room.Measure(func(l *room.Layout) { new(exchanger).layOut(l, k, d, m.TargetHeight(), groups == nil) })
		roomtest.CheckLayout(t, name, declared, func() {
			e, ok := newExchanger(m, set, make([]bool, k), nil)
			for range 5 {
				if best := e.bestOfAllPlaces(); !ok || !e.tryExchange(best) || !e.recomputeAll() {
					t.Fatalf("%s: exchange %+v was not made", name, best)
				}
			}
		})
	}
}
