package greedy

import (
	"context"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/outofcore"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// store is a checkpoint in memory that is due at one in `every` calls.
type store struct {
	saved map[string]stored
	every int
	asked int
}

type stored struct {
	marks   map[string]string
	numbers [][]float64
}

func newStore(every int) *store { return &store{saved: make(map[string]stored), every: every} }

func (s *store) Due() bool {
	s.asked++
	return s.asked%s.every == 0
}

func (s *store) Save(_ context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	copied := stored{marks: maps.Clone(marks)}
	for _, x := range numbers {
		copied.numbers = append(copied.numbers, slices.Clone(x))
	}
	s.saved[name] = copied
	return nil
}

func (s *store) Append(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	return s.Save(ctx, name, marks, numbers...)
}

func (s *store) Load(_ context.Context, name string, numbers ...[]float64) (map[string]string, bool, error) {
	there, ok := s.saved[name]
	if !ok {
		return nil, false, nil
	}
	if len(there.numbers) != len(numbers) {
		return nil, false, errors.New("another number of sections")
	}
	for i, x := range there.numbers {
		if len(x) != len(numbers[i]) {
			return nil, false, errors.New("sections of other lengths")
		}
		copy(numbers[i], x)
	}
	return there.marks, true, nil
}

func (s *store) Drop(name string) error {
	delete(s.saved, name)
	return nil
}

// choosing chooses from rows; begin is called before the passes that a checkpoint, which may be nil, is of.
type choosing func(ctx context.Context, src *greedytest.Source, k *store, begin func()) (*Result, error)

// TestGoesOn: a selection from rows that is broken off at any block of any pass, by an interruption or by a kill,
// and goes on from its checkpoint, ends in the same bits as one without a break, and makes no finished pass again.
func TestGoesOn(t *testing.T) {
	images := greedytest.SmoothMatrix(30, 90, 40, 25, 0.85).AddNoise(31, 0.05)
	words := greedytest.CountMatrix(36, 90, 40)
	ordinary := func(opt StreamOptions) choosing {
		return func(ctx context.Context, src *greedytest.Source, k *store, begin func()) (*Result, error) {
			opt := opt
			if opt.Scale = gram.ScaleStandard; k != nil {
				opt.Checkpoint = k
			}
			opt.Profile = gram.NewProfile(src.D)
			must.Do(t, stream.Fold(context.Background(), src, stream.FoldOptions{}, opt.Profile))
			if opt.Memory > 0 && src.Sparse {
				opt.Profile.Entries = math.MaxInt32 // more than fit
				opt.Memory = StreamBytes(40, 8, 0, math.MaxInt32, 90)
			}
			begin()
			r, _, err := SelectStream(ctx, src, opt)
			return r, err
		}
	}
	least := StreamBytes(40, 8, 0, 0, 0)
	grouped := Options{K: 6, Partitioned: true, Partitions: 4, Threads: 1, Choice: greedytest.BlockChoices(40)["blocks"].Choice}
	for _, c := range []struct {
		name   string
		src    func() *greedytest.Source
		choose choosing
	}{
		{"dense", func() *greedytest.Source { return greedytest.NewSource(images, 16) }, ordinary(StreamOptions{Options: Options{K: 8}, Memory: least})},
		{"layers", func() *greedytest.Source { return greedytest.NewSource(greedytest.RandomMatrix(35, 6, 40, 1), 2) }, ordinary(StreamOptions{Options: Options{K: 8}, Memory: least})},
		{"sums", func() *greedytest.Source { return greedytest.NewSource(images, 16) }, ordinary(StreamOptions{Options: Options{K: 8, Partitioned: true, Partitions: 4}, Memory: StreamBytes(40, 8, 4, 0, 0)})},
		{"sparse", func() *greedytest.Source {
			s := greedytest.NewSource(words, 16)
			s.Sparse, s.Weight = true, greedytest.RowWeights(90)
			return s
		}, ordinary(StreamOptions{Options: Options{K: 8}, Memory: least})},
		{"rows in memory", func() *greedytest.Source {
			s := greedytest.NewSource(words, 16)
			s.Sparse = true
			return s
		}, ordinary(StreamOptions{Options: Options{K: 8}})},
		{"blocks", func() *greedytest.Source { return greedytest.NewSource(images, 16) }, ordinary(StreamOptions{
			Options: grouped, Memory: StreamBytes(40, grouped.Features(grouped.K), 4, 0, 0) + outofcore.BlocksBytes(40, 4, grouped.Largest(), 1),
		})},
		{"sketched", func() *greedytest.Source {
			return greedytest.NewSource(greedytest.SmoothMatrix(50, 300, 400, 80, 0.95).AddNoise(51, 0.3), 150)
		}, func(ctx context.Context, src *greedytest.Source, k *store, begin func()) (*Result, error) {
			opt := StreamOptions{Scale: gram.ScaleStandard, Options: Options{K: 8, Threads: 2}}
			if k != nil {
				opt.Checkpoint = k
			}
			g, std := src.SketchGram(t, 64, opt.Scale, opt.Fill), rowstest.Standardizer(t, src, opt.Scale, opt.Fill)
			begin()
			return SelectSketched(ctx, g, src, std, 4, opt)
		}},
		{"aimed", func() *greedytest.Source { return greedytest.NewSource(images, 16) }, aimedAt(t, images)},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := c.src()
			want := must.Get(c.choose(t.Context(), whole, nil, func() { whole.Passes = 0 }))(t)
			passes := whole.Passes
			blocks := passes * ((whole.N + whole.Heights[0] - 1) / whole.Heights[0])
			if passes < 2 && c.name != "rows in memory" {
				t.Fatalf("%d passes: the test does not test", passes)
			}
			saves := []int{1, 3, 1 << 30}
			if !long.IsOn() {
				saves = saves[1:2]
			}
			for _, every := range saves {
				for at := 1; at <= blocks; at += 1 + at/7 {
					src, k := c.src(), newStore(every)
					ctx, cancel := context.WithCancel(t.Context())
					left, dies := at, at%3 == 0 // a kill saves nothing
					var saved map[string]stored
					_, err := c.choose(ctx, src, k, func() {
						src.Block = func(int, int) error {
							if left--; left == 0 {
								saved = maps.Clone(k.saved)
								cancel()
							}
							return nil
						}
					})
					if !errors.Is(err, context.Canceled) {
						t.Fatalf("a cancelled run: got error %v, want context.Canceled", err)
					}
					if dies {
						k.saved = saved
					}
					finished := 0
					for name := range k.saved {
						if name[:4] == "pass" {
							finished++
						}
					}
					src.Block = nil
					got := must.Get(c.choose(t.Context(), src, k, func() { src.Passes = 0 }))(t)
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("broken off at block %d, saved every %d: another result\n%+v\n%+v", at, every, got, want)
					}
					if src.Passes != passes-finished {
						t.Fatalf("broken off at block %d: %d passes of %d were there, and %d are made", at, finished, passes, src.Passes)
					}
					for name := range k.saved {
						if name[:4] != "pass" {
							t.Errorf("%s is left", name)
						}
					}
				}
			}
		})
	}
}

// aimedAt chooses for a target of a graph, whose Gram matrix is not there.
func aimedAt(t *testing.T, x greedytest.Matrix) choosing {
	g := greedytest.NewGraphData(x.N, x.D, 20, 7)
	for j := range x.Col {
		mat.Col(x.Col[j], j, g.X)
	}
	absent := *g.Graph
	absent.G = gram.Full(nil, x.D)
	return func(ctx context.Context, src *greedytest.Source, k *store, begin func()) (*Result, error) {
		opt := StreamOptions{Options: Options{K: 8, Threads: 2}, Memory: outofcore.TargetBytes(x.D, 8, 20, 0, 0)}
		if k != nil {
			opt.Checkpoint = k
		}
		std := rowstest.Standardizer(t, src, gram.ScaleCenter, gram.FillMean)
		target := must.Get(target.NewSmooth(kernel.NewTeam(2), &absent, 2))(t)
		begin()
		return outofcore.SelectTarget(ctx, src, std, target.Matrix, opt)
	}
}
