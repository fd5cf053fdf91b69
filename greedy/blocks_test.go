package greedy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// blocksBy makes blocks of consecutive columns of the given sizes.
func blocksBy(sizes ...int) (list []method.Block) {
	at := 0
	for _, n := range sizes {
		b := method.Block{Cost: 1}
		for range n {
			b.Members = append(b.Members, at)
			at++
		}
		list = append(list, b)
	}
	return list
}

// indicators are n rows of centred indicators of the given numbers of categories, block by block, which sum to 0 in
// every row, and of other columns that depend on them.
func indicators(seed uint64, n, others int, categories ...int) (greedytest.Matrix, []method.Block) {
	r := rand.New(rand.NewPCG(seed, 7))
	sizes, d := slices.Clone(categories), others
	for _, c := range categories {
		d += c
	}
	x, at := greedytest.NewMatrix(n, d), 0
	noise := greedytest.RandomMatrix(seed, n, others, 0)
	for _, c := range categories {
		for i := range n {
			k := r.IntN(c)
			x.Col[at+k][i] = 1
			for o := range others {
				x.Col[d-others+o][i] += math.Sin(float64(3*k+o+c)) + 0.3*noise.Col[o][i]
			}
		}
		at += c
	}
	for range others {
		sizes = append(sizes, 1)
	}
	for _, col := range x.Col {
		mean := 0.0
		for _, v := range col {
			mean += v / float64(n)
		}
		for i := range col {
			col[i] -= mean
		}
	}
	return x, blocksBy(sizes...)
}

// blockTwin follows the definition: every candidate is tried by projecting all of the target on it.
type blockTwin struct {
	order []int
	score []float64
	error []float64
	gap   float64
}

// naiveBlocks selects up to k blocks of x to reconstruct x, or the sums of groups. A block that may not
// be chosen is passed over; perCost divides gains by costs.
func naiveBlocks(x greedytest.Matrix, groups []int, list []method.Block, k int, perCost bool, may func(chosen []int, i int) bool) blockTwin {
	e, b := x.Clone(), x.Clone()
	if groups != nil {
		b = greedytest.NewMatrix(x.N, target.GroupCount(groups))
		for i, j := range groups {
			for r, v := range x.Col[i] {
				b.Col[j][r] += v
			}
		}
	}
	total := 0.0
	for _, col := range x.Col {
		total += greedytest.DotProduct(col, col)
	}
	out := blockTwin{gap: 1}
	for len(out.order) < k {
		best, second, at := 0.0, 0.0, -1
		var basis [][]float64
		for i, g := range list {
			if slices.Contains(out.order, i) || may != nil && !may(out.order, i) {
				continue
			}
			q := orthonormal(e, x, g.Members)
			gain := 0.0
			for _, v := range q {
				for _, col := range b.Col {
					gain += math.Pow(greedytest.DotProduct(v, col), 2)
				}
			}
			value := gain
			if perCost {
				value /= g.Cost
			}
			if value > best*(1+engine.TieShare) {
				best, second, at, basis = value, best, i, q
			} else {
				second = max(second, value)
			}
		}
		if at < 0 {
			break
		}
		if second > 0 {
			out.gap = min(out.gap, (best-second)/best)
		}
		gain := 0.0
		for _, v := range basis {
			for _, col := range b.Col {
				gain += math.Pow(greedytest.DotProduct(v, col), 2)
			}
			e.ProjectOut(v)
			b.ProjectOut(v)
		}
		left := 0.0
		for _, col := range e.Col {
			left += greedytest.DotProduct(col, col)
		}
		out.order, out.score, out.error = append(out.order, at), append(out.score, gain), append(out.error, left/total)
	}
	return out
}

// orthonormal is a basis of the members' residuals, by Gram-Schmidt twice, the largest residuals first.
func orthonormal(e, x greedytest.Matrix, members []int) (basis [][]float64) {
	left := make([][]float64, len(members))
	for i, p := range members {
		left[i] = slices.Clone(e.Col[p])
	}
	for {
		best, most := -1, engine.ExhaustedShare
		for i, p := range members {
			if share := greedytest.DotProduct(left[i], left[i]) / greedytest.DotProduct(x.Col[p], x.Col[p]); share > most {
				best, most = i, share
			}
		}
		if best < 0 {
			return basis
		}
		q := slices.Clone(left[best])
		for range 2 {
			for _, v := range basis {
				greedytest.SubtractMultiple(q, greedytest.DotProduct(q, v), v)
			}
		}
		norm := math.Sqrt(greedytest.DotProduct(q, q))
		for i := range q {
			q[i] /= norm
		}
		basis = append(basis, q)
		for _, col := range left {
			greedytest.SubtractMultiple(col, greedytest.DotProduct(col, q), q)
		}
		clear(left[best])
	}
}

