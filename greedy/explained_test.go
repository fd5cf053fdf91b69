package greedy

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// leftOfExplained is ‖B − QQᵀB‖² for the columns B of x to explain, and Q from the QR decomposition of the chosen ones.
func leftOfExplained(x greedytest.Matrix, explained, chosen []int) float64 {
	columns := func(list []int) *mat.Dense {
		m := mat.NewDense(x.N, len(list), nil)
		for at, j := range list {
			m.SetCol(at, x.Col[j])
		}
		return m
	}
	b := columns(explained)
	var qr mat.QR
	var full mat.Dense
	qr.Factorize(columns(chosen))
	qr.QTo(&full)
	q := full.Slice(0, x.N, 0, min(len(chosen), x.N))
	var inner, fit mat.Dense
	inner.Mul(q.T(), b)
	fit.Mul(q, &inner)
	b.Sub(b, &fit)
	norm := mat.Norm(b, 2)
	return norm * norm
}

// explainNaively tries every candidate at every turn by a projection of its own.
func explainNaively(x greedytest.Matrix, explained, forbidden []int, k int) (order []int, left []float64) {
	for range k {
		best, least := -1, math.Inf(1)
		for j := range x.D {
			if slices.Contains(explained, j) || slices.Contains(forbidden, j) || slices.Contains(order, j) {
				continue
			}
			if f := leftOfExplained(x, explained, append(slices.Clone(order), j)); f < least*(1-1e-10) {
				best, least = j, f
			}
		}
		order, left = append(order, best), append(left, least)
	}
	return order, left
}

func explainedCases() map[string]greedytest.Matrix {
	return map[string]greedytest.Matrix{
		"tall":   greedytest.RandomMatrix(41, 60, 17, 0.5),
		"wide":   greedytest.RandomMatrix(42, 14, 33, 1),
		"images": greedytest.SmoothMatrix(43, 80, 40, 12, 0.7).AddNoise(44, 0.02),
	}
}

// TestExplainedEqualsDefinition: the choice that explains some columns by the others is the one that its definition
// makes, from the matrix in full, from a factor, and from rows that are read again.
func TestExplainedEqualsDefinition(t *testing.T) {
	for name, x := range explainedCases() {
		for _, explained := range [][]int{{3}, {0, 4, 5, 16}, {1, 2, 3, 6, 8, 9, 10, 11, 12, 13, 14}} {
			forbidden := []int{7}
			opt := Options{K: 4, Threads: 1, Choice: method.Choice{Explain: explained, Forbid: append(slices.Clone(explained), forbidden...)}}
			order, left := explainNaively(x, explained, forbidden, opt.K)
			total := 0.0
			for _, j := range explained {
				total += greedytest.DotProduct(x.Col[j], x.Col[j])
			}
			results := make(map[string]*Result)
			for form, g := range x.GramForms() {
				results[form] = must.Get(Select(t.Context(), g, opt))(t)
				opt.Threads = 3
				if again := must.Get(Select(t.Context(), g, opt))(t); !reflect.DeepEqual(again, results[form]) {
					t.Errorf("%s, %v, %s: three threads choose %v, one %v", name, explained, form, again.Order, results[form].Order)
				}
				opt.Threads = 1
			}
			for _, block := range []int{x.N, 5} {
				r, _, err := SelectStream(t.Context(), greedytest.NewSource(x, block), StreamOptions{Options: opt, Scale: gram.ScaleNone})
				must.Do(t, err)
				results["rows"] = r
			}
			for form, r := range results {
				if !slices.Equal(r.Order, order) {
					t.Errorf("%s, %v, %s: order %v, want %v", name, explained, form, r.Order, order)
					continue
				}
				for turn, f := range left {
					if want := f / total; math.Abs(r.Error[turn]-want) > 1e-10 {
						t.Errorf("%s, %v, %s, turn %d: error %v, want %v", name, explained, form, turn, r.Error[turn], want)
					}
				}
			}
		}
	}
}

// TestExplainedByShare: the choice ends at the share of the explained columns that is asked for, and at the gain.
func TestExplainedByShare(t *testing.T) {
	x := explainedCases()["images"]
	explained := []int{0, 4, 5, 16}
	choice := method.Choice{Explain: explained, Forbid: explained}
	whole := mustSelect(t, x, Options{K: 10, Choice: choice})
	for n := 1; n < 5; n++ {
		share := 1 - (whole.Error[n-1]+whole.Error[n])/2
		if got := mustSelect(t, x, Options{Variance: share, Choice: choice}); !slices.Equal(got.Order, whole.Order[:n+1]) {
			t.Errorf("share %v: %v, want %v", share, got.Order, whole.Order[:n+1])
		}
		gain := whole.Error[n-1] - whole.Error[n]
		if got := mustSelect(t, x, Options{MinGain: gain * 1.0001, Choice: choice}); len(got.Order) > n {
			t.Errorf("least gain %v: %v, want at most %d", gain, got.Order, n)
		}
		if got := mustSelect(t, x, Options{MinGain: gain * 0.9999, K: n + 1, Choice: choice}); !slices.Equal(got.Order, whole.Order[:len(got.Order)]) {
			t.Errorf("least gain %v: %v, want the first of %v", gain, got.Order, whole.Order)
		}
	}
}

