package greedy

import (
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/outofcore"
	"github.com/ufs-stream/ufs-stream/greedy/internal/sketching"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
)

// Bytes returns the memory that Select needs besides G, if G is a full matrix: see [FactorBytes] for a factor. k of d
// features are chosen. c is the number of groups for the paper's Algorithm 2 (see the package comment), 0 for Algorithm
// 1.
func Bytes(d, k, c int) int64 { return engine.GramBytes(d, k, c) }

// FactorBytes returns the memory that Select needs besides G, if G is a factor of `rank` rows, to choose k of d
// features. rows is the number of rows of the target's own factor U. The memory is for the dual matrix of the factor of
// G, for the target's K = LᵀL and its root L, H = LU being the target, for the vectors of all turns, and for a block of columns.
func FactorBytes(d, k, rank, rows int) int64 { return engine.FactorBytes(d, k, rank, rows) }

// StreamBytes returns the smallest StreamOptions.Memory that works for d features of which k are chosen. c is the
// number of groups for the paper's Algorithm 2, 0 for Algorithm 1. For sparse rows, entries is their total number of
// entries; for dense rows it is 0. More memory saves passes.
func StreamBytes(d, k, c int, entries, rows int64) int64 {
	return outofcore.StreamBytes(d, k, c, entries, rows)
}

// StreamPasses returns the number of passes over the rows that compute f⁰, the first values of the criterion, in the
// given bytes of memory, plus 1 for the profile. It is a lower bound of the passes of SelectStream. The choice itself
// needs two more passes for every few features: 100 features of COIL20, ORL and USPS needed 15, 7 and 17 passes in all
// with f⁰ in one pass (Algorithm 2: 14, 5 and 12). Sparse rows may stay in memory, and then one pass suffices.
func StreamPasses(d, k, c int, memory int64, sparse bool) (int, error) {
	return outofcore.StreamPasses(d, k, c, memory, sparse)
}

// SketchedBytes returns the memory that SelectSketched needs in addition to the sketch, to choose k of d features in at
// most the given number of passes. rows is the number of rows of the sketch.
func SketchedBytes(d, k, rows, passes int) int64 { return sketching.SketchedBytes(d, k, rows, passes) }

// ExplainBytes returns the memory that [Explain] needs in addition to G, to explain d features by k features. For a
// factor, rank is its number of rows; for G in full it is 0.
func ExplainBytes(d, k, rank int) int64 { return inmemory.ExplainBytes(d, k, rank) }

// DefaultPartitions returns the number of groups of d columns for Algorithm 2 of Farahat et al.: 1 % of d, at least 1.
func DefaultPartitions(d int) int { return selection.DefaultPartitions(d) }

// Partition puts d columns at random into c groups whose sizes differ by at most one: column i goes to the returned
// groups[i]. It depends on the arguments alone, so that every run and shard draws the same groups.
func Partition(d, c int, seed uint64) []int { return selection.Partition(d, c, seed) }
