package relating

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/alike"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/caching"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// FitToStats removes options from the recorded request q that cannot be applied to statistics with the given header:
// names of columns that the statistics lack, and options for steps that only a scan makes.
func FitToStats(q *request.Request, head *statistics.Bundle) {
	names := wording.ColumnNames(head.Columns)
	known := func(option string, patterns []string) []string {
		return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
			_, err := chunkio.Match(option, []string{p}, names)
			return err != nil
		})
	}
	q.Columns.Names, q.Columns.Exclude = known("columns", q.Columns.Names), known("exclude", q.Columns.Exclude)
	if !slices.Contains(names, q.Columns.Label) {
		q.Columns.Label = ""
	}
	// The policies that fill missing values can be chosen after the scan. The other policies acted during the scan.
	if kept := request.KeptMissing(); !slices.Contains(kept, q.Columns.Missing) || !slices.Contains(kept, head.Options["missing"]) {
		q.Columns.Missing = ""
	}
}

// correlations holds the correlations of all features, and a description of their data.
type correlations struct {
	*alike.Matrix
	columns   []stream.Column // in the order of the matrix, as in Names
	mean, std []float64
	index     map[string]int // index of each name
	isRank    bool           // the correlations are of normal scores, which have no meaningful units

	rows, rowsUsed int64
	scale, missing string
	leftOut        []stream.LeftOut
	inputs         []stream.Input
	passes         int
	warnings       []string
	timing         stream.Timing
	memory         stream.Memory
	transfer       *stream.Transfer
}

// withCorrelations computes the correlations of the features of request q, from its inputs or from its statistics file,
// and calls use with the correlations. Both steps stay within the limits of q. The function use needs reserved(d) bytes
// of memory for d features. If selection is not nil, q is the request of this selection. Then options that the
// statistics do not have are ignored, and columns that the selection left out are left out, because the selection does
// not explain them.
func withCorrelations(ctx context.Context, q request.Request, selection *stream.Selection, reserved func(d int) int64, use func(*correlations) error) error {
	q.Choice.Method, q.Choice.Options, q.Choice.K, q.Choice.AutoK, q.Choice.Variance, q.Choice.MinGain, q.Choice.Keep = methods.Fallback, nil, 1, false, 0, 0, nil
	if q.Choice.Scale != request.ScaleRank { // any other scale is applied after the statistics are read
		q.Choice.Scale = ""
	}
	q.Choice.Methods = nil
	return caching.Answer(ctx, q, func(q request.Request) error {
		return computeCorrelations(ctx, q, selection, reserved, use)
	})
}

func computeCorrelations(ctx context.Context, q request.Request, selection *stream.Selection, reserved func(d int) int64, use func(*correlations) error) error {
	begin := time.Now()
	end, err := budget.ApplyLimits(ctx, &q)
	if err != nil {
		return err
	}
	defer end()
	fetched, parts := q.Hooks.Meter.Transfer(), q.Hooks.Meter.Busy.Parts()
	g, e, err := gatherCorrelations(ctx, q, selection != nil, reserved, &gathering.Gatherer{Planner: planCorrelations(reserved)})
	if err = gathering.BlameStats(&q, err); err != nil && selection == nil { // errTooManyFeatures has no advice for a selection
		err = errTooManyFeatures(err)
	}
	if err != nil {
		return err
	}
	if err := e.Close(); err != nil {
		return err
	}
	if selection != nil {
		e.LeaveOutColumns(selection.LeftOut)
	} else {
		settled.NoteFilled(g.Run, settled.ListFilled(g.Run, e))
	}
	solving := time.Now()
	c, err := newCorrelations(g, e)
	if err != nil {
		return gathering.BlameStats(&q, statistics.WithPlace(err, e))
	}
	c.transfer = q.Hooks.Meter.Transfer().Since(fetched)
	c.timing = stream.Timing{Wall: time.Since(begin).Seconds(), Parts: q.Hooks.Meter.Busy.Parts().Since(parts)}
	c.memory.Limit = q.Limits.Memory
	if err := use(c); err != nil {
		return gathering.BlameStats(&q, err)
	}
	c.timing.Solve, c.timing.Wall, c.memory.PeakRSS = time.Since(solving).Seconds(), time.Since(begin).Seconds(), budget.PeakMemory()
	return nil
}

// errTooManyFeatures adds advice to an error about too little memory for the correlations of all pairs of features.
func errTooManyFeatures(err error) error {
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) && m.OfMemory() {
		return stream.Errorf("%w; or ask for fewer features, {columns} or {exclude}: the correlations of all pairs are in memory", err)
	}
	return err
}

func planCorrelations(reserved func(d int) int64) planning.Planner {
	return func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
		d := len(ds.Columns())
		solver := reserved(d)
		if r.Columns.Missing == request.MissingPairwise {
			solver = max(solver, linalg.ClipBytes(d))
		}
		more := planning.RankBytes(r, ds, d)
		b, err := planning.PlanPass(r, ds, planning.GramBytes(r, ds)+more, solver)
		b.SideStatistics = more
		return b, err
	}
}

