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
	Least = 4
	Most  = 32 // see Least
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
	all := uint32(1)<<shards - 1 // of 32 too
	seen := make(map[uint32]bool, want)
	var chosen [][]int
	for len(seen) < want {
		var half uint32
		for _, h := range r.Perm(shards)[:shards/2] {
			half |= 1 << h
		}
		pair := half // whichever of the two has shard 0 stands for both
		if half&1 == 0 {
			pair = all &^ half
		}
		if !seen[pair] {
			seen[pair] = true
			chosen = append(chosen, members(half, shards), members(all&^half, shards))
		}
	}
	return chosen[:min(most, len(chosen))]
}

// Pairs is the number of ways to cut so many shards into two halves.
func Pairs(shards int) int { return subsets(shards, shards/2) / 2 }

// Samples are samples of the rows that are made of whole shards.
type Samples struct {
	Shards int   // to cut Rows into
	Each   int   // shards in a sample
	Rows   int64 // to read, at most those of the table
}

// Fit finds the Samples for count samples of size rows each, of a table of so many rows, at least
// twice size. They have as few rows in common as shards allow. false where no number of shards makes
// enough of them.
func Fit(count int, size, rows int64) (best Samples, ok bool) {
	for shards := Least; shards <= min(max(Default, count), Most); shards++ {
		for each := 1; each <= shards/2; each++ {
			s := Samples{Shards: shards, Each: each, Rows: size * int64(shards) / int64(each)}
			// Of two that share as much, more shards make samples that differ in more ways.
			if s.Rows <= rows && subsets(shards, each) >= count && s.Rows >= best.Rows {
				best, ok = s, true
			}
		}
	}
	return best, ok
}

// Draw draws the shards of count samples, no two of the same.
func (s Samples) Draw(count int, seed uint64) [][]int {
	if 2*s.Each == s.Shards {
		return Choose(s.Shards, count, seed)
	}
	r := rand.New(rand.NewPCG(seed, salt))
	seen := make(map[uint32]bool, count)
	var drawn [][]int
	for len(drawn) < min(count, subsets(s.Shards, s.Each)) {
		var set uint32
		for _, h := range r.Perm(s.Shards)[:s.Each] {
			set |= 1 << h
		}
		if !seen[set] {
			seen[set] = true
			drawn = append(drawn, members(set, s.Shards))
		}
	}
	return drawn
}

// subsets is the number of ways to take some of so many shards.
func subsets(shards, some int) int {
	n := 1
	for i := 1; i <= some; i++ {
		n = n * (shards - some + i) / i
	}
	return n
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
