package greedy

import (
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// minBuckets and maxBuckets bound the sketch; minRun is the least number of rows
	// of G that a pass for f⁰ may hold.
	minBuckets, maxBuckets = 32, 512
	minRun                 = 16
	// A batch is 1/8 of the features where memory allows: 100 features of COIL20 took
	// 26, 20 and 14 passes with 1/16, 1/8 and 1/4, at 6nd flops a candidate, when the
	// sketch alone filled it. Where d is large, 256 keep the flops of a pass far below
	// the flops of f⁰.
	batchShare, minBatch, maxBatch = 8, 4, 256
	// candidatesKept batches of candidates are held: a guess that came too early is
	// often right a few batches later.
	candidatesKept = 4
	// Where all features of a dense block take more than a share of what can be shared out, so many are standardized at a
	// time: all of basehock's took 10 of the 21 MiB that its smallest limit left the selector, which made 90 passes, and 38
	// in strips. Strips are made again for each product: in 200 MiB they took an eighth more time, and no pass less. A
	// multiple of the terms that products round together, so that the bits are the same.
	stripFeatures, blockShare = 512, 4
)

// streamPlan says how SelectStream uses its memory.
type streamPlan struct {
	buckets int
	batch   int
	slots   int
	whole   bool  // sparse rows stay in memory, and there is no sketch
	strip   int   // features of a dense block that are standardized at a time; d is all
	start   int64 // float64s for a run of rows of G while f⁰ is computed
	refresh int64 // the same once candidates are held
}

// StreamBytes is the smallest StreamOptions.Memory that works for d features of
// which k are chosen, and c groups (0 for Algorithm 1), for sparse rows of so many entries in all; 0 for
// dense rows. More saves passes.
func StreamBytes(d, k, c int, entries, rows int64) int64 {
	return fixedBytes(d, k, c, entries > 0) + leastBeside(d, c, entries, rows)
}

// leastBeside is the least that may be left beside what does not shrink: what a sketch takes, or sparse rows
// in memory without one.
func leastBeside(d, c int, entries, rows int64) int64 {
	sketched := sketchedBeside(d, c)
	if entries > 0 {
		return min(sketched, wholeBeside(d, c, 1, entries, rows))
	}
	return sketched
}

func sketchedBeside(d, c int) int64 {
	return 8 * (int64(minBuckets)*int64(d) + minBatch*batchNumbers(d, c) + minRun*int64(d))
}

// StreamPasses is the number of passes for f⁰ under a memory of the given bytes, 1
// for the profile included: a lower bound of what SelectStream needs. Two come for
// every few features chosen: 100 features of COIL20, ORL and USPS took 15, 7 and 17
// passes in all with f⁰ in one (Algorithm 2: 14, 5 and 12). Sparse rows may stay in memory, in one.
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
	return 1 + len(spans(d, plan.start)), nil
}

// layerPasses is the number of passes in which another layer starts: 1 for Algorithm 2.
func layerPasses(d, k, c int, memory int64, sparse bool) int {
	plan, err := planStream(d, k, c, memory, 0, 0)
	if err != nil || c > 0 || sparse {
		return 1
	}
	return len(spans(d, plan.refresh))
}

// fixedBytes is what does not shrink: the profile and other vectors, a standardized
// block, the packed panels of products, ω_r, H and υ_r.
func fixedBytes(d, k, c int, sparse bool) int64 {
	numbers := kernel.TeamBytes(d, d)/8 + blockBytes(d, sparse)/8 + int64(d)*int64(k+48) + int64(c)*int64(d+k+stream.BlockRows(d))
	if c > 0 {
		numbers += int64(c)*(blockRows+int64(d)) + int64(d)*int64(k) // other layers
	}
	return 8 * numbers
}

// blockBytes is what a standardized block takes in two strips, or one of sparse rows with its places by features.
func blockBytes(d int, sparse bool) int64 {
	if sparse {
		return int64(sparseBlockSize(d))*(sparseEntryBytes+sparseRowBytes) + 16*int64(d)
	}
	return 8 * int64(min(d, 2*stripFeatures)) * int64(stream.BlockRows(d))
}

