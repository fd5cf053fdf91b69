package greedy

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func mustSelect(t testing.TB, x greedytest.Matrix, opt Options) *Result {
	t.Helper()
	return must.Get(Select(t.Context(), gram.Full(x.Gram(), x.D), opt))(t)
}

func TestEqualsDefinition(t *testing.T) {
	for _, c := range []struct {
		name string
		x    greedytest.Matrix
	}{
		{"one column", greedytest.RandomMatrix(1, 5, 1, 0)},
		{"one row", greedytest.RandomMatrix(2, 1, 4, 0)},
		{"tall", greedytest.RandomMatrix(3, 60, 17, 0)},
		{"far from the origin", greedytest.RandomMatrix(4, 60, 17, 100)},
		{"wide", greedytest.RandomMatrix(5, 9, 33, 1)},
		{"images", greedytest.SmoothMatrix(6, 80, 40, 12, 0.7).AddNoise(7, 0.02)},
	} {
		for _, partitioned := range []bool{false, true} {
			opt := Options{K: min(c.x.D, c.x.N), Partitioned: partitioned, Partitions: 3, Seed: 5}
			if !partitioned || c.x.D < 3 {
				opt.Partitions = 0
			}
			r := mustSelect(t, c.x, opt)
			want := greedytest.SelectNaively(c.x, r.Groups, opt.K)
			// The order is decided where the gap is above the error of G itself, about
			// 1e-16 of its largest entry; a smaller gap would make the case useless.
			// One row: every column has the same score. Wide: so have the last.
			if !slices.Equal(r.Order, want.Order) {
				t.Errorf("%s, partitioned %v: order %v, want %v (gap %g)", c.name, partitioned, r.Order, want.Order, want.Gap)
				continue
			}
			for j := range r.Order {
				if math.Abs(r.Scores[j]/want.Score[j]-1) > 1e-7 || math.Abs(r.Error[j]-want.Error[j]) > 1e-12 {
					t.Errorf("%s, partitioned %v, turn %d: score %v, error %v; want %v, %v",
						c.name, partitioned, j, r.Scores[j], r.Error[j], want.Score[j], want.Error[j])
				}
			}
		}
	}
}

// Explained and Nearest against their definitions.
func TestExplained(t *testing.T) {
	x := greedytest.SmoothMatrix(6, 80, 40, 12, 0.7).AddNoise(7, 0.1)
	r := mustSelect(t, x, Options{K: 5})
	e := x.Clone()
	for _, p := range greedytest.SelectNaively(x, nil, 5).Order {
		e.ProjectOut(e.Col[p])
	}
	for i, col := range x.Col {
		if want := 1 - greedytest.DotProduct(e.Col[i], e.Col[i])/greedytest.DotProduct(col, col); math.Abs(r.Explained[i]-want) > 1e-12 {
			t.Errorf("explained[%d] = %v, want %v", i, r.Explained[i], want)
		}
		nearest, best := -1, 0.0
		for _, p := range r.Order {
			if c := math.Abs(greedytest.DotProduct(col, x.Col[p])) / math.Sqrt(greedytest.DotProduct(col, col)*greedytest.DotProduct(x.Col[p], x.Col[p])); c > best {
				nearest, best = p, c
			}
		}
		if slices.Contains(r.Order, i) {
			nearest = -1
		}
		if r.Nearest[i] != nearest {
			t.Errorf("nearest[%d] = %d, want %d", i, r.Nearest[i], nearest)
		}
	}
}

func TestAnyWorkers(t *testing.T) {
	x := greedytest.SmoothMatrix(8, 700, 600, 30, 0.8).AddNoise(9, 0.05)
	sym := x.Gram()
	for _, partitioned := range []bool{false, true} {
		opt := Options{K: 300, Partitioned: partitioned, Threads: 1}
		want := must.Get(Select(t.Context(), gram.Full(sym, x.D), opt))(t)
		for _, opt.Threads = range []int{2, 3, 8} {
			if r := must.Get(Select(t.Context(), gram.Full(sym, x.D), opt))(t); !reflect.DeepEqual(r, want) {
				t.Errorf("partitioned %v: %d workers differ from one", partitioned, opt.Threads)
			}
		}
	}
}

