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

// planGraph plans the two passes of the graph methods: a profile with a sample of rows,
// from which the anchors come, and then the statistics. solve is what the solver that follows is asked the
// cost of; nil is for none. rank is the number of rows of a Gram matrix that is a factor, 0 in full. outOfCore says
// that there is none, so that reading and solver live together.
func (r *run) planGraph(ds *chunkio.Dataset, solve *method.Shape, rank int, outOfCore bool) (Budget, error) {
	d, total := len(ds.Columns()), ds.Rows()
	f := &r.Anchors
	if r.SampleRows > 0 {
		total = min(total, r.SampleRows)
	}
	if r.profile != nil { // then ds may be a part only
		total = r.profile.profile.Seen
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
	anchors += r.sampleBytes // it stays for another attempt
	rows := int(min(int64(r.anchorSample(m, d)), total))
	placing, judging := r.placingBytes(m, d, rank, rows)
	var cost method.Cost
	spread := r.splitBytes(d)
	if solve == nil {
		spread += gram.HistogramsBytes(d)
	} else {
		var err error
		shape := *solve
		shape.Rank, shape.OutOfCore = rank, outOfCore
		of := r.graphCost
		if r.sketchRows > 0 {
			of = r.estimateCost
		}
		if cost, err = of(shape, m); err != nil {
			return Budget{}, err
		}
	}
	ranks := r.rankBytes(ds, d)
	if placing += ranks; ranks > 0 { // the sample, and its copy in scores
		placing += anchor.SamplerBytes(rows, d)
		spread += anchor.SamplerBytes(rows, d)
	}
	spread += ranks
	if outOfCore {
		full, err := r.planGraphOutOfCore(ds, *solve, m, anchors, 0, max(placing, r.sampleBytes+profileColumn*int64(d)+anchors+spread))
		if !r.thinGraph(d) {
			return full, err
		}
		// Which of them it is must not depend on the limit.
		if thin, thinErr := r.planThin(ds, *solve, m, total); thin.Smallest <= full.Smallest {
			return thin, thinErr
		}
		return full, err
	}
	if r.sketchRows > 0 {
		b, err := r.planGraphSketched(ds, m, anchors+spread, placing, cost, solve != nil)
		b.atOnceBytes = placing + judging
		b.Anchors, b.spread = anchors, spread
		return b, err
	}
	var beside, gone int64
	gathering := r.formBytes(ds, rank) + anchors + spread
	if rank > 0 {
		beside = r.formBytes(ds, rank)
		gathering = max(placing+beside, gathering)
		gone = gathering - beside - 8*int64(m)*int64(m) // points and what judged them: the solver has their room
		if !r.Takes.NoCross {
			gone -= 8 * int64(m) * int64(d)
		}
	}
	b, err := r.planPass(ds, max(placing+beside, gathering), cost.Bytes-gone)
	b.Solver, b.gone = cost.Bytes, gone
	if err == nil {
		b = r.withRules(ds, b, cost, rank)
	}
	b.atOnceBytes = placing + beside + judging
	b.Anchors, b.spread, b.iterations = anchors, spread, cost.Iterations
	return b, err
}

// placingBytes is what placing m anchors by so many sampled rows holds at most, beside the sample of an earlier attempt, and
// judging what their graph among themselves takes of that. rank is that of planGraph.
func (r *run) placingBytes(m, d, rank, rows int) (placing, judging int64) {
	f, points, sample := &r.Anchors, 8*int64(m)*int64(d), anchor.SamplerBytes(rows, d)
	// While anchors are placed there are the sample and its rows as points.
	placing = sample + 2*8*int64(rows)*int64(d)
	if rank > 0 { // the rows themselves are the sample, and stay
		if sample, placing = 0, 0; f.KMeans() {
			placing = 8 * int64(rows) * int64(d)
		}
	}
	if f.File == "" && f.KMeans() {
		placing += cluster.Bytes(rows, d, m, 1)
	}
	// Their graph among themselves is there before the statistics, beside sample and anchors.
	judging = trust.GraphBytes(m, d, f.Neighbors, r.Threads)
	both := profileColumn*int64(d) + points
	return r.sampleBytes + both + max(placing, sample+judging), judging
}

// planGraphOutOfCore plans a graph method without the Gram matrix, where the passes before the method
// hold so many bytes of statistics, of which C, S and the profile stay. C takes so many bytes by its columns, 0
// in full.
func (r *run) planGraphOutOfCore(ds *chunkio.Dataset, shape method.Shape, m int, anchors, thin, statistics int64) (Budget, error) {
	d := len(ds.Columns())
	stays := profileColumn*int64(d) + 8*int64(m)*int64(m) + cmp.Or(thin, 8*int64(m)*int64(d))
	shape.Anchors, shape.OutOfCore, shape.Thin = m, true, thin > 0
	cost, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: statistics, Anchors: anchors, OutOfCore: true, thin: thin}
	total := func(solver int64) int64 { return b.Program + ds.MinMemory() + max(statistics, stays+solver) }
	if b.Smallest = total(cost.Least); b.Smallest > b.Limit {
		return b, b.refusal()
	}
	room := b.Limit - b.Program - max(statistics, stays+cost.Least)
	b.Reading = ds.MemoryFor(min(max(b.Limit/4, ds.MinMemory()), room))
	b.spool = ds.ScratchFor(b.Reading)
	b.Solver = b.Limit - b.Program - b.Reading - stays
	b.gone = statistics - stays
	b.Peak = b.Limit
	shape.Memory = b.Solver
	cost, err = r.Solver.Cost(shape)
	b.method = cost.Passes
	return b, err
}

// graphBytes is what statistics of a graph of m anchors take, with those of the hash shards.
func graphBytes(m, d, neighbors, threads, shards int) int64 {
	return anchor.SharedBytes(m, d, neighbors, threads, shards+1)
}

// graphCost is what a graph method, and then what explains its choice, take beside the
// graph of m anchors.
func (r *run) graphCost(shape method.Shape, m int) (method.Cost, error) {
	shape.Anchors = m
	cost, err := r.gramCost(shape)
	cost.Bytes = max(cost.Bytes, judge.ExplainBytes(len(shape.Columns), shape.K, shape.Rank))
	return cost, err
}
