package outofcore

import (
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/triangle"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// minBuckets and maxBuckets bound the number of buckets of the sketch. minGramRows is the least number of rows of G
	// that are held at a time while f⁰ is computed.
	minBuckets, maxBuckets = 32, 512
	minGramRows            = 16
	// A batch, i.e. the candidates fetched by one pass, has 1/8 of the features if memory allows. Choosing 100 features of
	// COIL20 took 26, 20 and 14 passes with 1/16, 1/8 and 1/4 of the features, when the sketch alone filled the batch. A
	// larger share would save passes, but each candidate costs 6·n·d flops for n rows. For large d, a batch of 256 keeps
	// the flops of a pass far below the flops of f⁰.
	batchShare, minBatch, maxBatch = 8, 4, 256
	// batchesKept is the number of batches of candidates that are held, because a candidate that was fetched too
	// early is often needed a few batches later.
	batchesKept = 4
	// If all features of a dense block need more than 1/blockShare of the free memory, only scan.StripFeatures of them are
	// standardized at a time. Under the smallest memory limit for the data set basehock, all features of a block needed 10
	// of 21 free MiB: the selector made 90 passes without strips and 38 with strips. Each product standardizes the strips
	// again, so that with 200 MiB strips took an eighth more time and saved no pass.
	blockShare = 4
)

// streamPlan describes how a selection from rows uses its memory.
type streamPlan struct {
	buckets           int   // buckets of the sketch
	batch             int   // candidates fetched by a pass
	slots             int   // largest number of candidates held
	inMemory          bool  // sparse rows stay in memory, without a sketch
	strip             int   // features of a dense block that are standardized at a time; d for all
	startGramFloats   int64 // float64s for consecutive rows of G while f⁰ is computed
	refreshGramFloats int64 // float64s for consecutive rows of G while f is recomputed and candidates are held
}

// StreamBytes implements greedy.StreamBytes: it returns the smallest StreamOptions.Memory that works.
func StreamBytes(d, k, c int, entries, rows int64) int64 {
	return fixedBytes(d, k, c, entries > 0) + minWorkBytes(d, c, entries, rows)
}

// minWorkBytes returns the least memory that must be left after the fixed part, either for a sketch or for sparse rows
// in memory, which need no sketch.
func minWorkBytes(d, c int, entries, rows int64) int64 {
	sketched := minSketchBytes(d, c)
	if entries > 0 {
		return min(sketched, inMemoryBytes(d, c, 1, entries, rows))
	}
	return sketched
}

func minSketchBytes(features, groups int) int64 {
	return 8 * (int64(minBuckets)*int64(features) + minBatch*numbersPerCandidate(features, groups) + minGramRows*int64(features))
}

// StreamPasses implements greedy.StreamPasses: it returns a lower bound of the number of passes over the rows.
func StreamPasses(d, k, c int, memory int64, sparse bool) (int, error) {
	if sparse {
		return 2, nil
	}
	plan, err := planStream(d, k, c, memory, 0, 0)
	if err != nil {
		return 0, err
	}
	if c > 0 {
		return 2, nil
	}
	return 1 + len(triangle.CutRuns(d, plan.startGramFloats)), nil
}

// LayerPasses returns the number of passes that the start of another layer needs: 1 for c > 0 and for sparse rows.
func LayerPasses(d, k, c int, memory int64, sparse bool) int {
	plan, err := planStream(d, k, c, memory, 0, 0)
	if err != nil || c > 0 || sparse {
		return 1
	}
	return len(triangle.CutRuns(d, plan.refreshGramFloats))
}

// fixedBytes returns the memory that no plan can reduce: for the profile and other vectors, a standardized block, the
// packed panels of matrix products, the vectors ω_r and υ_r of the turns, and the target H.
func fixedBytes(d, k, c int, sparse bool) int64 {
	numbers := kernel.TeamBytes(d, d)/8 + scan.BlockBytes(d, sparse)/8 + int64(d)*int64(k+48) + int64(c)*int64(d+k+stream.BlockRows(d))
	if c > 0 {
		numbers += int64(c)*(engine.WorkVectors+int64(d)) + int64(d)*int64(k) // for the targets of further layers
	}
	return 8 * numbers
}

