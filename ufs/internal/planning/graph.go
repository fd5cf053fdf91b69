package planning

import (
	"cmp"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/trust"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// planGraph plans the two passes of a graph method. The first pass fills a profile and draws rows for the anchors, and
// the second pass fills the statistics. solve describes the input for the solver that follows, or is nil without a
// solver. rank is the number of rows if the Gram matrix is a factor, and 0 if it is full. outOfCore means that there is
// no Gram matrix, so that reading and the solver are in memory at the same time.
func planGraph(r *settled.Run, ds *chunkio.Dataset, solve *method.Shape, rank int, outOfCore bool) (budget.Budget, error) {
	d, total := len(ds.Columns()), ds.Rows()
	f := &r.Bound.Anchors
	if r.SampleRows > 0 {
		total = min(total, r.SampleRows)
	}
	if r.WholeProfile != nil { // in this case ds may be only a part of the input
		total = r.WholeProfile.Profile.Seen
	}
	if f.File == "" {
		if _, err := anchor.Count(f.Count, total, f.Neighbors); err != nil {
			return budget.Budget{}, err
		}
	}
	m := r.ExpectedAnchors(total)
	anchors := budget.GraphBytes(m, d, f.Neighbors, r.Limits.Threads, r.Choice.Stability)
	if rank > 0 {
		anchors = anchor.LaterBytes(m, d, rank, f.Neighbors)
	}
	anchors += r.SampleBytes // the profile keeps its sample in case this attempt fails and another follows
	rows := int(min(int64(r.AnchorSampleRows(m, d)), total))
	placing, judging := placingBytes(r, m, d, rank, rows)
	var cost method.Cost
	spread := splitterBytes(r, d)
	if solve == nil {
		spread += gram.HistogramsBytes(d)
	} else {
		var err error
		shape := *solve
		shape.Rank, shape.OutOfCore = rank, outOfCore
		costOf := GraphCost
		if r.SketchRows > 0 {
			costOf = EstimateCost
		}
		if cost, err = costOf(r, shape, m); err != nil {
			return budget.Budget{}, err
		}
	}
	ranks := RankBytes(r, ds, d)
	if placing += ranks; ranks > 0 { // the sample is in memory twice: with values and with normal scores
		placing += anchor.SamplerBytes(rows, d)
		spread += anchor.SamplerBytes(rows, d)
	}
	spread += ranks
	if outOfCore {
		full, err := planGraphOutOfCore(r, ds, *solve, m, anchors, 0, max(placing, r.SampleBytes+budget.ProfileColumnBytes*int64(d)+anchors+spread))
		if !isThinGraph(r, d) {
			return full, err
		}
		// The choice between the two plans must not depend on the limit.
		if thin, thinErr := planThinGraph(r, ds, *solve, m, total); thin.Smallest <= full.Smallest {
			return thin, thinErr
		}
		return full, err
	}
	if r.SketchRows > 0 {
		b, err := planGraphSketched(r, ds, m, anchors+spread, placing, cost, solve != nil)
		b.JudgingStatistics = placing + judging
		b.Anchors, b.SideStatistics = anchors, spread
		return b, err
	}
	var factorBytes, freed int64
	gathering := gramFormBytes(r, ds, rank) + anchors + spread
	if rank > 0 {
		factorBytes = gramFormBytes(r, ds, rank)
		gathering = max(placing+factorBytes, gathering)
		freed = gathering - factorBytes - 8*int64(m)*int64(m) // memory for anchors and judging, which the solver reuses
		if !r.Bound.Takes.NoCross {
			freed -= 8 * int64(m) * int64(d)
		}
	}
	b, err := PlanPass(r, ds, max(placing+factorBytes, gathering), cost.Bytes-freed)
	b.Solver, b.FreedStatistics = cost.Bytes, freed
	if err == nil {
		b = withSizeRules(r, ds, b, cost, rank)
	}
	b.JudgingStatistics = placing + factorBytes + judging
	b.Anchors, b.SideStatistics, b.Iterations = anchors, spread, cost.Iterations
	return b, err
}

// placingBytes returns placing, the peak memory of making m anchors from the given number of sampled rows, including
// the memory of the sample of an earlier attempt. It also returns judging, the part of it that is for judging the graph
// of the anchors. rank is the same number as in planGraph.
func placingBytes(r *settled.Run, m, d, rank, rows int) (placing, judging int64) {
	f, points, sample := &r.Bound.Anchors, 8*int64(m)*int64(d), anchor.SamplerBytes(rows, d)
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
	judging = trust.GraphBytes(m, d, f.Neighbors, r.Limits.Threads)
	both := budget.ProfileColumnBytes*int64(d) + points
	return r.SampleBytes + both + max(placing, sample+judging), judging
}

// planGraphOutOfCore plans a graph method without the Gram matrix. statistics is the memory of the passes before the
// method. After these passes the profile and the graph's matrices C (m×d) and S (m×m) remain in memory. thin is the
// memory of C if only its entries other than 0 are stored, or 0 if C is a full matrix. anchors is the memory of the
// anchors.
func planGraphOutOfCore(r *settled.Run, ds *chunkio.Dataset, shape method.Shape, m int, anchors, thin, statistics int64) (budget.Budget, error) {
	d := len(ds.Columns())
	stays := budget.ProfileColumnBytes*int64(d) + 8*int64(m)*int64(m) + cmp.Or(thin, 8*int64(m)*int64(d))
	shape.Anchors, shape.OutOfCore, shape.Thin = m, true, thin > 0
	cost, err := r.Bound.Solver.Cost(shape)
	if err != nil {
		return budget.Budget{}, err
	}
	b := budget.Budget{Limit: r.Limits.Memory, Program: budget.ProgramBytes, Statistics: statistics, Anchors: anchors, OutOfCore: true, ThinColumnBytes: thin}
	total := func(solver int64) int64 { return b.Program + ds.MinMemory() + max(statistics, stays+solver) }
	if b.Smallest = total(cost.Least); b.Smallest > b.Limit {
		return b, b.Refusal()
	}
	room := b.Limit - b.Program - max(statistics, stays+cost.Least)
	b.Reading = ds.MemoryFor(min(max(b.Limit/4, ds.MinMemory()), room))
	b.SpoolBytes = ds.ScratchFor(b.Reading)
	b.Solver = b.Limit - b.Program - b.Reading - stays
	b.FreedStatistics = statistics - stays
	b.Peak = b.Limit
	shape.Memory = b.Solver
	cost, err = r.Bound.Solver.Cost(shape)
	b.MethodPasses = cost.Passes
	return b, err
}

func GraphCost(r *settled.Run, shape method.Shape, m int) (method.Cost, error) {
	shape.Anchors = m
	cost, err := GramCost(r, shape)
	cost.Bytes = max(cost.Bytes, judge.ExplainBytes(len(shape.Columns), shape.K, shape.Rank))
	return cost, err
}

// surveyBytes returns the memory of the sample of rows for a survey. It is 0 if the method does not use a sample. It is
// also 0 if rank is not 0: the Gram matrix is then a factor of rank rows, and the sample is a part of these rows.
func surveyBytes(r *settled.Run, ds *chunkio.Dataset, rank int) int64 {
	d := len(ds.Columns())
	rows := budget.LimitRows(settled.SurveyRows(r, d), ds)
	switch {
	case !r.Bound.Takes.Sample || rank > 0:
		return 0
	case r.Columns.Sparse != "":
		return anchor.EntriesBytes(rows, ds.RowEntries()*int64(rows))
	}
	return anchor.SamplerBytes(rows, d)
}