// TestExplainedBySums: Algorithm 2 chooses for the sums of groups of the explained columns, as if a matrix of these sums
// were given as target.
func TestExplainedBySums(t *testing.T) {
	for name, x := range explainedCases() {
		explained := []int{0, 4, 5, 16}
		opt := Options{K: 3, Partitioned: true, Partitions: 2, Seed: 5, Choice: method.Choice{Explain: explained, Forbid: explained}}
		for form, g := range x.GramForms() {
			r := must.Get(Select(t.Context(), g, opt))(t)
			h := make([]float64, 2*x.D)
			for _, j := range explained {
				for i := range x.D {
					h[r.Groups[j]*x.D+i] += greedytest.DotProduct(x.Col[i], x.Col[j])
				}
			}
			want := must.Get(SelectTarget(t.Context(), g, Target{Rows: 2, H: h}, Options{K: 3, Choice: method.Choice{Forbid: explained}}))(t)
			if !slices.Equal(r.Order, want.Order) {
				t.Errorf("%s, %s: order %v, want %v", name, form, r.Order, want.Order)
			}
		}
	}
}

// TestExplainedBlocks: blocks are chosen by what they explain of the explained columns, and never an explained one.
func TestExplainedBlocks(t *testing.T) {
	x := explainedCases()["images"]
	list := blocksBy(2, 2, 2, 2, 2, 10, 10, 10)
	explained := []int{2, 3, 8, 9}
	opt := Options{K: 3, Choice: method.Choice{Blocks: list, Forbid: []int{1, 4}, Explain: explained}}
	var chosen, order []int
	var left []float64
	for range opt.K {
		best, least := -1, math.Inf(1)
		for i, b := range list {
			if i == 1 || i == 4 || slices.Contains(order, i) {
				continue
			}
			if f := leftOfExplained(x, explained, slices.Concat(chosen, b.Members)); f < least {
				best, least = i, f
			}
		}
		order, left, chosen = append(order, best), append(left, least), append(chosen, list[best].Members...)
	}
	total := leftOfExplained(greedytest.Matrix{N: x.N, D: x.D, Col: x.Col}, explained, []int{0}) / mustSelect(t, x, Options{K: 1, Keep: []int{0}, Choice: method.Choice{Explain: explained, Forbid: explained}}).Error[0]
	for form, g := range x.GramForms() {
		r := must.Get(Select(t.Context(), g, opt))(t)
		if !slices.Equal(r.Blocks, order) {
			t.Errorf("%s: blocks %v, want %v", form, r.Blocks, order)
			continue
		}
		for turn, f := range left {
			if math.Abs(r.Error[turn]-f/total) > 1e-10 {
				t.Errorf("%s, turn %d: error %v, want %v", form, turn, r.Error[turn], f/total)
			}
		}
	}
}

// TestExplainedExchanges: exchanges leave less of the explained columns, never bring one of them in, and the error of the
// result is the one of its definition.
func TestExplainedExchanges(t *testing.T) {
	for name, x := range greedytest.SwapCases() {
		explained := []int{0, 2, 4, 6, 8, 10}
		opt := Options{K: 4, Choice: method.Choice{Explain: explained, Forbid: explained}}
		total := 0.0
		for _, j := range explained {
			total += greedytest.DotProduct(x.Col[j], x.Col[j])
		}
		for form, g := range x.GramForms() {
			opt.Refine = false
			plain := must.Get(Select(t.Context(), g, opt))(t)
			opt.Refine = true
			r := must.Get(Select(t.Context(), g, opt))(t)
			if got, want := r.Error[opt.K-1], leftOfExplained(x, explained, r.Order)/total; math.Abs(got-want) > 1e-10 || got > plain.Error[opt.K-1]+1e-12 {
				t.Errorf("%s, %s: error %v, want %v, and at most %v", name, form, got, want, plain.Error[opt.K-1])
			}
			for place := range r.Order {
				for j := range x.D {
					other := slices.Clone(r.Order)
					if other[place] = j; slices.Contains(explained, j) {
						if slices.Contains(r.Order, j) {
							t.Errorf("%s, %s: chose %d, which is to be explained", name, form, j)
						}
					} else if f := leftOfExplained(x, explained, other) / total; !slices.Contains(r.Order, j) && f < r.Error[opt.K-1]*(1-1e-6) {
						t.Errorf("%s, %s: %d for %d leaves %v, less than %v", name, form, j, r.Order[place], f, r.Error[opt.K-1])
					}
				}
			}
		}
	}
}

func TestExplainedRefuses(t *testing.T) {
	g := gram.Full(greedytest.RandomMatrix(45, 20, 6, 0).Gram(), 6)
	for _, c := range []method.Choice{{Explain: []int{1}}, {Explain: []int{6}, Forbid: []int{1}}, {Explain: []int{-1}}, {Explain: []int{2, 1}, Forbid: []int{1, 2}}, {Explain: []int{1, 1}, Forbid: []int{1}}} {
		if _, err := Select(t.Context(), g, Options{K: 2, Choice: c}); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