// aimedFixedBytes is the same for a target of so many rows, in the form LU, that is there. Of the two vectors
// of a turn that a factor takes, υ is as long as the target is high.
func aimedFixedBytes(d, k, rows int, sparse bool) int64 {
	return blockBytes(d, sparse) + 8*24*int64(d) + FactorBytes(d, k, 0, rows) - 8*int64(d)*int64(k) + kernel.TeamBytes(d, d)
}

// aimedStreamBytes is StreamBytes for a target of so many rows.
func aimedStreamBytes(d, k, height int, entries, rows int64) int64 {
	return aimedFixedBytes(d, k, height, entries > 0) + leastBeside(d, height, entries, rows)
}

// batchNumbers is the float64s for each candidate of a batch: what the candidates
// kept hold (δ, Rδ and a column of a block), and a turn played by the predictor.
func batchNumbers(d, c int) int64 {
	columns := 2
	if c > 0 {
		columns = 1
	}
	return candidatesKept*int64(columns*d+stream.BlockRows(d)) + int64(d+c)
}

// planWhole is the plan for sparse rows that stay in memory, where so many entries and rows do. Then
// passes cost no reading, so that runs of rows of G are short, to stay in a cache, and candidates are
// few, down to one: what is not foreseen is fetched.
func planWhole(d, c int, fixed, memory, entries, rows int64) (streamPlan, bool) {
	p := streamPlan{whole: true, strip: d, batch: 8, start: minRun * int64(d), refresh: minRun * int64(d)}
	for p.batch > 1 && fixed+wholeBeside(d, c, p.batch, entries, rows) > memory {
		p.batch /= 2
	}
	p.batch = min(p.batch, d)
	p.slots = min(candidatesKept*p.batch, d)
	return p, entries > 0 && max(entries, rows) <= mostWhole && fixed+wholeBeside(d, c, p.batch, entries, rows) <= memory
}

// wholeBeside is what so many entries and rows in memory take, with candidates, beside what does not shrink.
func wholeBeside(d, c, batch int, entries, rows int64) int64 {
	return wholeBytes(entries, rows, d) + 8*(int64(batch)*batchNumbers(d, c)+minRun*int64(d))
}

func planStream(d, k, c int, memory, entries, rows int64) (streamPlan, error) {
	return planBeside(d, c, fixedBytes(d, k, c, entries > 0), memory, entries, rows)
}

// planBeside is the plan beside so many bytes that do not shrink, for sparse rows of so many entries, or dense ones.
func planBeside(d, c int, fixed, memory, entries, rows int64) (streamPlan, error) {
	if whole, ok := planWhole(d, c, fixed, memory, entries, rows); ok {
		return whole, nil
	}
	if need := fixed + leastBeside(d, c, entries, rows); memory < need {
		return streamPlan{}, &stream.MemoryError{What: "selecting from rows that are read again and again",
			Need: need, Limit: memory}
	}
	left := (memory - fixed) / 8
	p := streamPlan{strip: d}
	if more := int64(max(d-2*stripFeatures, 0)) * int64(stream.BlockRows(d)); entries == 0 && more <= left/blockShare {
		left -= more
	} else if entries == 0 {
		p.strip = stripFeatures
	}
	p.buckets = int(min(max(left/8/int64(d), minBuckets), maxBuckets))
	left -= int64(p.buckets) * int64(d)
	p.start = left
	p.batch = min(max(d/batchShare, 16), maxBatch, d)
	// Half of what is left for candidates: the rest is for runs of rows of G, should
	// f have to be renewed, and costs nothing while it is not used.
	if most := int((left - minRun*int64(d)) / 2 / batchNumbers(d, c)); p.batch > most {
		p.batch = min(max(most, minBatch), d)
	}
	p.slots = min(candidatesKept*p.batch, d)
	p.refresh = left - int64(p.batch)*batchNumbers(d, c)
	return p, nil
}
