package greedy

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// choices are restrictions of the choice among blocks of d features.
func choices(d int) map[string]Options {
	var list, priced []method.Block
	for from := 0; from < d; {
		n := min(1+len(list)*5%4, d-from)
		b := method.Block{Cost: float64(n)}
		for j := range n {
			b.Members = append(b.Members, from+j)
		}
		list, from = append(list, b), from+n
		b.Cost = float64(1 + len(list)*7%5)
		priced = append(priced, b)
	}
	even := slices.Clone(list)
	sets := make([]int, len(list))
	for i := range even {
		even[i].Cost, sets[i] = 1, i%3-1
	}
	return map[string]Options{
		"blocks": {K: 6, Choice: method.Choice{Blocks: even}},
		"all":    {K: len(even), Keep: []int{2}, Choice: method.Choice{Blocks: even}},
		"gate":   {K: 4, Keep: []int{3}, Choice: method.Choice{Blocks: even, Forbid: []int{1, 5}, Most: 2, Sets: sets}},
		"costs":  {K: 5, Choice: method.Choice{Blocks: priced}},
		"budget": {K: len(priced), Choice: method.Choice{Blocks: priced, Budget: 9}},
	}
}

// sameBlocks wants the blocks and numbers of want, up to the rounding of two ways to one G.
func sameBlocks(t *testing.T, what string, got, want *Result) {
	t.Helper()
	if !slices.Equal(got.Blocks, want.Blocks) || !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Layers, want.Layers) || got.Exhausted != want.Exhausted {
		t.Fatalf("%s: blocks %v in layers %v, want %v in %v", what, got.Blocks, got.Layers, want.Blocks, want.Layers)
	}
	for j := range want.Blocks {
		if math.Abs(got.Scores[j]-want.Scores[j]) > 1e-7*want.Scores[j] || math.Abs(got.Error[j]-want.Error[j]) > 1e-9 {
			t.Errorf("%s, turn %d: score %v, error %v; want %v, %v", what, j, got.Scores[j], got.Error[j], want.Scores[j], want.Error[j])
		}
	}
	for i := range want.Explained {
		if math.Abs(got.Explained[i]-want.Explained[i]) > 1e-9 || got.Nearest[i] != want.Nearest[i] {
			t.Errorf("%s, feature %d: %v by %d, want %v by %d", what, i, got.Explained[i], got.Nearest[i], want.Explained[i], want.Nearest[i])
		}
	}
}

// TestBlocksFromRows: for sums of features, blocks chosen in passes over rows are the same as with G in memory, for
// any rows, memory and restriction of the choice, and to the bit for any number of workers.
func TestBlocksFromRows(t *testing.T) {
	images := smooth(61, 150, 40, 25, 0.85).noisy(62, 0.05)
	for _, c := range []struct {
		name   string
		x      matrix
		weight []float64
		sparse bool
	}{
		{"images", images, nil, false},
		{"weights", images, weights(150), false},
		{"missing", images.holed(0.1), nil, false},
		{"sparse", counts(63, 200, 40), weights(200), true},
		{"few rows", random(64, 9, 40, 1), nil, false},
	} {
		src := serve(c.x, 32)
		src.Weight, src.Sparse = c.weight, c.sparse
		a := src.standardized(t, gram.ScaleStandard, gram.FillMean)
		for name, opt := range choices(a.d) {
			opt.Partitioned, opt.Partitions, opt.Seed = true, 6, 3
			want := mustSelect(t, a, opt)
			features := opt.Features(opt.K)
			least := StreamBytes(a.d, features, 6, 0, 0) + streamedBlocksBytes(a.d, 6, opt.Largest(), 1)
			var first *Result
			for _, threads := range []int{1, 3} {
				for _, memory := range []int64{least, least * 5 / 4, 1 << 30} {
					if opt.Threads = threads; threads > 1 {
						memory += streamedBlocksBytes(a.d, 6, opt.Largest(), 3)
					}
					src.Passes = 0
					got := mustStream(t, src, StreamOptions{Options: opt, Scale: gram.ScaleStandard, Memory: memory})
					if got.Passes != src.Passes || got.Passes > 2+2*features+maxBlockStartPasses {
						t.Errorf("%s, %s: %d passes reported, %d made, for %d features", c.name, name, got.Passes, src.Passes, features)
					}
					sameBlocks(t, c.name+", "+name, got, want)
					if got.Passes = 0; first == nil {
						first = got
					} else if !reflect.DeepEqual(got, first) {
						t.Errorf("%s, %s: memory %d or %d threads change the result", c.name, name, memory, threads)
					}
				}
			}
		}
	}
}

// TestBlocksFromRowsAim: blocks for a target of the graph are chosen without G as with it, and a byte less than the
// plan has is an error.
func TestBlocksFromRowsAim(t *testing.T) {
	g := newGraphed(90, 24, 20, 7)
	x := newMatrix(90, 24)
	for j := range x.col {
		mat.Col(x.col[j], j, g.x)
	}
	src, team := serve(x, 16), kernel.NewTeam(2)
	std := rowstest.Standardizer(t, src, gram.ScaleCenter, gram.FillMean)
	absent := *g.graph
	absent.G = gram.Full(nil, 24)
	for name, opt := range choices(24) {
		opt.Threads = 2
		build := func(of *anchor.Graph) *graphTarget { return must.Get(smoothTarget(team, of, 2))(t) }
		want := must.Get(selectTarget(t.Context(), g.graph.G, build(g.graph).target, opt))(t)
		height := build(&absent).height
		least := targetStreamBytes(24, opt.Features(opt.K), height, 0, 0) + streamedBlocksBytes(24, height, opt.Largest(), 2)
		for _, memory := range []int64{least, 1 << 30} {
			got := must.Get(selectTargetStream(t.Context(), src, std, build(&absent).target, StreamOptions{Options: opt, Memory: memory}))(t)
			sameBlocks(t, fmt.Sprintf("%s in %d bytes", name, memory), got, want)
		}
		_, err := selectTargetStream(t.Context(), src, std, build(&absent).target, StreamOptions{Options: opt, Memory: least - 1})
		if tight := (*stream.MemoryError)(nil); !errors.As(err, &tight) || tight.Need != least {
			t.Errorf("%s: a byte less: %v", name, err)
		}
	}
}