func TestPermutation(t *testing.T) {
	x := greedytest.RandomMatrix(10, 50, 23, 0.5)
	p := rand.New(rand.NewPCG(1, 1)).Perm(x.D)
	groups := Partition(x.D, 4, 1)
	moved := make([]int, x.D)
	for j, q := range p {
		moved[j] = groups[q]
	}
	for _, partitioned := range []bool{false, true} {
		opt := Options{K: 15, Partitioned: partitioned}
		movedOpt := opt
		if partitioned {
			opt.Groups, movedOpt.Groups = groups, moved
		}
		want, got := mustSelect(t, x, opt), mustSelect(t, x.PermuteColumns(p), movedOpt)
		for j := range want.Order {
			if p[got.Order[j]] != want.Order[j] {
				t.Fatalf("partitioned %v: turn %d chose %d, want %d", partitioned, j, p[got.Order[j]], want.Order[j])
			}
		}
	}
}

// A common factor, be it so large that f alone would overflow, changes no choice; a
// power of 2 changes no bit of the errors.
func TestScaling(t *testing.T) {
	x := greedytest.RandomMatrix(11, 50, 23, 0.5)
	want := mustSelect(t, x, Options{K: 23})
	for _, factor := range []float64{3, 0x1p300, 0x1p-300, 1e-150} {
		sym := x.Gram()
		for i := range sym {
			sym[i] *= factor * factor
		}
		got := must.Get(Select(t.Context(), gram.Full(sym, x.D), Options{K: 23}))(t)
		if !slices.Equal(got.Order, want.Order) {
			t.Errorf("factor %g: order %v, want %v", factor, got.Order, want.Order)
		}
		exact := factor == 0x1p300 || factor == 0x1p-300
		if exact && !slices.Equal(got.Error, want.Error) {
			t.Errorf("factor %g: errors differ", factor)
		}
		if s := got.Scores[0] / factor / factor; math.Abs(s/want.Scores[0]-1) > 1e-12 {
			t.Errorf("factor %g: score %v, want %v", factor, s, want.Scores[0])
		}
	}
}

// A column of huge values next to ordinary ones costs the latter no digits.
func TestHugeColumn(t *testing.T) {
	x := greedytest.RandomMatrix(12, 50, 12, 0.5)
	for i := range x.Col[7] {
		x.Col[7][i] *= 1e25
	}
	r := mustSelect(t, x, Options{K: 12})
	// The choice among the other columns without column 7 in the data.
	rest := x.Clone()
	rest.ProjectOut(x.Col[7])
	rest = rest.PermuteColumns([]int{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11})
	want := []int{7}
	for _, p := range greedytest.SelectNaively(rest, nil, 11).Order {
		if p >= 7 {
			p++
		}
		want = append(want, p)
	}
	if !slices.Equal(r.Order, want) {
		t.Errorf("order %v, want %v", r.Order, want)
	}
}

func TestDuplicatesAndRank(t *testing.T) {
	x := greedytest.RandomMatrix(13, 40, 12, 0)
	copy(x.Col[5], x.Col[2])
	copy(x.Col[9], x.Col[2])
	for i := range x.Col[11] {
		x.Col[11][i] = 1.5*x.Col[0][i] - 2*x.Col[1][i] // dependent
		x.Col[10][i] = 0
	}
	for _, partitioned := range []bool{false, true} {
		// A share of all ends with the first layer.
		r := mustSelect(t, x, Options{Variance: 1, Partitioned: partitioned})
		if len(r.Order) != 8 || r.Layers != nil {
			t.Errorf("order %v, layers %v; want rank 8", r.Order, r.Layers)
		}
		if slices.Contains(r.Order, 5) || slices.Contains(r.Order, 9) || slices.Contains(r.Order, 10) {
			t.Errorf("order %v holds a duplicate or a zero column", r.Order)
		}
		if turn := slices.Index(r.Order, 2); !slices.ContainsFunc(r.Ties, func(tie Tie) bool {
			return tie.Turn == turn && slices.Equal(tie.Columns, []int{5, 9})
		}) {
			t.Errorf("ties %v do not hold turn %d with columns 5 and 9", r.Ties, turn)
		}
		if r.Nearest[5] != 2 || math.Abs(r.Explained[5]-1) > 1e-12 || r.Explained[10] != 1 || r.Nearest[10] != -1 {
			t.Errorf("nearest %v, explained %v", r.Nearest, r.Explained)
		}
		for i, e := range r.Explained {
			if !(e >= 0 && e <= 1) {
				t.Errorf("explained[%d] = %v", i, e)
			}
		}
		// A number goes on: the dependent column and a duplicate, then the other duplicate.
		r = mustSelect(t, x, Options{K: 12, Partitioned: partitioned})
		if len(r.Order) != 11 || !r.Exhausted || !slices.Equal(r.Layers[8:], []int{2, 2, 3}) ||
			!strings.Contains(r.Warnings[0].String(), "rank 8 reached: features 9 to 11 are 2 further layers") {
			t.Errorf("order %v, layers %v, exhausted %v, warnings %v", r.Order, r.Layers, r.Exhausted, r.Warnings)
		}
		if r.Order[10] != 9 || !slices.Contains(r.Order[8:10], 5) || slices.Contains(r.Order, 10) {
			t.Errorf("order %v: want duplicate 5 in the second layer, 9 in the third, 10 nowhere", r.Order)
		}
	}
}