func TestBlocksEqualDefinition(t *testing.T) {
	catX, catBlocks := indicators(11, 90, 4, 3, 5, 2, 4)
	for _, c := range []struct {
		name string
		x    greedytest.Matrix
		list []method.Block
		k    int
	}{
		{"one block", greedytest.RandomMatrix(1, 20, 3, 0), blocksBy(3), 1},
		{"pairs", greedytest.RandomMatrix(2, 60, 16, 0), blocksBy(2, 2, 2, 2, 2, 2, 2, 2), 6},
		{"mixed sizes", greedytest.SmoothMatrix(3, 80, 20, 12, 0.8).AddNoise(7, 0.05), blocksBy(1, 5, 1, 3, 2, 1, 4, 3), 5},
		{"far from the origin", greedytest.RandomMatrix(4, 60, 15, 50), blocksBy(3, 3, 3, 3, 3), 4},
		{"wide", greedytest.RandomMatrix(5, 12, 30, 0), blocksBy(3, 3, 3, 3, 3, 3, 3, 3, 3, 3), 3},
		{"indicators, dependent", catX, catBlocks, 6},
	} {
		for _, partitions := range []int{0, 4} {
			var groups []int
			if partitions > 0 {
				if c.x.D < 8 {
					continue
				}
				groups = Partition(c.x.D, partitions, 3)
			}
			k := c.k
			if partitions > 0 {
				k = min(k, 2) // the target is of rank 4
			}
			want := naiveBlocks(c.x, groups, c.list, k, false, nil)
			for form, g := range c.x.GramForms() {
				opt := Options{K: k, Choice: method.Choice{Blocks: c.list}, Partitioned: partitions > 0, Groups: groups}
				r := must.Get(Select(t.Context(), g, opt))(t)
				if !slices.Equal(r.Blocks, want.order) {
					t.Errorf("%s, %s, %d partitions: blocks %v, want %v (gap %g)", c.name, form, partitions, r.Blocks, want.order, want.gap)
					continue
				}
				if !slices.Equal(r.Order, membersOf(c.list, r.Blocks, r.Order)) {
					t.Errorf("%s, %s: the columns %v are not those of blocks %v", c.name, form, r.Order, r.Blocks)
				}
				// The twin projects data, the engine works on G: squares, with the square of the condition in its
				// rounding, 1e8 at most by ExhaustedShare.
				for j := range r.Blocks {
					if math.Abs(r.Scores[j]/want.score[j]-1) > 1e-7 || math.Abs(r.Error[j]-want.error[j]) > 1e-12 {
						t.Errorf("%s, %s, %d partitions, turn %d: score %v, error %v; want %v, %v", c.name, form, partitions, j, r.Scores[j], r.Error[j], want.score[j], want.error[j])
					}
				}
			}
		}
	}
}

// membersOf is order if it has the members of the blocks one block after the other, each once; else nil.
func membersOf(list []method.Block, chosen, order []int) []int {
	at := 0
	for _, i := range chosen {
		n := len(list[i].Members)
		if at+n > len(order) {
			return nil
		}
		some := slices.Clone(order[at : at+n])
		slices.Sort(some)
		if !slices.Equal(some, list[i].Members) {
			return nil
		}
		at += n
	}
	if at != len(order) {
		return nil
	}
	return order
}

// Blocks of one are features: both engines find the same.
func TestBlocksOfOne(t *testing.T) {
	for name, x := range map[string]greedytest.Matrix{"random": greedytest.RandomMatrix(21, 50, 18, 0), "images": greedytest.SmoothMatrix(22, 70, 24, 10, 0.8).AddNoise(23, 0.02)} {
		for form, g := range x.GramForms() {
			for _, partitioned := range []bool{false, true} {
				opt := Options{K: 8, Partitioned: partitioned, Seed: 4}
				if partitioned {
					opt.Partitions = 9
				}
				want := must.Get(Select(t.Context(), g, opt))(t)
				opt.Blocks = blocksBy(slices.Repeat([]int{1}, x.D)...)
				got := must.Get(Select(t.Context(), g, opt))(t)
				if !slices.Equal(got.Blocks, want.Order) || !slices.Equal(got.Order, want.Order) {
					t.Errorf("%s, %s, partitioned %v: %v, want %v", name, form, partitioned, got.Blocks, want.Order)
				}
				for j := range want.Order {
					if math.Abs(got.Scores[j]/want.Scores[j]-1) > 1e-9 || math.Abs(got.Error[j]-want.Error[j]) > 1e-12 {
						t.Errorf("%s, %s, turn %d: %v, %v; want %v, %v", name, form, j, got.Scores[j], got.Error[j], want.Scores[j], want.Error[j])
					}
				}
				if !slices.Equal(got.Nearest, want.Nearest) {
					t.Errorf("%s, %s: nearest %v, want %v", name, form, got.Nearest, want.Nearest)
				}
			}
		}
	}
}

