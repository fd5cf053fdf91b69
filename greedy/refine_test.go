package greedy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Refined selections are never worse than greedy's, have their own errors, and keep the features in Keep; if no
// exchange wins, the result is greedy's to the last bit.
func TestRefine(t *testing.T) {
	better := 0
	for name, x := range greedytest.SwapCases() {
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
				before, after := greedytest.ErrorLeft(x, groups, plain.Order), greedytest.ErrorLeft(x, groups, got.Order)
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
				total := greedytest.ErrorLeft(x, groups, nil)
				for i, score := range got.Scores {
					now := greedytest.ErrorLeft(x, groups, got.Order[:i+1])
					if math.Abs(total-now-score) > 1e-9*greedytest.ErrorLeft(x, groups, nil) {
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
	x := greedytest.SmoothMatrix(75, 300, 120, 60, 0.9).AddNoise(76, 0.05)
	p := rand.New(rand.NewPCG(1, 1)).Perm(x.D)
	for _, partitioned := range []bool{false, true} {
		opt := Options{K: 30, Refine: true, Threads: 1, Partitioned: partitioned}
		moved := opt
		if partitioned {
			opt.Groups, moved.Groups = Partition(x.D, 9, 1), make([]int, x.D)
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
		got := mustSelect(t, x.PermuteColumns(p), moved)
		for i, j := range got.Order {
			if p[j] != want.Order[i] {
				t.Fatalf("partitioned %v: columns permuted, turn %d chose %d, want %d", partitioned, i, p[j], want.Order[i])
			}
		}
	}
	// Rows cut in two add up to the same choice.
	half := greedytest.Matrix{N: 150, D: x.D, Col: nil}
	other := greedytest.Matrix{N: 150, D: x.D, Col: nil}
	for _, col := range x.Col {
		half.Col, other.Col = append(half.Col, col[:150]), append(other.Col, col[150:])
	}
	sum := half.Gram()
	for i, v := range other.Gram() {
		sum[i] += v
	}
	opt := Options{K: 30, Refine: true}
	merged := must.Get(Select(t.Context(), gram.Full(sum, x.D), opt))(t)
	if want := mustSelect(t, x, opt); !slices.Equal(merged.Order, want.Order) {
		t.Errorf("merged order %v, want %v", merged.Order, want.Order)
	}
}

// Where there is nothing to improve, or no room, greedy's choice stands.
func TestRefineNothing(t *testing.T) {
	x := greedytest.RandomMatrix(77, 12, 20, 0)
	for _, k := range []int{1, 12, 15, 20} {
		got := mustSelect(t, x, Options{K: k, Refine: true})
		want := mustSelect(t, x, Options{K: k})
		if k > 1 && !slices.Equal(got.Order, want.Order) || len(got.Order) != k {
			t.Errorf("k = %d: order %v, greedy %v", k, got.Order, want.Order)
		}
	}
	copy(x.Col[4], x.Col[2])
	got := mustSelect(t, x, Options{K: 6, Refine: true, Keep: []int{4, 2}})
	if !slices.Equal(got.Order[:2], []int{4, 2}) || !slices.Equal(got.Redundant, []int{2}) || len(got.Order) != 6 {
		t.Errorf("order %v, redundant %v", got.Order, got.Redundant)
	}
	src := greedytest.NewSource(x, 8)
	_, _, err := SelectStream(t.Context(), src, StreamOptions{Options: Options{K: 3, Refine: true}})
	rowstest.CheckRefusal(t, err, "refine", "memory-limit")
}
