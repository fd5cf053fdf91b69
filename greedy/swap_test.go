package greedy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// leftOf is ‖B − P_S B‖² by projection, B the columns of x or the sums of its groups.
func leftOf(x matrix, groups, s []int) float64 {
	b := x.clone()
	if groups != nil {
		b = newMatrix(x.n, groupCount(groups))
		for i, j := range groups {
			subtract(b.col[j], -1, x.col[i])
		}
	}
	e := x.clone()
	for _, p := range s {
		q := slices.Clone(e.col[p])
		e.project(q)
		b.project(q)
	}
	left := 0.0
	for _, col := range b.col {
		left += dot(col, col)
	}
	return left
}

// bestTrade tries every exchange of a set, except of features to keep.
func bestTrade(x matrix, groups, s []int, keep []bool) (left float64) {
	left = math.Inf(1)
	for a := range s {
		for p := range x.d {
			if keep[a] || slices.Contains(s, p) {
				continue
			}
			other := slices.Clone(s)
			other[a] = p
			left = min(left, leftOf(x, groups, other))
		}
	}
	return left
}

func swapCases() map[string]matrix {
	return map[string]matrix{
		"independent": random(70, 40, 18, 0.5),
		"images":      smooth(71, 60, 30, 14, 0.75).noisy(72, 0.05),
		"wide":        smooth(73, 25, 36, 20, 0.8).noisy(74, 0.05),
	}
}

// Every exchange made is the best there is, by least squares, and lowers F; the search ends
// where none does.
func TestTradesAreTheBest(t *testing.T) {
	made := 0
	for name, x := range swapCases() {
		for _, groups := range [][]int{nil, Partition(x.d, 6, 3)} {
			t.Run(fmt.Sprintf("%s/partitioned=%v", name, groups != nil), func(t *testing.T) {
				g := gram.Full(x.gram(), x.d)
				m := must.Get(newGramEngine(g, g.Diagonal(2), targetOf(t, g, groups), 2))(t)
				keep := make([]bool, 5)
				keep[2] = true
				e, ok := newExchanger(m, rand.New(rand.NewPCG(3, 3)).Perm(x.d)[:5], keep, nil)
				if !ok {
					t.Fatal("the start is dependent")
				}
				kept, unit := e.set[2], m.scoreUnit()
				for {
					before := leftOf(x, groups, e.set)
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
					if after := leftOf(x, groups, e.set); after >= before || math.Abs(after-want) > 1e-9*before {
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

// Refined selections are never worse than greedy's, have their own errors, and keep the features in Keep; if no
// exchange wins, the result is greedy's to the last bit.
func TestRefine(t *testing.T) {
	better := 0
	for name, x := range swapCases() {
		for _, partitioned := range []bool{false, true} {
			for _, keep := range [][]int{nil, {3, 7}} {
				opt := Options{K: 8, Partitioned: partitioned, Keep: keep}
				if partitioned {
					opt.Partitions = 5
				}
				plain := mustSelect(t, x, opt)
				opt.Refine = true
				got := mustSelect(t, x, opt)
				var groups []int
				if partitioned {
					groups = got.Groups
				}
				before, after := leftOf(x, groups, plain.Order), leftOf(x, groups, got.Order)
				if after > before || got.Exchanges > 0 && after >= before || got.Exchanges == 0 && !slices.Equal(got.Order, plain.Order) {
					t.Errorf("%s: leaves %v after %d exchanges, greedy %v", name, after, got.Exchanges, before)
				}
				if got.Exchanges > 0 {
					better++
				}
				if !slices.Equal(got.Order[:len(keep)], keep) {
					t.Errorf("%s: order %v, want %v first", name, got.Order, keep)
				}
				for i := range got.Order {
					if want := leaves(x, got.Order[:i+1]); math.Abs(got.Error[i]-want) > 1e-10 {
						t.Errorf("%s: error after %d is %v, want %v", name, i+1, got.Error[i], want)
					}
				}
				// Its order is greedy's within the set, by the same scores.
				total := leftOf(x, groups, nil)
				for i, score := range got.Scores {
					now := leftOf(x, groups, got.Order[:i+1])
					if math.Abs(total-now-score) > 1e-9*leftOf(x, groups, nil) {
						t.Errorf("%s: score %d is %v, want %v", name, i, score, total-now)
					}
					total = now
				}
			}
		}
	}
	if better < 4 {
		t.Errorf("only %d selections were improved: the test has lost its point", better)
	}
}

func TestRefineLaws(t *testing.T) {
	x := smooth(75, 300, 120, 60, 0.9).noisy(76, 0.05)
	p := rand.New(rand.NewPCG(1, 1)).Perm(x.d)
	for _, partitioned := range []bool{false, true} {
		opt := Options{K: 30, Refine: true, Threads: 1, Partitioned: partitioned}
		moved := opt
		if partitioned {
			opt.Groups, moved.Groups = Partition(x.d, 9, 1), make([]int, x.d)
			for j, q := range p {
				moved.Groups[j] = opt.Groups[q]
			}
		}
		want := mustSelect(t, x, opt)
		if want.Exchanges == 0 {
			t.Errorf("partitioned %v: no exchanges", partitioned)
		}
		opt.Threads = 8
		if got := mustSelect(t, x, opt); !reflect.DeepEqual(got, want) {
			t.Errorf("partitioned %v: 8 workers differ from one", partitioned)
		}
		got := mustSelect(t, x.permuted(p), moved)
		for i, j := range got.Order {
			if p[j] != want.Order[i] {
				t.Fatalf("partitioned %v: columns permuted, turn %d chose %d, want %d", partitioned, i, p[j], want.Order[i])
			}
		}
	}
	// Rows cut in two add up to the same choice.
	half := matrix{150, x.d, nil}
	other := matrix{150, x.d, nil}
	for _, col := range x.col {
		half.col, other.col = append(half.col, col[:150]), append(other.col, col[150:])
	}
	sum := half.gram()
	for i, v := range other.gram() {
		sum[i] += v
	}
	opt := Options{K: 30, Refine: true}
	merged := must.Get(Select(t.Context(), gram.Full(sum, x.d), opt))(t)
	if want := mustSelect(t, x, opt); !slices.Equal(merged.Order, want.Order) {
		t.Errorf("merged order %v, want %v", merged.Order, want.Order)
	}
}

// Where there is nothing to improve, or no room, greedy's choice stands.
func TestRefineNothing(t *testing.T) {
	x := random(77, 12, 20, 0)
	for _, k := range []int{1, 12, 15, 20} {
		got := mustSelect(t, x, Options{K: k, Refine: true})
		want := mustSelect(t, x, Options{K: k})
		if k > 1 && !slices.Equal(got.Order, want.Order) || len(got.Order) != k {
			t.Errorf("k = %d: order %v, greedy %v", k, got.Order, want.Order)
		}
	}
	copy(x.col[4], x.col[2])
	got := mustSelect(t, x, Options{K: 6, Refine: true, Keep: []int{4, 2}})
	if !slices.Equal(got.Order[:2], []int{4, 2}) || !slices.Equal(got.Redundant, []int{2}) || len(got.Order) != 6 {
		t.Errorf("order %v, redundant %v", got.Order, got.Redundant)
	}
	src := serve(x, 8)
	_, _, err := SelectStream(t.Context(), src, StreamOptions{Options: Options{K: 3, Refine: true}})
	rowstest.CheckRefusal(t, err, "refine", "memory-limit")
}
