package halves

import (
	"math/bits"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// DefaultShards is the default number of shards, which have 35 pairs of halves.
	DefaultShards = 8
	// LeastShards and MostShards bound the number of shards. Two shards have one pair of halves, whose agreement is hardly
	// a measure. More than 32 have no benefit, because only some dozens of halves are used, and each shard costs a matrix.
	LeastShards = 4
	// MostShards is the upper bound, see LeastShards.
	MostShards = 32
	// MostSelected is the largest number of halves from which features are selected. With 20 halves the standard error of
	// a selection frequency is at most 0.11.
	MostSelected = 20
)

// CheckShards returns an error if the number of shards is odd or out of bounds.
func CheckShards(shards int) error {
	if shards < LeastShards || shards > MostShards || shards%2 != 0 {
		return stream.Usagef("{stability} %d: want an even number of hash shards from %d to %d; %d is the default", shards, LeastShards, MostShards, DefaultShards)
	}
	return nil
}

// salt makes the shards independent of all other hashes of positions with the same seed, such as the hashes of samples
// of rows, which contain the rows with the lowest hashes.
const salt = 0x73686172_64732031 // "shards 1"

// ShardOf returns the shard of the row at a global position, from 0 to shards-1.
func ShardOf(seed uint64, position int64, shards int) int {
	high, _ := bits.Mul64(splitmix.Hash(splitmix.Hash(seed, salt), uint64(position)), uint64(shards))
	return int(high)
}

// ChooseHalves draws distinct halves of the shards, at most as many as the parameter most, each as an ascending list of
// its shards. A half is followed by its complement, except the last half if the number is odd.
func ChooseHalves(shards, most int, seed uint64) [][]int {
	r := rand.New(rand.NewPCG(seed, salt))
	want := min((most+1)/2, PairCount(shards))
	all := uint32(1)<<shards - 1 // correct also for 32 shards
	seen := make(map[uint32]bool, want)
	var chosen [][]int
	for len(seen) < want {
		var half uint32
		for _, h := range r.Perm(shards)[:shards/2] {
			half |= 1 << h
		}
		pair := half // identify the pair by its half with shard 0
		if half&1 == 0 {
			pair = all &^ half
		}
		if !seen[pair] {
			seen[pair] = true
			chosen = append(chosen, membersOfSet(half, shards), membersOfSet(all&^half, shards))
		}
	}
	return chosen[:min(most, len(chosen))]
}

// PairCount returns the number of ways to divide the shards into two halves.
func PairCount(shards int) int { return subsetCount(shards, shards/2) / 2 }

// Samples describes samples of the rows that consist of whole shards.
type Samples struct {
	Shards int   // number of shards into which Rows are divided
	Each   int   // number of shards in a sample
	Rows   int64 // number of rows to read, at most all rows of the table
}

// FitSamples finds the Samples for count samples of size rows each with as few common rows as possible. The table has
// rows rows, which must be at least twice size. ok is false if no number of shards allows count samples.
func FitSamples(count int, size, rows int64) (best Samples, ok bool) {
	for shards := LeastShards; shards <= min(max(DefaultShards, count), MostShards); shards++ {
		for each := 1; each <= shards/2; each++ {
			s := Samples{Shards: shards, Each: each, Rows: size * int64(shards) / int64(each)}
			// With equal overlap, more shards allow more different samples.
			if s.Rows <= rows && subsetCount(shards, each) >= count && s.Rows >= best.Rows {
				best, ok = s, true
			}
		}
	}
	return best, ok
}

// DrawShards returns the shards of count different samples.
func (s Samples) DrawShards(count int, seed uint64) [][]int {
	if 2*s.Each == s.Shards {
		return ChooseHalves(s.Shards, count, seed)
	}
	r := rand.New(rand.NewPCG(seed, salt))
	seen := make(map[uint32]bool, count)
	var samples [][]int
	for len(samples) < min(count, subsetCount(s.Shards, s.Each)) {
		var set uint32
		for _, h := range r.Perm(s.Shards)[:s.Each] {
			set |= 1 << h
		}
		if !seen[set] {
			seen[set] = true
			samples = append(samples, membersOfSet(set, s.Shards))
		}
	}
	return samples
}

func subsetCount(shards, some int) int {
	n := 1
	for i := 1; i <= some; i++ {
		n = n * (shards - some + i) / i
	}
	return n
}

func membersOfSet(set uint32, shards int) []int {
	var list []int
	for h := range shards {
		if set>>h&1 == 1 {
			list = append(list, h)
		}
	}
	return list
}
