package planning

import (
	"cmp"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/judging/trust"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// graphKind plans for methods that select from an anchor graph.
type graphKind struct{}

func (graphKind) planSelection(w Workload, shape method.Shape) (budget.Budget, error) {
	if w.SketchRows > 0 {
		return planGraph(w, &shape, 0, false)
	}
	in, err := planBestForm(w, func(rank int) (budget.Budget, error) { return planGraph(w, &shape, rank, false) })
	if !w.Run.Bound.Takes.Streams {
		return in, errWithSketchAdvice(w, &shape, in, err)
	}
	return chooseInOrOutOfCore(w, in, err, func() (budget.Budget, error) { return planGraph(w, &shape, 0, true) })
}

// planShard plans the two rounds in which a shard is scanned. The first keeps a sample of the rows; the second holds
// the merged sample in addition to the statistics.
func (graphKind) planShard(w Workload) (budget.Budget, error) {
	samples := w.Run.Bound.Anchors.File == ""
	first, err := planProfileScan(w, samples)
	if err != nil {
		return first, err
	}
	if d := len(w.Table.Columns()); samples {
		w.SampleBytes = anchor.SamplerBytes(budget.CapAtTableRows(w.Run.AnchorSampleRows(w.Run.MaxAnchors(), d), w.Table), d)
	}
	second, err := planGraph(w, nil, 0, false)
	second.Smallest = max(first.Smallest, second.Smallest)
	return second, err
}

func (graphKind) countGatherPasses(w Workload, b budget.Budget) method.Passes {
	keepsMissing := request.MissingPolicy(&w.Run.Request) == stream.MissingKeep
	switch {
	case b.Factor > 0 && request.ExcludesSuspects(&w.Run.Request):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that finds the columns to leave out, then the statistics")}
	case b.Factor > 0:
		return gatherPassesOfColumns(w)
	case request.ExcludesSuspects(&w.Run.Request):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile that finds the columns to leave out, one that draws the anchors, then the statistics")}
	case keepsMissing || w.Run.Columns.Sparse != "":
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that draws the anchors, then the statistics")}
	case settled.PromisesMissing(w.Table):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile of the columns, because values are missing, one that draws the anchors, then the statistics")}
	}
	return method.Passes{Least: 2, Most: 4, Why: stream.Textf("a profile that draws the anchors, and the statistics, if nothing is missing; else two more profiles")}
}

func (graphKind) reasonToReadProfilesFirst(w Workload) stream.Text {
	return stream.Textf("method %s needs the scaling and the anchors of all rows", w.Run.Bound.Name)
}

func (graphKind) describeLastScan(w Workload, j *scalemodel.Job) scalemodel.Kind {
	j.Anchors = w.Run.ExpectedAnchors(j.Rows)
	if w.Run.Bound.Anchors.File == "" {
		j.Sample = min(j.Rows, int64(w.Run.AnchorSampleRows(w.Run.MaxAnchors(), j.Features)))
	}
	return scalemodel.Graph
}

// planGraph plans the two passes of a graph method. The first pass fills a profile and draws rows for the anchors, and
// the second pass fills the statistics. solve describes the input for the solver that follows, or is nil without a
// solver. rank is the number of rows if the Gram matrix is a factor, and 0 if it is full. outOfCore means that there is
// no Gram matrix, so that reading and the solver are in memory at the same time.
func planGraph(w Workload, solve *method.Shape, rank int, outOfCore bool) (budget.Budget, error) {
	d, total := len(w.Table.Columns()), w.Table.Rows()
	f := &w.Run.Bound.Anchors
	if w.Run.SampleRows > 0 {
		total = min(total, w.Run.SampleRows)
	}
	if w.Run.WholeProfile != nil { // in this case w.Table may be only a part of the input
		total = w.Run.WholeProfile.Profile.Seen
	}
	if f.File == "" {
		if _, err := anchor.Count(f.Count, total, f.Neighbors); err != nil {
			return budget.Budget{}, err
		}
	}
	m := w.Run.ExpectedAnchors(total)
	anchors := budget.GraphBytes(m, d, f.Neighbors, w.Run.Limits.Threads, w.Run.Choice.Stability)
	if rank > 0 {
		anchors = anchor.LaterBytes(m, d, rank, f.Neighbors)
	}
	anchors += w.SampleBytes // the profile keeps its sample in case this attempt fails and another follows
	rows := int(min(int64(w.Run.AnchorSampleRows(m, d)), total))
	placing, judging := placingBytes(w, m, d, rank, rows)
	var cost method.Cost
	spread := shardSplitterBytes(w, d)
	if solve == nil {
		spread += gram.HistogramsBytes(d)
	} else {
		var err error
		shape := *solve
		shape.Rank, shape.OutOfCore = rank, outOfCore
		costOf := GraphCost
		if w.SketchRows > 0 {
			costOf = EstimateCost
		}
		if cost, err = costOf(w, shape, m); err != nil {
			return budget.Budget{}, err
		}
	}
	ranks := RankBytes(w.Run, w.Table, d)
	if placing += ranks; ranks > 0 { // the sample is in memory twice: with values and with normal scores
		placing += anchor.SamplerBytes(rows, d)
		spread += anchor.SamplerBytes(rows, d)
	}
	spread += ranks
	if outOfCore {
		full, err := planGraphOutOfCore(w, *solve, m, anchors, 0, max(placing, w.SampleBytes+budget.ProfileColumnBytes*int64(d)+anchors+spread))
		if !isThinGraph(w, d) {
			return full, err
		}
		// The choice between the two plans must not depend on the limit.
		if thin, thinErr := planThinGraph(w, *solve, m, total); thin.Smallest <= full.Smallest {
			return thin, thinErr
		}
		return full, err
	}
	if w.SketchRows > 0 {
		b, err := planGraphSketched(w, m, anchors+spread, placing, cost, solve != nil)
		b.JudgingStatistics = placing + judging
		b.Anchors, b.SideStatistics = anchors, spread
		return b, err
	}
	var factorBytes, freed int64
	gathering := gramOrFactorBytes(w, rank) + anchors + spread
	if rank > 0 {
		factorBytes = gramOrFactorBytes(w, rank)
		gathering = max(placing+factorBytes, gathering)
		freed = gathering - factorBytes - 8*int64(m)*int64(m) // memory for anchors and judging, which the solver reuses
		if !w.Run.Bound.Takes.NoCross {
			freed -= 8 * int64(m) * int64(d)
		}
	}
	b, err := PlanPass(w.Run, w.Table, max(placing+factorBytes, gathering), cost.Bytes-freed)
	b.Solver, b.FreedStatistics = cost.Bytes, freed
	if err == nil {
		b = addSizeRules(w, b, cost, rank, 0)
	}
	b.JudgingStatistics = placing + factorBytes + judging
	b.Anchors, b.SideStatistics, b.Iterations = anchors, spread, cost.Iterations
	return b, err
}

// placingBytes returns placing, the peak memory of making m anchors from the given number of sampled rows, including
// the memory of the sample of an earlier attempt. It also returns judging, the part of it that is for judging the graph
// of the anchors. rank is the same number as in planGraph.
func placingBytes(w Workload, m, d, rank, rows int) (placing, judging int64) {
	f, points, sample := &w.Run.Bound.Anchors, 8*int64(m)*int64(d), anchor.SamplerBytes(rows, d)
	// While the anchors are made, the sampled rows are in memory twice: as the sample and as points.
	placing = sample + 2*8*int64(rows)*int64(d)
	if rank > 0 { // the sample consists of the rows of the factor, which remain in memory
		if sample, placing = 0, 0; f.KMeans() {
			placing = 8 * int64(rows) * int64(d)
		}
	}
	if f.File == "" && f.KMeans() {
		placing += anchor.KMeansOptions{Balanced: f.IsBalanced(), Threads: w.Run.Limits.Threads}.ClusterOptions(m).Bytes(rows, d)
	}
	// The graph of the anchors is in memory before the statistics, together with the sample and the anchors.
	judging = trust.GraphBytes(m, d, f.Neighbors, w.Run.Limits.Threads)
	both := budget.ProfileColumnBytes*int64(d) + points
	return w.SampleBytes + both + max(placing, sample+judging), judging
}

// planGraphOutOfCore plans a graph method without the Gram matrix. statistics is the memory of the passes before the
// method. After these passes the profile and the graph's matrices C (m×d) and S (m×m) remain in memory. thin is the
// memory of C if only its entries other than 0 are stored, or 0 if C is a full matrix. anchors is the memory of the
// anchors.
func planGraphOutOfCore(w Workload, shape method.Shape, m int, anchors, thin, statistics int64) (budget.Budget, error) {
	d := len(w.Table.Columns())
	stays := budget.ProfileColumnBytes*int64(d) + 8*int64(m)*int64(m) + cmp.Or(thin, 8*int64(m)*int64(d))
	shape.Anchors, shape.OutOfCore, shape.Thin = m, true, thin > 0
	cost, err := w.Run.Bound.Solver.Cost(shape)
	if err != nil {
		return budget.Budget{}, err
	}
	b := budget.Budget{Limit: w.Run.Limits.Memory, Program: budget.ProgramBytes, Statistics: statistics, Anchors: anchors, OutOfCore: true, ThinColumnBytes: thin}
	total := func(solver int64) int64 { return b.Program + w.Table.MinMemory() + max(statistics, stays+solver) }
	if b.Smallest = total(cost.Least); b.Smallest > b.Limit {
		return b, b.ErrOverLimit()
	}
	room := b.Limit - b.Program - max(statistics, stays+cost.Least)
	b.Reading = w.Table.MemoryFor(min(max(b.Limit/4, w.Table.MinMemory()), room))
	b.SpoolBytes = w.Table.ScratchFor(b.Reading)
	b.Solver = b.Limit - b.Program - b.Reading - stays
	b.FreedStatistics = statistics - stays
	b.Peak = b.Limit
	shape.Memory = b.Solver
	cost, err = w.Run.Bound.Solver.Cost(shape)
	b.MethodPasses = cost.Passes
	return b, err
}

// GraphCost returns the memory of a graph method with the given number of anchors, and of judging its choice.
func GraphCost(w Workload, shape method.Shape, anchors int) (method.Cost, error) {
	shape.Anchors = anchors
	cost, err := GramCost(w, shape)
	cost.Bytes = max(cost.Bytes, judge.ExplainBytes(len(shape.Columns), shape.K, shape.Rank))
	return cost, err
}

const (
	// offCentreColumnsPerEntry is the number of columns with a centre other than 0 for which memory is planned, per
	// entry of a row. In such a column, absent entries differ from the centre and must be stored too. The column has
	// entries in at least 1/17 of the rows, because otherwise its mean would be below a quarter of its standard
	// deviation. So there are at most 17 such columns per entry of a row. Counts of words have a tenth of that.
	offCentreColumnsPerEntry = 4
	// minThinColumns is the number of columns from which it is cheaper to store only nonzero entries of the anchors.
	minThinColumns = 1024
	// minUnfactoredColumns is the number of columns from which the Gram matrix of sparse rows is not a factor. A factor
	// stores full rows: a row of 16,000 values needs 64 times the memory of a row of 100 entries of 20 bytes, and
	// 20,000 rows of 100,000 values need 16 GB. Matrices up to largeMatrixBytes are exempt, because more can be
	// reported with a factor or a full matrix. For 5,000 rows of 20,000 columns with 500 entries a row, greedy took 48
	// s of CPU time with a factor, and 2.3 s without.
	minUnfactoredColumns = 16_000
	largeMatrixBytes     = 256 << 20
)

// isThinGraph reports whether the anchor graph of sparse rows is thin, i.e. stores its anchors and its matrix C by
// their entries if the run does not make a Gram matrix.
func isThinGraph(w Workload, columns int) bool {
	return w.Run.Columns.Sparse != "" && columns >= minThinColumns && w.Run.Bound.Anchors.File == "" && !w.Run.Bound.Anchors.KMeans() && w.Run.WholeProfile == nil && w.Run.ParsedScale != gram.ScaleRank
}

func planThinGraph(w Workload, shape method.Shape, anchors int, rows int64) (budget.Budget, error) {
	d, k := len(w.Table.Columns()), w.Run.Bound.Anchors.Neighbors
	// If the rows have more entries than expected here, the graph may use the rest of the limit.
	entries, sampled := w.Table.RowEntries()*rows, w.Table.RowEntries()*int64(anchors)
	coordinates := min((1+offCentreColumnsPerEntry)*sampled, int64(anchors)*int64(d))
	statistics := anchor.ThinBytes(anchors, d, k, w.Run.Limits.Threads, coordinates, entries)
	sampler := budget.ProfileColumnBytes*int64(d) + anchor.EntriesBytes(anchors, sampled)
	// Lists of anchors are reallocated with a quarter more capacity.
	placing := sampler + 2*12*coordinates + trust.ThinGraphBytes(anchors, d, k, w.Run.Limits.Threads, coordinates)
	c := anchor.ColumnsBytes(anchors, d, k, entries)
	return planGraphOutOfCore(w, shape, anchors, statistics, c, max(placing, budget.ProfileColumnBytes*int64(d)+statistics))
}

// CheckThinFits returns an error if judging the anchors needs more memory than is left. This cannot be checked earlier,
// because the plan does not know the number of entries of the anchors.
func CheckThinFits(r *settled.Run, b budget.Budget, a *anchor.Anchors) error {
	need := trust.ThinGraphBytes(a.M, a.D, r.Bound.Anchors.Neighbors, r.Limits.Threads, int64(len(a.Thin.Index)))
	if room := b.ThinRoom(a.D) - anchor.EntriesBytes(a.M, int64(len(a.Thin.Index))); need > room {
		return b.ErrForLimit(&stream.MemoryError{What: "the graph of the anchors", Need: need, Limit: room})
	}
	return nil
}