// A method that is asked for blocks of one chooses features, with the same bits.
func TestBlocksOfOneSameBits(t *testing.T) {
	x := greedytest.SmoothMatrix(31, 60, 20, 9, 0.8).AddNoise(32, 0.03)
	evidence := func(c method.Choice) *method.Evidence {
		e := &method.Evidence{K: 7, Keep: []int{4}, Choice: c, Threads: 2, Gram: &gram.Gram{}}
		e.Columns = make([]stream.Column, x.D)
		e.Gram.D, e.Gram.Sym = x.D, x.Gram()
		return e
	}
	rank := func(c method.Choice) *method.Ranking {
		bound := must.Get(Specs()[0].Bind(nil))(t)
		return must.Get(bound.Solver.Select(t.Context(), evidence(c)))(t)
	}
	want := rank(method.Choice{Forbid: []int{2}})
	got := rank(method.Choice{Blocks: blocksBy(slices.Repeat([]int{1}, x.D)...), Forbid: []int{2}})
	if !slices.Equal(got.Blocks, want.Order) {
		t.Errorf("blocks %v, want %v", got.Blocks, want.Order)
	}
	got.Blocks = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBlocksThreadsAndPermutation(t *testing.T) {
	x, list := indicators(41, 70, 6, 4, 3, 5)
	opt := Options{K: 5, Choice: method.Choice{Blocks: list}, Threads: 1}
	for form, g := range x.GramForms() {
		want := must.Get(Select(t.Context(), g, opt))(t)
		for _, threads := range []int{2, 3, 8} {
			opt.Threads = threads
			if got := must.Get(Select(t.Context(), g, opt))(t); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d threads: %+v, want %+v", form, threads, got, want)
			}
		}
	}
	want := must.Get(Select(t.Context(), gram.Full(x.Gram(), x.D), opt))(t)
	p := rand.New(rand.NewPCG(5, 5)).Perm(x.D)
	moved := make([]method.Block, len(list))
	for i, b := range list {
		moved[i].Cost = 1
		for _, j := range b.Members {
			moved[i].Members = append(moved[i].Members, slices.Index(p, j))
		}
		slices.Sort(moved[i].Members)
	}
	y := x.PermuteColumns(p)
	opt.Blocks = moved
	got := must.Get(Select(t.Context(), gram.Full(y.Gram(), y.D), opt))(t)
	if !slices.Equal(got.Blocks, want.Blocks) {
		t.Errorf("permuted: blocks %v, want %v", got.Blocks, want.Blocks)
	}
}

// All indicators of a category sum to 0: the last one adds nothing, and all are explained.
func TestBlocksDependent(t *testing.T) {
	x, list := indicators(51, 60, 0, 3, 4)
	r := must.Get(Select(t.Context(), gram.Full(x.Gram(), x.D), Options{K: 2, Choice: method.Choice{Blocks: list}}))(t)
	if len(r.Blocks) != 2 || greedytest.LastElement(r.Error) > 1e-12 {
		t.Errorf("blocks %v leave %v", r.Blocks, r.Error)
	}
	for j, share := range r.Explained {
		if share != 1 {
			t.Errorf("feature %d: %v explained", j, share)
		}
	}
	// A block that copies another has nothing to add.
	twice := greedytest.Matrix{N: x.N, D: 2 * x.D, Col: append(slices.Clone(x.Col), x.Clone().Col...)}
	opt := Options{K: 4, Choice: method.Choice{Blocks: blocksBy(3, 4, 3, 4)}, Variance: 1}
	if r := must.Get(Select(t.Context(), gram.Full(twice.Gram(), twice.D), opt))(t); len(r.Blocks) != 2 || r.Ties == nil {
		t.Errorf("of copies: blocks %v, ties %v", r.Blocks, r.Ties)
	}
}
