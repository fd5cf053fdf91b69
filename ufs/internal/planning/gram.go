package planning

import (
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/judging/subset"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// gramKind plans for methods that select from the Gram matrix.
type gramKind struct{ columnKind }

func (gramKind) planSelection(w Workload, shape method.Shape) (budget.Budget, error) {
	if w.SketchRows > 0 {
		return planSketchedMethod(w, shape)
	}
	if makesGramOfSampleOnly(w) {
		if w.FindsSize() || w.Run.Choice.MinGain > 0 {
			return budget.Budget{}, stream.Usagef("{k} auto and {min-gain} need the Gram matrix, and for this many sparse columns method %s makes it only from a sample of the rows; give a number", w.Run.Bound.Name)
		}
		return planOutOfCore(w, shape)
	}
	in, err := planBestForm(w, func(rank int) (budget.Budget, error) { return planGram(w, shape, rank) })
	if w.Run.Bound.Takes.Sample { // the choice is based on sampled rows, whatever the limit
		return in, err
	}
	return chooseInOrOutOfCore(w, in, err, func() (budget.Budget, error) { return planOutOfCore(w, shape) })
}

func (gramKind) describeLastScan(Workload, *scalemodel.Job) scalemodel.Kind { return scalemodel.Gram }

// planGram plans a method on the Gram matrix in memory, in full or, if rank is not 0, as a factor of rank rows.
func planGram(w Workload, shape method.Shape, rank int) (budget.Budget, error) {
	d := len(w.Table.Columns())
	shape.Rank = rank
	cost, err := GramCost(w, shape)
	if err != nil {
		return budget.Budget{}, err
	}
	if w.Run.Columns.Missing == request.MissingPairwise { // before the method runs, the pairwise matrix is made semidefinite
		cost.Bytes = max(cost.Bytes, linalg.ClipBytes(d))
	}
	sideBytes := shardSplitterBytes(w, d) + RankBytes(w.Run, w.Table, d) + surveyBytes(w, rank)
	b, err := PlanPass(w.Run, w.Table, gramOrFactorBytes(w, rank)+sideBytes, cost.Bytes)
	if err == nil {
		b = addSizeRules(w, b, cost, rank, shape.Explain)
	}
	b.SideStatistics = sideBytes
	return b, err
}

// gramForms lists the possible forms of the Gram matrix for n rows of d features, the cheaper form first. 0 means the
// full matrix, and another number means a factor with that number of rows. A factor is cheaper if d ≥ 2n: gathering it
// needs no arithmetic, but the full matrix needs nd² operations, and the method is not slower with the factor.
func gramForms(w Workload) []int {
	n, d := factorRows(w), int64(len(w.Table.Columns()))
	switch {
	case n == 0 || n >= d:
		return []int{0}
	case 2*n <= d:
		return []int{int(n), 0}
	}
	return []int{0, int(n)}
}

// planBestForm plans with the cheaper form of the Gram matrix for ds (gramForms). If that form does not fit into
// memory, it plans with the other form.
func planBestForm(w Workload, plan func(rank int) (budget.Budget, error)) (budget.Budget, error) {
	forms := gramForms(w)
	best, err := plan(forms[0])
	best.Factor = int64(forms[0])
	if len(forms) == 1 || err != nil && !errors.As(err, new(*stream.MemoryError)) {
		return best, err
	}
	other, otherErr := plan(forms[1])
	other.Factor = int64(forms[1])
	if err == nil || other.Smallest == 0 || otherErr != nil && best.Smallest <= other.Smallest {
		if other.Smallest > 0 {
			best.Smallest, best.InMemory = min(best.Smallest, other.Smallest), min(best.InMemory, other.InMemory)
		}
		return best, err
	}
	return other, otherErr
}

// factorRows returns the largest number of rows that a factor of the Gram matrix may have. It returns 0 if the matrix
// cannot be a factor, or if the number of rows is unknown.
func factorRows(w Workload) int64 {
	lacksFactor := func(r *settled.Run) bool { return !r.Bound.Takes.Factor }
	if lacksFactor(w.Run) || slices.ContainsFunc(w.Later, lacksFactor) || w.Run.Choice.Stability > 0 || w.Run.Columns.Missing == request.MissingPairwise || w.Run.Stats != "" {
		return 0
	}
	n := w.Table.Rows()
	if w.Run.SampleRows > 0 {
		n = min(n, w.Run.SampleRows)
	}
	return max(n, 0)
}

// GramBytes returns the memory of the moments (Gram matrix and sums). With hash shards it includes theirs.
func GramBytes(r *settled.Run, ds *chunkio.Dataset) int64 {
	return gram.SharedBytes(len(ds.Columns()), ExpectedMissing(r, ds), r.Choice.Stability+1)
}

// HasNarrowRows reports whether the rows of a factor are kept as float32. This requires that the columns' types fit
// into float32, that ranks do not replace the values, and that the method accepts float32. Methods on a Gram matrix
// accept it. Methods on a graph need float64 unless they declare ByPanels, because they rotate the rows in place, or
// use them too often to convert them each time.
func HasNarrowRows(r *settled.Run, ds *chunkio.Dataset) bool {
	isTaken := r.Bound.From.UsesGramOnly()
	if panels, ok := r.Bound.Solver.(method.ByPanels); ok {
		isTaken = panels.ByPanels()
	}
	return isTaken && r.ParsedScale != gram.ScaleRank && ds.Singles()
}

func gramOrFactorBytes(w Workload, rowsOfFactor int) int64 {
	if rowsOfFactor > 0 {
		return gram.RowsBytes(len(w.Table.Columns()), int64(rowsOfFactor), HasNarrowRows(w.Run, w.Table))
	}
	return GramBytes(w.Run, w.Table)
}

// GramCost returns the cost of a method. Its memory, which comes on top of the statistics, also suffices to judge the
// choice later.
func GramCost(w Workload, shape method.Shape) (method.Cost, error) {
	cost, err := w.Run.Bound.Solver.Cost(shape)
	d := len(shape.Columns)
	if w.FindsSize() || w.Run.Bound.From.UsesGram() && w.AlwaysRunsSizeRules(d) {
		cost.Bytes = max(cost.Bytes, SizeBytes(w.Run, d, shape.Rank, shape.Explain))
	}
	cost.Bytes = max(cost.Bytes, subset.CurveBytes(d, min(shape.K, subset.MaxAppraised(d))))
	if settled.ComparesWithChance(w.Run) {
		cost.Bytes = max(cost.Bytes, subset.CompareBytes(d, shape.K))
	}
	if w.Run.Bound.Takes.Sample { // other methods may overwrite the matrix, and do not compute explained shares themselves
		cost.Bytes = max(cost.Bytes, judge.ExplainBytes(d, shape.K, shape.Rank))
	}
	for _, r := range w.Later {
		if err != nil {
			break
		}
		var other method.Cost
		other, err = GramCost(w.forAttempt(r), shape)
		cost.Bytes = max(cost.Bytes, other.Bytes)
	}
	return cost, err
}

// planOutOfCore plans a method on the Gram matrix that reads the rows again instead of using the matrix. Reading and
// the solver are in memory at the same time.
func planOutOfCore(w Workload, shape method.Shape) (budget.Budget, error) {
	shape.OutOfCore = true
	cost, err := w.Run.Bound.Solver.Cost(shape)
	if err != nil {
		return budget.Budget{}, err
	}
	b := budget.Budget{Limit: w.Run.Limits.Memory, Program: budget.ProgramBytes, Statistics: budget.ProfileColumnBytes*int64(len(shape.Columns)) + RankBytes(w.Run, w.Table, len(shape.Columns)) + surveyBytes(w, 0), OutOfCore: true}
	b.Smallest = b.Program + b.Statistics + w.Table.MinMemory() + cost.Least
	if b.Smallest > b.Limit {
		return b, b.ErrOverLimit()
	}
	// Reading gets a quarter of the memory, or less if the solver needs fewer passes with more memory. Selecting 50
	// features of basehock within 130 MiB took 22 passes with a quarter for reading, and 18 with the least memory for
	// reading.
	room, least := b.Limit-b.Program-b.Statistics, cost.Least
	for _, reading := range []int64{b.Limit / 4, b.Limit / 8, 0} {
		b.Reading = w.Table.MemoryFor(min(max(reading, w.Table.MinMemory()), room-least))
		shape.Memory = room - b.Reading
		if cost, err = w.Run.Bound.Solver.Cost(shape); err != nil || !cost.Cramped {
			break
		}
	}
	b.SpoolBytes = w.Table.ScratchFor(b.Reading)
	b.Solver, b.Peak, b.MethodPasses = shape.Memory, b.Limit, cost.Passes
	return b, err
}

// ExpectedMissing returns the number of features with missing values according to the metadata. For each of these
// features the statistics need more memory.
func ExpectedMissing(r *settled.Run, ds *chunkio.Dataset) int {
	if request.MissingPolicy(&r.Request) != stream.MissingKeep {
		return 0
	}
	return ds.WithNulls()
}

func makesGramOfSampleOnly(w Workload) bool {
	d := len(w.Table.Columns())
	n := factorRows(w)
	if n >= int64(d) {
		n = 0
	}
	return w.Run.Bound.Takes.Sample && w.Run.Choice.Stability == 0 && isRereadingBetter(w, n, d)
}

// isRereadingBetter reports whether rereading sparse rows is better than making a Gram matrix of d columns. n is the
// number of rows if the matrix is a factor, and 0 if it is full. Graph methods report the same in both cases, so for
// them rereading is better from a smaller d on. For 20,000 rows of 10,000 columns with 50 entries a row, graphgreedy
// took 27 s of CPU time and 2.4 GB with the matrix, and 5.3 s and 0.4 GB without.
func isRereadingBetter(w Workload, n int64, d int) bool {
	if n == 0 {
		n = int64(d)
	}
	return w.Run.Columns.Sparse != "" && 8*n*int64(d) >= largeMatrixBytes && (d >= minUnfactoredColumns || w.Run.Bound.From.UsesGraph() && isThinGraph(w, d))
}

// AlwaysRunsSizeRules reports whether the rules for the number of features run for d columns even if the request gives
// this number. The plan always includes their memory then, so that the report does not depend on the memory limit.
func (w Workload) AlwaysRunsSizeRules(d int) bool {
	return d <= CheapColumnCount && !w.Run.ManySettings && !w.Run.SkipsTrust && w.SketchRows == 0
}

// CheapColumnCount is the number of columns up to which the rules for the number of features run even if the request
// gives this number. On one core they take 0.03 s for 320 columns (with a dense solver for the eigenvalues), 0.3 s for
// 400, 0.9 s for 784 and 9 s for 3,000 columns.
const CheapColumnCount = 320

// SizeBytes returns the memory of recommendSize for d columns in addition to the Gram matrix. The matrix is full if
// rank is 0, or else a factor of rank rows. explained is the number of columns to explain, or 0.
func SizeBytes(r *settled.Run, d, rank, explained int) int64 {
	bytes := subset.SizeBytes(d, rank, explained)
	// These scales need a centred copy.
	if r.Bound.From.UsesGramOnly() && slices.Contains([]gram.Scale{gram.ScaleNone, gram.ScaleMinMax, gram.ScaleUnit}, r.ParsedScale) {
		if rank > 0 {
			return bytes + 8*int64(rank)*int64(d)
		}
		bytes += 8 * int64(d) * int64(d)
	}
	return bytes
}

func shardSplitterBytes(w Workload, columns int) int64 {
	if w.Run.Choice.Stability == 0 {
		return 0
	}
	return halves.SplitterBytes(columns, w.Run.Choice.Stability) + budget.ProfileColumnBytes*int64(columns)
}

// RankBytes returns the memory for ranks: their histograms, the table of scores, and a chunk of scored rows.
func RankBytes(r *settled.Run, ds stream.Source, d int) int64 {
	if r.ParsedScale != gram.ScaleRank {
		return 0
	}
	rows := ds.Rows()
	if r.WholeProfile != nil { // ds may then be only a shard
		rows = r.WholeProfile.Profile.Seen
	}
	return gram.RankHistogramsBytes(d, rows, r.Limits.Threads) + gram.ScoresBytes(d, rows)
}

// surveyBytes returns the memory of the sample of rows for a survey. It is 0 if the method does not use a sample. It is
// also 0 if rank is not 0: the Gram matrix is then a factor of rank rows, and the sample is a part of these rows.
func surveyBytes(w Workload, rank int) int64 {
	d := len(w.Table.Columns())
	rows := budget.CapAtTableRows(settled.SurveyRows(w.Run, d), w.Table)
	switch {
	case !w.Run.Bound.Takes.Sample || rank > 0:
		return 0
	case w.Run.Columns.Sparse != "":
		return anchor.EntriesBytes(rows, w.Table.RowEntries()*int64(rows))
	}
	return anchor.SamplerBytes(rows, d)
}

// PlanPass plans the memory of one pass over ds that fills statistics, and of a solver after it. statistics and solver
// are their bytes of memory. Reading and the solver are not in memory at the same time.
func PlanPass(r *settled.Run, ds *chunkio.Dataset, statistics, solver int64) (budget.Budget, error) {
	b := budget.Budget{Limit: r.Limits.Memory, Program: budget.ProgramBytes, Statistics: statistics, Solver: solver}
	b.Smallest = b.Program + statistics + max(ds.MinMemory(), solver)
	b.InMemory = b.Smallest
	if b.Smallest > b.Limit {
		return b, b.ErrOverLimit()
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - statistics)
	b.SpoolBytes = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + statistics + max(b.Reading, solver)
	return b, nil
}

// PlanRereading plans a run that has only a profile of ds in memory, besides `more` bytes of statistics, and then reads
// the rows again. The further passes get the rest of the memory, and need `least` bytes of it.
func PlanRereading(r *settled.Run, ds *chunkio.Dataset, more, least int64) (budget.Budget, error) {
	b := budget.Budget{Limit: r.Limits.Memory, Program: budget.ProgramBytes, OutOfCore: true}
	// The scaling and the names come after the profile, and each pass leaves garbage. With once these bytes, the peak for
	// 100,000 columns on a busy machine was 27 MiB above a limit of 2 GiB, with twice these bytes 12 MiB below it.
	b.Statistics = 3*budget.ProfileColumnBytes*int64(len(ds.Columns())) + more
	b.Smallest = b.Program + b.Statistics + ds.MinMemory() + least
	if b.Smallest > b.Limit {
		return b, b.ErrOverLimit()
	}
	room := b.Limit - b.Program - b.Statistics
	b.Reading = ds.MemoryFor(min(max(room/4, ds.MinMemory()), room-least))
	b.SpoolBytes = ds.ScratchFor(b.Reading)
	b.Solver, b.Peak = room-b.Reading, b.Limit
	return b, nil
}

func addSizeRules(w Workload, plan budget.Budget, cost method.Cost, rowsOfFactor, explained int) budget.Budget {
	d := len(w.Table.Columns())
	if plan.HasSizeRules = w.AlwaysRunsSizeRules(d); !w.Run.ReportsSizes || plan.HasSizeRules {
		return plan
	}
	rules := SizeBytes(w.Run, d, rowsOfFactor, explained)
	for _, r := range w.Later {
		rules = max(rules, SizeBytes(r, d, rowsOfFactor, explained))
	}
	more, err := PlanPass(w.Run, w.Table, plan.Statistics, max(cost.Bytes, rules)-plan.FreedStatistics)
	more.Solver, more.FreedStatistics = max(cost.Bytes, rules), plan.FreedStatistics
	if err != nil {
		return plan
	}
	more.Smallest, more.InMemory, more.HasSizeRules = plan.Smallest, plan.InMemory, true
	return more
}

// chooseInOrOutOfCore chooses between the given plan in, with a Gram matrix, and a plan made by planOut, without this
// matrix. It prefers plan in if it fits into memory, unless rereading the rows is better. err is the error of plan in.
func chooseInOrOutOfCore(w Workload, in budget.Budget, err error, planOut func() (budget.Budget, error)) (budget.Budget, error) {
	// Without a Gram matrix there are no half-samples, which are sums of matrices, no pairwise statistics, and no rules
	// for the number of features.
	if !w.Table.Replayable() || w.Run.Choice.Stability > 0 || w.FindsSize() || w.Run.Columns.Missing == request.MissingPairwise {
		return in, err
	}
	out, outErr := planOut()
	pays := gramForms(w)[0] == 0 || out.Smallest <= in.Smallest-in.Smallest/savingDivisor
	switch {
	case errors.As(outErr, new(*stream.UsageError)): // the settings of the method are only possible in memory
		return in, err
	case !pays:
		return in, err
	case err == nil && outErr == nil && isRereadingBetter(w, in.Factor, len(w.Table.Columns())):
		out.InMemory = out.Smallest // the run would not use more memory
		return out, nil
	case err == nil:
		in.Smallest = min(in.Smallest, out.Smallest)
		return in, nil
	case in.Smallest < out.Smallest: // both plans do not fit
		return in, err
	}
	out.InMemory = in.Smallest
	return out, outErr
}

// savingDivisor applies if the Gram matrix is cheaper as a factor than in full: the run goes out of core only if that
// saves at least 1/savingDivisor of the memory. Often it saves little, because a factor needs little more memory than
// the profile and the blocks that additional passes also need. For 200 rows of 10⁶ features, a run out of core would
// need 2.8 GiB instead of 2.9 GiB, and 9,000 passes instead of one.
const savingDivisor = 4
