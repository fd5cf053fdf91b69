package halves

import (
	"math/bits"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// Default is the number of shards where nothing is said: 35 pairs of halves.
	Default = 8
	// Least and Most bound the number of shards. Two make one pair of halves, whose
	// agreement is next to no measure; beyond 32 there is nothing to gain, as no more than
	// some dozens of halves are ever looked at, and every shard costs a matrix.
	Least, Most = 4, 32
	// Looked is the number of halves that are selected from at most: the standard error of
	// a selection frequency is then at most 0.11.
	Looked = 20
)

// Check refuses a number of shards that does not make halves.
func Check(shards int) error {
	if shards < Least || shards > Most || shards%2 != 0 {
		return stream.Usagef("{stability} %d: want an even number of hash shards from %d to %d; %d is the default", shards, Least, Most, Default)
	}
	return nil
}

// salt keeps the shards independent of everything else that is drawn by hashes of positions
// with the same seed: samples of rows are those with the lowest of them.
const salt = 0x73686172_64732031 // "shards 1"

// Of is the shard of the row at a global position, from 0 to shards-1.
func Of(seed uint64, position int64, shards int) int {
	high, _ := bits.Mul64(splitmix.Hash(splitmix.Hash(seed, salt), uint64(position)), uint64(shards))
	return int(high)
}

// Choose draws up to most halves of so many shards without repeating one, each as the shards
// that it has, ascending. A half is followed by its complement, unless most is odd: then the last
// one is alone.
func Choose(shards, most int, seed uint64) [][]int {
	r := rand.New(rand.NewPCG(seed, salt))
	want := min((most+1)/2, Pairs(shards))
	seen := make(map[uint32]bool, want)
	var chosen [][]int
	for len(seen) < want {
		var half uint32
		for _, h := range r.Perm(shards)[:shards/2] {
			half |= 1 << h
		}
		pair := half // whichever of the two has shard 0 stands for both
		if half&1 == 0 {
			pair = ^half
		}
		if !seen[pair] {
			seen[pair] = true
			chosen = append(chosen, members(half, shards), members(^half, shards))
		}
	}
	return chosen[:min(most, len(chosen))]
}

// Pairs is the number of ways to cut so many shards into two halves.
func Pairs(shards int) int {
	pairs := 1
	for i := 1; i < shards/2; i++ { // binomial coefficients of shards-1, which are whole
		pairs = pairs * (shards - i) / i
	}
	return pairs
}

func members(set uint32, shards int) []int {
	var list []int
	for h := range shards {
		if set>>h&1 == 1 {
			list = append(list, h)
		}
	}
	return list
}
