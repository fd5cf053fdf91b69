package halves

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestShardsAreEven: the shards have about as many rows each, also among the rows that a sample
// with the same seed keeps, which have the lowest hashes of their positions.
func TestShardsAreEven(t *testing.T) {
	const n, seed = 200_000, 7
	for _, shards := range []int{4, 6, 8, 32} {
		all, sampled, of := make([]int, shards), make([]int, shards), 0
		for i := range int64(n) {
			h := ShardOf(seed, i, shards)
			all[h]++
			if splitmix.Hash(seed, uint64(i)) < math.MaxUint64/10 {
				sampled[h]++
				of++
			}
		}
		for _, c := range []struct {
			counts []int
			of     int
		}{{all, n}, {sampled, of}} {
			for h, got := range c.counts {
				want := float64(c.of) / float64(shards)
				if math.Abs(float64(got)-want) > 5*math.Sqrt(want) { // five standard deviations
					t.Errorf("shard %d of %d has %d rows of %d", h, shards, got, c.of)
				}
			}
		}
	}
	if ShardOf(1, 5, 8) == ShardOf(2, 5, 8) && ShardOf(1, 6, 8) == ShardOf(2, 6, 8) && ShardOf(1, 7, 8) == ShardOf(2, 7, 8) && ShardOf(1, 8, 8) == ShardOf(2, 8, 8) {
		t.Error("the seed does not matter")
	}
}

// TestChoose: halves come in complementary pairs, none twice, as many as asked for or there are.
func TestChoose(t *testing.T) {
	for _, c := range []struct{ shards, most, want int }{{4, 20, 6}, {6, 20, 20}, {8, 20, 20}, {8, 5, 5}, {8, 100, 70}, {32, 20, 20}} {
		got := ChooseHalves(c.shards, c.most, 3)
		if len(got) != c.want {
			t.Fatalf("%d shards: %d halves of %d", c.shards, len(got), c.want)
		}
		seen := make(map[string]bool)
		for i, half := range got {
			if len(half) != c.shards/2 || !slices.IsSorted(half) || seen[fmt.Sprint(half)] {
				t.Fatalf("%d shards: half %v after %v", c.shards, half, got[:i])
			}
			seen[fmt.Sprint(half)] = true
			if i%2 == 1 {
				both := slices.Sorted(slices.Values(slices.Concat(got[i-1], half)))
				if len(slices.Compact(both)) != c.shards {
					t.Errorf("%v and %v are no complements", got[i-1], half)
				}
			}
		}
		if !slices.EqualFunc(got, ChooseHalves(c.shards, c.most, 3), slices.Equal) {
			t.Error("the same seed draws others")
		}
	}
}

// TestFit: samples have the wanted size, come from as many rows as there are, and are enough.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		count      int
		size, rows int64
		want       Samples
	}{
		{5, 1000, 2000, Samples{8, 4, 2000}},
		{5, 1000, 3000, Samples{6, 2, 3000}},
		{5, 1000, 4000, Samples{8, 2, 4000}},
		{5, 1000, 1e9, Samples{8, 1, 8000}},
		{20, 1000, 1e9, Samples{20, 1, 20000}},
		{100, 1000, 2000, Samples{32, 16, 2000}},
	} {
		got, ok := FitSamples(c.count, c.size, c.rows)
		if !ok || got != c.want {
			t.Errorf("%d of %d from %d: %+v, want %+v", c.count, c.size, c.rows, got, c.want)
		}
		drawn := got.DrawShards(c.count, 1)
		distinct := make(map[string]bool)
		for _, set := range drawn {
			distinct[fmt.Sprint(set)] = len(set) == got.Each
		}
		if len(drawn) != c.count || len(distinct) != c.count {
			t.Errorf("drew %v", drawn)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, shards := range []int{-2, 2, 5, 34} {
		if err := CheckShards(shards); !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("%d shards: %v", shards, err)
		}
	}
	for _, shards := range []int{4, 8, 32} {
		if err := CheckShards(shards); err != nil {
			t.Errorf("%d shards are refused: %v", shards, err)
		}
	}
}