func TestNothingToExplain(t *testing.T) {
	r := mustSelect(t, greedytest.NewMatrix(5, 3), Options{K: 2})
	if len(r.Order) != 0 || !r.Exhausted {
		t.Errorf("a matrix of zeros: got %+v, want no choice and Exhausted", r)
	}
	// The groups' sums vanish, the columns do not: nothing of the target to explain.
	x := greedytest.RandomMatrix(14, 20, 4, 0)
	for i := range x.Col[0] {
		x.Col[1][i], x.Col[3][i] = -x.Col[0][i], -x.Col[2][i]
	}
	r = mustSelect(t, x, Options{K: 2, Partitioned: true, Groups: []int{0, 0, 1, 1}})
	if len(r.Order) != 0 || !r.Exhausted || !strings.Contains(r.Warnings[0].String(), "only rounding errors of the target are left") {
		t.Errorf("groups whose sums are 0: got %+v, want no choice, Exhausted, and a warning of it", r)
	}
}

func TestKeep(t *testing.T) {
	x := greedytest.RandomMatrix(15, 40, 12, 0)
	copy(x.Col[5], x.Col[2])
	r := mustSelect(t, x, Options{K: 6, Keep: []int{5, 0, 2}})
	if !slices.Equal(r.Order[:3], []int{5, 0, 2}) || len(r.Order) != 6 || !slices.Equal(r.Redundant, []int{2}) {
		t.Errorf("order %v, redundant %v", r.Order, r.Redundant)
	}
	// The rest is chosen from the residual of the kept columns.
	rest := x.Clone()
	for _, p := range []int{5, 0} {
		rest.ProjectOut(rest.Col[p])
		clear(rest.Col[2])
		clear(rest.Col[p])
	}
	if want := greedytest.SelectNaively(rest, nil, 3).Order; !slices.Equal(r.Order[3:], want) {
		t.Errorf("then %v, want %v", r.Order[3:], want)
	}
}

func TestVariance(t *testing.T) {
	x := greedytest.SmoothMatrix(16, 60, 30, 10, 0.6).AddNoise(17, 0.01)
	all := mustSelect(t, x, Options{K: 30})
	for _, share := range []float64{0.3, 0.9, 0.99, 1} {
		r := mustSelect(t, x, Options{Variance: share})
		want := len(all.Order)
		for j, e := range all.Error {
			if 1-e >= share {
				want = j + 1
				break
			}
		}
		if len(r.Order) != want || !slices.Equal(r.Order, all.Order[:want]) {
			t.Errorf("share %v: %d features, want %d", share, len(r.Order), want)
		}
	}
	if r := mustSelect(t, x, Options{Variance: 0.99, K: 2}); len(r.Order) != 2 {
		t.Errorf("k does not cap the variance: %v", r.Order)
	}
}

// Columns of a target of one's own: B = X is Algorithm 1, scaled or not.
func TestSelectTarget(t *testing.T) {
	x := greedytest.RandomMatrix(18, 40, 12, 1)
	sym := x.Gram()
	h := append([]float64(nil), sym...)
	for i := range h {
		h[i] *= 1e100
	}
	r := must.Get(SelectTarget(t.Context(), gram.Full(sym, x.D), Target{Rows: x.D, H: h}, Options{K: 12}))(t)
	if want := mustSelect(t, x, Options{K: 12}); !slices.Equal(r.Order, want.Order) {
		t.Errorf("order %v, want %v", r.Order, want.Order)
	}
}

