package greedy

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/outofcore"
	"github.com/ufs-stream/ufs-stream/greedy/internal/sketching"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/stream"
)

type (
	// Options sets how many features are chosen, and by which algorithm of the paper: see [selection.Options].
	Options = selection.Options
	// StreamOptions are Options for rows that are read several times: see [selection.StreamOptions].
	StreamOptions = selection.StreamOptions
	// Target is a matrix to be reconstructed from the chosen columns: see [selection.Target].
	Target = selection.Target
	// Result is a selection and its effect on every feature: see [selection.Result].
	Result = selection.Result
	// Tie is a turn at which other columns scored the same as the chosen one.
	Tie = selection.Tie
)

// Select chooses features from the d×d matrix G = XᵀX of the n×d data, which it only reads. For G in full it costs 2kd²
// + 2k²d flops and needs the memory given by [Bytes]. For a factor of r rows it costs r²d + 6krd flops, and needs the
// memory given by [FactorBytes]. Both forms lead to the same choices.
//
// It fails with a *stream.UsageError for options that do not fit d, and with a *stream.DataError if G is not finite.
func Select(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	return inmemory.SelectFeatures(ctx, g, opt)
}

// SelectTarget selects like Select, for any matrix B as target (see [Target]); opt must not be Partitioned. Algorithm 1
// is the case B = X. Algorithm 2 is the case in which each column of B is the sum of the columns of a group.
func SelectTarget(ctx context.Context, g *gram.Matrix, t Target, opt Options) (*Result, error) {
	return inmemory.SelectTarget(ctx, g, t, opt)
}

// SelectStream chooses the features that Select would choose from G of the standardized rows, without ever holding G.
// It holds d·k numbers, and uses the rest of Memory to save passes. One pass profiles the columns, and further passes
// compute f⁰, the initial values of the criterion (see StreamPasses). The other passes fetch columns of G, many at a
// time, for the features that a sketch of the rows predicts to be chosen soon. The choice does not depend on them.
//
// Sparse rows that fit into Memory are read once after the profile, and then stay in memory.
//
// Cost: n·d² flops for f⁰ from n rows of d features. For sparse rows it is 2·Σ m² flops, m being the number of entries
// of a row, and d² for the squares. Each candidate, i.e. each feature whose column is fetched, costs up to 6·n·d more.
// With Options.Partitioned it costs 2·n·d, and f⁰ costs 2·n·c·d for c groups. Each turn costs 2(k + candidates held)·d.
//
// The Result numbers columns like the returned Standardizer. SelectStream fails with a *stream.UsageError for options
// that do not fit, with a *stream.MemoryError if Memory is below StreamBytes, and with the source's errors.
func SelectStream(ctx context.Context, src stream.Source, opt StreamOptions) (*Result, *gram.Standardizer, error) {
	return outofcore.SelectStream(ctx, src, opt)
}

// SelectSketched chooses features by g, an estimate of the Gram matrix G in the form of a factor made by [gram.Sketch].
// If passes is 2 or more, passes over the rows of src also fetch exact columns of G for candidates: the 8 best features
// of every turn by the estimate. The selection is then the one that Select makes among the candidates, with exact
// scores, errors and shares. Further passes follow that selection turn by turn on the sketch, and fetch the columns of
// the features found there, until no new candidates appear. The pass that made the sketch counts as the first.
//
// Feature numbers in opt refer to g and std; opt.Profile is not used. Result.Estimate describes the error of the
// sketch. g.Held, the rows held out for measuring errors, is overwritten. Each pass costs as much as Select on a
// factor, and each candidate 2·n·d flops for n rows of d features. For memory, see [SketchedBytes].
//
// It fails with a *stream.UsageError for options that do not fit, and with the source's errors.
func SelectSketched(ctx context.Context, g *gram.Gram, src stream.Source, std *gram.Standardizer, passes int, opt StreamOptions) (*Result, error) {
	return sketching.SelectSketched(ctx, g, src, std, passes, opt)
}

// Explain computes how much of all d features the chosen features explain, in their order. The result is the same as
// from [Select] with the chosen features as Keep, but without Scores. As the order is given, the criterion of the
// choice is not computed. The cost is kd + k²d flops for k chosen features and G in full. If G is a factor of r rows,
// its columns cost 2krd flops more, and it is read once for every 32 chosen features. For memory, see [ExplainBytes].
func Explain(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*Result, error) {
	return inmemory.ExplainFeatures(ctx, g, chosen, threads)
}

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
