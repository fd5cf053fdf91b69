package halves

import (
	"math/bits"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// DefaultShards is the default number of shards. It gives 35 pairs of complementary halves.
	DefaultShards = 8
	// LeastShards is the least number of shards. Two shards would have only one pair of halves, which hardly measures
	// stability.
	LeastShards = 4
	// MostShards is the largest number of shards. More shards have no benefit, because only some dozens of halves are
	// used, and each shard costs a matrix.
	MostShards = 32
	// MostSelected is the largest number of halves from which features are selected. With 20 halves the standard error
	// of a selection frequency is at most 0.11.
	MostSelected = 20
)

// CheckShards returns an error if the number of shards is odd or out of bounds.
func CheckShards(shards int) error {
	if shards < LeastShards || shards > MostShards || shards%2 != 0 {
		return stream.Usagef("{stability} %d: want an even number of hash shards from %d to %d; %d is the default", shards, LeastShards, MostShards, DefaultShards)
	}
	return nil
}

// shardSalt is hashed together with the seed. So the shard of a row is independent of other hashes of its position with
// the same seed, such as the hashes by which a sample is drawn.
const shardSalt = 0x73686172_64732031 // "shards 1"

// ShardOf returns the shard, from 0 to shards-1, of the row with the given global position.
func ShardOf(seed uint64, position int64, shards int) int {
	high, _ := bits.Mul64(splitmix.Hash(splitmix.Hash(seed, shardSalt), uint64(position)), uint64(shards))
	return int(high)
}

// ChooseHalves draws at most limit distinct halves of the shards. A half is given as an ascending list of shards. Each
// half is followed by its complement, except a last half if the number is odd.
func ChooseHalves(shards, limit int, seed uint64) [][]int {
	r := rand.New(rand.NewPCG(seed, shardSalt))
	want := min((limit+1)/2, PairCount(shards))
	all := uint32(1)<<shards - 1 // correct also for 32 shards
	seen := make(map[uint32]bool, want)
	var chosen [][]int
	for len(seen) < want {
		var half uint32
		for _, h := range r.Perm(shards)[:shards/2] {
			half |= 1 << h
		}
		pair := half // a half and its complement are one pair, identified by the half with shard 0
		if half&1 == 0 {
			pair = all &^ half
		}
		if !seen[pair] {
			seen[pair] = true
			chosen = append(chosen, listShardsInSet(half, shards), listShardsInSet(all&^half, shards))
		}
	}
	return chosen[:min(limit, len(chosen))]
}

// PairCount returns the number of ways to divide the shards into two halves.
func PairCount(shards int) int { return countSubsets(shards, shards/2) / 2 }

// Samples describes samples of rows, each of which consists of whole shards.
type Samples struct {
	Shards int   // number of shards into which Rows are divided
	Each   int   // number of shards in a sample
	Rows   int64 // number of rows of all shards together, at most the rows of the table
}

// FitSamples returns the Samples from which count different samples of `size` rows each can be drawn, such that two
// samples have as few rows in common as possible. rows is the number of rows of the table, at least twice size. ok is
// false if no number of shards permits count samples.
func FitSamples(count int, size, rows int64) (best Samples, ok bool) {
	for shards := LeastShards; shards <= min(max(DefaultShards, count), MostShards); shards++ {
		for each := 1; each <= shards/2; each++ {
			s := Samples{Shards: shards, Each: each, Rows: size * int64(shards) / int64(each)}
			// If two numbers of shards give equally large overlaps, more shards permit more different samples.
			if s.Rows <= rows && countSubsets(shards, each) >= count && s.Rows >= best.Rows {
				best, ok = s, true
			}
		}
	}
	return best, ok
}

// DrawShards draws count different samples, and returns the shards of each.
func (s Samples) DrawShards(count int, seed uint64) [][]int {
	if 2*s.Each == s.Shards {
		return ChooseHalves(s.Shards, count, seed)
	}
	r := rand.New(rand.NewPCG(seed, shardSalt))
	seen := make(map[uint32]bool, count)
	var samples [][]int
	for len(samples) < min(count, countSubsets(s.Shards, s.Each)) {
		var set uint32
		for _, h := range r.Perm(s.Shards)[:s.Each] {
			set |= 1 << h
		}
		if !seen[set] {
			seen[set] = true
			samples = append(samples, listShardsInSet(set, s.Shards))
		}
	}
	return samples
}

func countSubsets(shards, size int) int {
	n := 1
	for i := 1; i <= size; i++ {
		n = n * (shards - size + i) / i
	}
	return n
}

func listShardsInSet(set uint32, shardCount int) []int {
	var list []int
	for h := range shardCount {
		if set>>h&1 == 1 {
			list = append(list, h)
		}
	}
	return list
}