func gatherCorrelations(ctx context.Context, q request.Request, isRecorded bool, reserved func(d int) int64, g *gathering.Gatherer) (*gathering.Gatherer, *statistics.Bundle, error) {
	if q.Stats == "" {
		r, err := settled.NewRun(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		if err := settled.PrepareFeatures(ctx, r); err != nil {
			return nil, nil, err
		}
		r.SkipsTrust = true
		g.Run, g.GatherKind, g.Passes = r, method.FromGram, r.EarlierPasses
		e, err := g.ObtainStatistics(ctx)
		return g, e, err
	}
	file, err := statistics.OpenStats(ctx, &q, q.Stats) // opened once for everything that is read from it
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if err := statistics.CheckKind(file.Path(), file.Header.Kind); err != nil {
		return nil, nil, err
	}
	if k := file.Header.Kind; k == statistics.KindSketch || k == statistics.KindSketchedGraph {
		return nil, nil, stream.Usagef("%s holds a sketch of the rows, which only estimates correlations; make Gram statistics: ufs-stream scan INPUT… {o} FILE.ufs", file.Path())
	}
	if isRecorded {
		FitToStats(&q, statistics.NewBundle(file.Header))
	}
	limit, own := q.Limits.Memory, reserved(len(file.Header.Columns))
	q.Limits.Memory = max(limit-own, 1)
	r, err := settled.NewRun(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	r.SkipsTrust = true
	g.Run, g.GatherKind = r, method.FromGram
	e, err := gathering.GatherFromFile(g, file)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		err = &stream.MemoryError{What: "this run", Need: m.Need + own, Limit: limit}
	}
	return g, e, err
}

func newCorrelations(g *gathering.Gatherer, e *statistics.Bundle) (*correlations, error) {
	if g.Run.ParsedScale != gram.ScaleRank {
		g.Run.Choice.Scale, g.Run.ParsedScale = gram.ScaleStandard.String(), gram.ScaleStandard
	}
	s := &stream.Selection{LeftOut: append([]stream.LeftOut{}, e.LeftOut...), Warnings: append([]string{}, wording.SpellAll(e.Warnings, g.Run.Hooks.Spelling)...)}
	t, err := selecting.NewUnboundTrial(g, e, s)
	if err != nil {
		return nil, err
	}
	m := t.Gram
	data := alike.Data{Names: wording.ColumnNames(t.Columns), Gram: m.Sym, Rows: m.Rows}
	for k, j := range m.Columns {
		distance := (m.Mean[k] - e.Profile.Columns[j].Pilot) / m.Std[k]
		data.Lever = append(data.Lever, math.Sqrt(1+distance*distance))
	}
	c := &correlations{
		Matrix: alike.New(kernel.NewTeam(g.Run.Limits.Threads), data), index: make(map[string]int), isRank: g.Run.ParsedScale == gram.ScaleRank,
		rows: e.Profile.Seen, rowsUsed: e.Profile.Rows, scale: g.Run.Choice.Scale, missing: g.Run.Columns.Missing,
		leftOut: s.LeftOut, inputs: e.Inputs, passes: e.Passes, warnings: s.Warnings,
	}
	for k, j := range c.Source {
		c.columns = append(c.columns, t.Columns[j])
		c.mean, c.std = append(c.mean, m.Mean[j]), append(c.std, m.Std[j])
		c.index[c.Names[k]] = k
	}
	return c, nil
}

func (c *correlations) newTerm(target, column int, weight float64) result.Term {
	own := weight * c.std[target] / c.std[column]
	if c.isRank {
		own = math.NaN()
	}
	return result.Term{Name: c.Names[column], Weight: stream.Number(own), Standardized: stream.Number(weight)}
}

// constantTerm returns the constant term of a linear combination of columns (terms) that equals column j. It returns 0
// if the term is only a rounding error, i.e. if its square is at most rounding times the variance of column j.
func (c *correlations) constantTerm(j int, terms []result.Term, rounding float64) stream.Number {
	sum := c.mean[j]
	for _, t := range terms {
		sum -= float64(t.Weight) * c.mean[c.index[t.Name]]
	}
	if math.Abs(sum) <= math.Sqrt(rounding)*c.std[j] {
		return 0
	}
	return stream.Number(sum)
}

func (c *correlations) newLinearCombination(from alike.Combination) result.LinearCombination {
	out := result.LinearCombination{Name: c.Names[from.Column], Left: stream.Number(max(from.Residual, 0)), Bound: stream.Number(from.Bound), Terms: []result.Term{}}
	for _, t := range from.Terms {
		out.Terms = append(out.Terms, c.newTerm(from.Column, t.Column, t.Weight))
	}
	out.Constant = c.constantTerm(from.Column, out.Terms, from.Bound)
	return out
}

// newCopy expresses column n.Column, a copy of column original, as a linear function of it.
func (c *correlations) newCopy(original int, n alike.Near) result.Copy {
	t := c.newTerm(n.Column, original, n.Correlation)
	rounding := c.RoundingBound(n.Column, []int{original}, []float64{n.Correlation})
	return result.Copy{Name: c.Names[n.Column], Weight: t.Weight, Constant: c.constantTerm(n.Column, []result.Term{t}, rounding)}
}

// vifNumber converts a variance inflation factor (VIF) for JSON. determined reports whether it is infinite, because the
// other columns determine the column.
func vifNumber(vif float64) (v stream.Number, determined bool) {
	return stream.Number(vif), math.IsInf(vif, 1)
}
