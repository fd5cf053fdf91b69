package ufs

import (
	"cmp"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/trust"
	"github.com/ufs-stream/ufs-stream/method"
)

// planGraph plans the two passes of a graph method. The first pass fills a profile and draws rows for the anchors, and
// the second pass fills the statistics. solve describes the input for the solver that follows, or is nil without a
// solver. rank is the number of rows if the Gram matrix is a factor, and 0 if it is full. outOfCore means that there is
// no Gram matrix, so that reading and the solver are in memory at the same time.
func (r *run) planGraph(ds *chunkio.Dataset, solve *method.Shape, rank int, outOfCore bool) (Budget, error) {
	d, total := len(ds.Columns()), ds.Rows()
	f := &r.Anchors
	if r.SampleRows > 0 {
		total = min(total, r.SampleRows)
	}
	if r.wholeProfile != nil { // in this case ds may be only a part of the input
		total = r.wholeProfile.profile.Seen
	}
	if f.File == "" {
		if _, err := anchor.Count(f.Count, total, f.Neighbors); err != nil {
			return Budget{}, err
		}
	}
	m := r.expectedAnchors(total)
	anchors := graphBytes(m, d, f.Neighbors, r.Threads, r.Stability)
	if rank > 0 {
		anchors = anchor.LaterBytes(m, d, rank, f.Neighbors)
	}
	anchors += r.sampleBytes // the profile keeps its sample in case this attempt fails and another follows
	rows := int(min(int64(r.anchorSampleRows(m, d)), total))
	placing, judging := r.placingBytes(m, d, rank, rows)
	var cost method.Cost
	spread := r.splitterBytes(d)
	if solve == nil {
		spread += gram.HistogramsBytes(d)
	} else {
		var err error
		shape := *solve
		shape.Rank, shape.OutOfCore = rank, outOfCore
		costOf := r.graphCost
		if r.sketchRows > 0 {
			costOf = r.estimateCost
		}
		if cost, err = costOf(shape, m); err != nil {
			return Budget{}, err
		}
	}
	ranks := r.rankBytes(ds, d)
	if placing += ranks; ranks > 0 { // the sample is in memory twice: with values and with normal scores
		placing += anchor.SamplerBytes(rows, d)
		spread += anchor.SamplerBytes(rows, d)
	}
	spread += ranks
	if outOfCore {
		full, err := r.planGraphOutOfCore(ds, *solve, m, anchors, 0, max(placing, r.sampleBytes+profileColumnBytes*int64(d)+anchors+spread))
		if !r.isThinGraph(d) {
			return full, err
		}
		// The choice between the two plans must not depend on the limit.
		if thin, thinErr := r.planThinGraph(ds, *solve, m, total); thin.Smallest <= full.Smallest {
			return thin, thinErr
		}
		return full, err
	}
	if r.sketchRows > 0 {
		b, err := r.planGraphSketched(ds, m, anchors+spread, placing, cost, solve != nil)
		b.judgingStatistics = placing + judging
		b.Anchors, b.sideStatistics = anchors, spread
		return b, err
	}
	var factorBytes, freed int64
	gathering := r.gramFormBytes(ds, rank) + anchors + spread
	if rank > 0 {
		factorBytes = r.gramFormBytes(ds, rank)
		gathering = max(placing+factorBytes, gathering)
		freed = gathering - factorBytes - 8*int64(m)*int64(m) // memory for anchors and judging, which the solver reuses
		if !r.Takes.NoCross {
			freed -= 8 * int64(m) * int64(d)
		}
	}
	b, err := r.planPass(ds, max(placing+factorBytes, gathering), cost.Bytes-freed)
	b.Solver, b.freedStatistics = cost.Bytes, freed
	if err == nil {
		b = r.withSizeRules(ds, b, cost, rank)
	}
	b.judgingStatistics = placing + factorBytes + judging
	b.Anchors, b.sideStatistics, b.iterations = anchors, spread, cost.Iterations
	return b, err
}

// placingBytes returns placing, the peak memory of making m anchors from the given number of sampled rows, including
// the memory of the sample of an earlier attempt. It also returns judging, the part of it that is for judging the graph
// of the anchors. rank is the same number as in planGraph.
func (r *run) placingBytes(m, d, rank, rows int) (placing, judging int64) {
	f, points, sample := &r.Anchors, 8*int64(m)*int64(d), anchor.SamplerBytes(rows, d)
	// While the anchors are made, the sampled rows are in memory twice: as the sample and as points.
	placing = sample + 2*8*int64(rows)*int64(d)
	if rank > 0 { // the sample consists of the rows of the factor, which remain in memory
		if sample, placing = 0, 0; f.KMeans() {
			placing = 8 * int64(rows) * int64(d)
		}
	}
	if f.File == "" && f.KMeans() {
		placing += cluster.Bytes(rows, d, m, 1)
	}
	// The graph of the anchors is in memory before the statistics, together with the sample and the anchors.
	judging = trust.GraphBytes(m, d, f.Neighbors, r.Threads)
	both := profileColumnBytes*int64(d) + points
	return r.sampleBytes + both + max(placing, sample+judging), judging
}

// planGraphOutOfCore plans a graph method without the Gram matrix. statistics is the memory of the passes before the
// method. After these passes the profile and the graph's matrices C (m×d) and S (m×m) remain in memory. thin is the
// memory of C if only its entries other than 0 are stored, or 0 if C is a full matrix. anchors is the memory of the
// anchors.
func (r *run) planGraphOutOfCore(ds *chunkio.Dataset, shape method.Shape, m int, anchors, thin, statistics int64) (Budget, error) {
	d := len(ds.Columns())
	stays := profileColumnBytes*int64(d) + 8*int64(m)*int64(m) + cmp.Or(thin, 8*int64(m)*int64(d))
	shape.Anchors, shape.OutOfCore, shape.Thin = m, true, thin > 0
	cost, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: statistics, Anchors: anchors, OutOfCore: true, thinColumnBytes: thin}
	total := func(solver int64) int64 { return b.Program + ds.MinMemory() + max(statistics, stays+solver) }
	if b.Smallest = total(cost.Least); b.Smallest > b.Limit {
		return b, b.refusal()
	}
	room := b.Limit - b.Program - max(statistics, stays+cost.Least)
	b.Reading = ds.MemoryFor(min(max(b.Limit/4, ds.MinMemory()), room))
	b.spoolBytes = ds.ScratchFor(b.Reading)
	b.Solver = b.Limit - b.Program - b.Reading - stays
	b.freedStatistics = statistics - stays
	b.Peak = b.Limit
	shape.Memory = b.Solver
	cost, err = r.Solver.Cost(shape)
	b.methodPasses = cost.Passes
	return b, err
}

func graphBytes(m, d, neighbors, threads, shards int) int64 {
	return anchor.SharedBytes(m, d, neighbors, threads, shards+1)
}

func (r *run) graphCost(shape method.Shape, m int) (method.Cost, error) {
	shape.Anchors = m
	cost, err := r.gramCost(shape)
	cost.Bytes = max(cost.Bytes, judge.ExplainBytes(len(shape.Columns), shape.K, shape.Rank))
	return cost, err
}
