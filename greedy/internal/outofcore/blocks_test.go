package outofcore

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestBlocksFromRows: for sums of features, blocks chosen in passes over rows are the same as with G in memory, for
// any rows, memory and restriction of the choice, and to the bit for any number of workers.
func TestBlocksFromRows(t *testing.T) {
	images := greedytest.SmoothMatrix(61, 150, 40, 25, 0.85).AddNoise(62, 0.05)
	for _, c := range []struct {
		name   string
		x      greedytest.Matrix
		weight []float64
		sparse bool
	}{
		{"images", images, nil, false},
		{"weights", images, greedytest.RowWeights(150), false},
		{"missing", images.WithHoles(0.1), nil, false},
		{"sparse", greedytest.CountMatrix(63, 200, 40), greedytest.RowWeights(200), true},
		{"few rows", greedytest.RandomMatrix(64, 9, 40, 1), nil, false},
	} {
		src := greedytest.NewSource(c.x, 32)
		src.Weight, src.Sparse = c.weight, c.sparse
		a := src.StandardizedMatrix(t, gram.ScaleStandard, gram.FillMean)
		for name, opt := range greedytest.BlockChoices(a.D) {
			opt.Partitioned, opt.Partitions, opt.Seed = true, 6, 3
			want := inMemory(t, a, opt)
			features := opt.Features(opt.K)
			least := StreamBytes(a.D, features, 6, 0, 0) + BlocksBytes(a.D, 6, opt.Largest(), 1)
			var first *selection.Result
			for _, threads := range []int{1, 3} {
				for _, memory := range []int64{least, least * 5 / 4, 1 << 30} {
					if opt.Threads = threads; threads > 1 {
						memory += BlocksBytes(a.D, 6, opt.Largest(), 3)
					}
					src.Passes = 0
					got := mustStream(t, src, selection.StreamOptions{Options: opt, Scale: gram.ScaleStandard, Memory: memory})
					if got.Passes != src.Passes || got.Passes > 2+2*features+MaxBlockStartPasses {
						t.Errorf("%s, %s: %d passes reported, %d made, for %d features", c.name, name, got.Passes, src.Passes, features)
					}
					greedytest.CompareBlocks(t, c.name+", "+name, got, want)
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
	g := greedytest.NewGraphData(90, 24, 20, 7)
	x := greedytest.NewMatrix(90, 24)
	for j := range x.Col {
		mat.Col(x.Col[j], j, g.X)
	}
	src, team := greedytest.NewSource(x, 16), kernel.NewTeam(2)
	std := rowstest.Standardizer(t, src, gram.ScaleCenter, gram.FillMean)
	absent := *g.Graph
	absent.G = gram.Full(nil, 24)
	for name, opt := range greedytest.BlockChoices(24) {
		opt.Threads = 2
		build := func(of *anchor.Graph) *target.Graph { return must.Get(target.NewSmooth(team, of, 2))(t) }
		want := must.Get(inmemory.SelectMatrix(t.Context(), g.Graph.G, build(g.Graph).Matrix, opt))(t)
		height := build(&absent).Height
		least := TargetBytes(24, opt.Features(opt.K), height, 0, 0) + BlocksBytes(24, height, opt.Largest(), 2)
		for _, memory := range []int64{least, 1 << 30} {
			got := must.Get(SelectTarget(t.Context(), src, std, build(&absent).Matrix, selection.StreamOptions{Options: opt, Memory: memory}))(t)
			greedytest.CompareBlocks(t, fmt.Sprintf("%s in %d bytes", name, memory), got, want)
		}
		_, err := SelectTarget(t.Context(), src, std, build(&absent).Matrix, selection.StreamOptions{Options: opt, Memory: least - 1})
		if tight := (*stream.MemoryError)(nil); !errors.As(err, &tight) || tight.Need != least {
			t.Errorf("%s: a byte less: %v", name, err)
		}
	}
}