func TestPartition(t *testing.T) {
	for _, c := range []int{1, 2, 7, 20} {
		groups := Partition(20, c, 3)
		size := make([]int, c)
		for _, j := range groups {
			size[j]++
		}
		if slices.Max(size)-slices.Min(size) > 1 {
			t.Errorf("%d groups of sizes %v", c, size)
		}
	}
	if slices.Equal(Partition(20, 5, 1), Partition(20, 5, 2)) {
		t.Error("the seed does not matter")
	}
	if want := []int{2, 1, 3, 3, 0, 1, 2, 4, 0, 4}; !slices.Equal(Partition(10, 5, 1), want) {
		t.Errorf("the draw has changed: %v; runs of older versions can no longer be repeated", Partition(10, 5, 1))
	}
}

func TestValidate(t *testing.T) {
	bad := Options{K: -1, Variance: 2, Keep: []int{9, 1, 1}, Groups: []int{0}, Threads: -1}
	rowstest.CheckRefusal(t, bad.Validate(3), "k = -1", "variance = 2", "column 9", "twice", "groups", "threads")
	_, err := Select(t.Context(), gram.Full(make([]float64, 4), 2), Options{K: 3})
	rowstest.CheckRefusal(t, err, "k = 3")
}

func TestBadGram(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var data *stream.DataError
		if _, err := Select(t.Context(), gram.Full([]float64{1, x, x, 1}, 2), Options{}); !errors.As(err, &data) {
			t.Errorf("entry %v of G: got error %v, want a *stream.DataError", x, err)
		}
		if _, err := Select(t.Context(), gram.Full([]float64{x, 0, 0, 1}, 2), Options{}); !errors.As(err, &data) {
			t.Errorf("%v on the diagonal: %v", x, err)
		}
		if _, err := SelectTarget(t.Context(), gram.Full([]float64{1, 0, 0, 1}, 2), Target{Rows: 1, H: []float64{x, 1}}, Options{}); !errors.As(err, &data) {
			t.Errorf("%v in H: %v", x, err)
		}
	}
	if _, err := Select(t.Context(), gram.Full([]float64{-1, 0, 0, 1}, 2), Options{}); err == nil {
		t.Error("negative diagonal")
	}
	if _, err := Select(t.Context(), gram.Full(make([]float64, 3), 2), Options{}); err == nil {
		t.Error("wrong size")
	}
}

// The memory of Select in addition to G stays within Bytes.
func TestBytes(t *testing.T) {
	const d, k = 300, 60
	x := greedytest.RandomMatrix(19, 100, d, 0)
	g := gram.Full(x.Gram(), d)
	for _, c := range []int{0, 10} {
		var peak int64
		before := rowstest.HeapBytes()
		must.Get(inmemory.ChooseFeatures(t.Context(), g, must.Get(target.NewData(kernel.NewTeam(2), g, greedytest.RandomGroups(d, c)))(t), Options{K: k, Threads: 2}, func(c *engine.Criterion) {
			if c.Turn%10 == 9 {
				peak = max(peak, rowstest.HeapBytes())
			}
		}))(t)
		if held := peak - before; held > Bytes(d, k, c) {
			t.Errorf("c = %d: holds %d bytes, predicted %d", c, held, Bytes(d, k, c))
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := greedytest.RandomMatrix(1, 10, 5, 0)
	if _, err := Select(ctx, gram.Full(x.Gram(), x.D), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled context: got error %v, want context.Canceled", err)
	}
}

// TestNoTieWhereMinGainEnds: if the features that gain too little are tied, the result has neither them nor their tie.
func TestNoTieWhereMinGainEnds(t *testing.T) {
	const d = 4
	for _, keep := range [][]int{nil, {0}} {
		sym := make([]float64, d*d)
		for j, v := range []float64{4, 100, 1e-3, 1e-3} {
			sym[j*d+j] = v
		}
		r := must.Get(Select(t.Context(), gram.Full(sym, d), Options{K: d, MinGain: 0.01, Keep: keep}))(t)
		if len(r.Order) != 2 || r.Ties != nil {
			t.Errorf("with %v kept: order %v, ties %v; want the two features of large variance and no tie", keep, r.Order, r.Ties)
		}
	}
}