// targetFixedBytes returns fixedBytes for a given target of `rows` rows in the form LU. FactorBytes counts two vectors
// of d numbers for each turn; here υ is shorter, with one number for each row of the target.
func targetFixedBytes(d, k, rows int, sparse bool) int64 {
	return scan.BlockBytes(d, sparse) + 8*24*int64(d) + engine.FactorBytes(d, k, 0, rows) - 8*int64(d)*int64(k) + kernel.TeamBytes(d, d)
}

// TargetBytes returns the smallest memory for SelectTarget with a target of `height` rows: see StreamBytes.
func TargetBytes(d, k, height int, entries, rows int64) int64 {
	return targetFixedBytes(d, k, height, entries > 0) + minWorkBytes(d, height, entries, rows)
}

// numbersPerCandidate returns the number of float64s that are needed for each candidate of a batch: δ and Rδ (see
// streamEngine; Rδ only for Algorithm 1, c = 0) and a column of a block of rows, each once for every batch held, and
// the vectors of one predicted turn.
func numbersPerCandidate(d, c int) int64 {
	columns := 2
	if c > 0 {
		columns = 1
	}
	return batchesKept*int64(columns*d+stream.BlockRows(d)) + int64(d+c)
}

// planInMemory returns the plan for sparse rows that stay in memory, and whether they fit. Passes over rows in memory
// are cheap. So only a few rows of G are computed at a time, which stay in a cache, and a batch has at most 8
// candidates and at least one. Columns that were not predicted are computed when they are needed.
func planInMemory(d, c int, fixed, memory, entries, rows int64) (streamPlan, bool) {
	p := streamPlan{inMemory: true, strip: d, batch: 8, startGramFloats: minGramRows * int64(d), refreshGramFloats: minGramRows * int64(d)}
	for p.batch > 1 && fixed+inMemoryBytes(d, c, p.batch, entries, rows) > memory {
		p.batch /= 2
	}
	p.batch = min(p.batch, d)
	p.slots = min(batchesKept*p.batch, d)
	return p, entries > 0 && max(entries, rows) <= scan.MaxSparsePlaces && fixed+inMemoryBytes(d, c, p.batch, entries, rows) <= memory
}

func inMemoryBytes(d, c, batch int, entries, rows int64) int64 {
	return scan.SparseRowsBytes(entries, rows, d) + 8*(int64(batch)*numbersPerCandidate(d, c)+minGramRows*int64(d))
}

func planStream(d, k, c int, memory, entries, rows int64) (streamPlan, error) {
	return planRemainingMemory(d, c, fixedBytes(d, k, c, entries > 0), memory, entries, rows)
}

func planRemainingMemory(d, c int, fixedMemory, memory, entries, rows int64) (streamPlan, error) {
	if whole, ok := planInMemory(d, c, fixedMemory, memory, entries, rows); ok {
		return whole, nil
	}
	if need := fixedMemory + minWorkBytes(d, c, entries, rows); memory < need {
		return streamPlan{}, &stream.MemoryError{What: "selecting from rows that are read again and again",
			Need: need, Limit: memory}
	}
	left := (memory - fixedMemory) / 8
	p := streamPlan{strip: d}
	if more := int64(max(d-2*scan.StripFeatures, 0)) * int64(stream.BlockRows(d)); entries == 0 && more <= left/blockShare {
		left -= more
	} else if entries == 0 {
		p.strip = scan.StripFeatures
	}
	p.buckets = int(min(max(left/8/int64(d), minBuckets), maxBuckets))
	left -= int64(p.buckets) * int64(d)
	p.startGramFloats = left
	p.batch = min(max(d/batchShare, 16), maxBatch, d)
	// Half of the rest is for candidates. The other half is for runs of rows of G, in case f must be recomputed, and
	// costs nothing while it is not used.
	if most := int((left - minGramRows*int64(d)) / 2 / numbersPerCandidate(d, c)); p.batch > most {
		p.batch = min(max(most, minBatch), d)
	}
	p.slots = min(batchesKept*p.batch, d)
	p.refreshGramFloats = left - int64(p.batch)*numbersPerCandidate(d, c)
	return p, nil
}
