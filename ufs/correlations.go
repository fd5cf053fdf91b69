package ufs

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/alike"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

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
// of memory for d features.
func (q Request) withCorrelations(ctx context.Context, reserved func(d int) int64, use func(*correlations) error) error {
	return q.withCorrelationsFor(ctx, nil, reserved, use)
}

// withCorrelationsFor does the work of withCorrelations. If selection is not nil, q is the request of this selection.
// Then options that the statistics do not have are ignored, and columns that the selection left out are left out,
// because the selection does not explain them.
func (q Request) withCorrelationsFor(ctx context.Context, selection *stream.Selection, reserved func(d int) int64, use func(*correlations) error) error {
	begin := time.Now()
	q.Method, q.Options, q.K, q.AutoK, q.Variance, q.MinGain, q.Keep = methods.Fallback, nil, 1, false, 0, 0, nil
	if q.Scale != scaleRank { // any other scale is applied after the statistics are read
		q.Scale = ""
	}
	if q.Methods = nil; q.Meter == nil {
		q.Meter = new(stream.Meter)
	}
	if err := q.fillLimits(); err != nil {
		return err
	}
	end, err := q.applyLimits(ctx)
	if err != nil {
		return err
	}
	defer end()
	fetched, parts := q.Meter.Transfer(), q.Meter.Busy.Parts()
	g, e, err := q.gatherCorrelations(ctx, selection != nil, reserved)
	if err = q.blameStats(err); err != nil && selection == nil { // errTooManyFeatures has no advice for a selection
		err = errTooManyFeatures(err)
	}
	if err != nil {
		return err
	}
	if err := e.close(); err != nil {
		return err
	}
	if selection != nil {
		e.leaveOutColumns(selection.LeftOut)
	} else {
		noteFilled(g.run, listFilled(g.run, e))
	}
	solving := time.Now()
	c, err := g.newCorrelations(e)
	if err != nil {
		return q.blameStats(withPlace(err, e))
	}
	c.transfer = q.Meter.Transfer().Since(fetched)
	c.timing = stream.Timing{Wall: time.Since(begin).Seconds(), Parts: q.Meter.Busy.Parts().Since(parts)}
	c.memory.Limit = q.Memory
	if err := use(c); err != nil {
		return q.blameStats(err)
	}
	c.timing.Solve, c.timing.Wall, c.memory.PeakRSS = time.Since(solving).Seconds(), time.Since(begin).Seconds(), peakMemory()
	return nil
}

func (e *bundle) leaveOutColumns(list []stream.LeftOut) {
	why := make(map[string]string, len(list))
	for _, l := range list {
		why[l.Name] = l.Why
	}
	for j, c := range e.columns {
		if reason, out := why[c.Name]; out {
			e.dropColumn(j)
			e.leftOut = append(e.leftOut, c.LeftOut(reason))
		}
	}
}

// errTooManyFeatures adds advice to an error about too little memory for the correlations of all pairs of features.
func errTooManyFeatures(err error) error {
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) && m.OfMemory() {
		return stream.Errorf("%w; or ask for fewer features, {columns} or {exclude}: the correlations of all pairs are in memory", err)
	}
	return err
}

func (q Request) gatherCorrelations(ctx context.Context, recorded bool, reserved func(d int) int64) (*gatherer, *bundle, error) {
	if q.Stats == "" {
		r, err := q.newRun(ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := r.findCategories(ctx); err != nil {
			return nil, nil, err
		}
		r.skipsTrust = true
		g := &gatherer{run: r, gatherKind: method.FromGram}
		g.plan = func(ds *chunkio.Dataset) (Budget, error) {
			d := len(ds.Columns())
			solver := reserved(d)
			if r.Missing == missingPairwise {
				solver = max(solver, linalg.ClipBytes(d))
			}
			more := r.rankBytes(ds, d)
			b, err := r.planPass(ds, r.gramBytes(ds)+more, solver)
			b.sideStatistics = more
			return b, err
		}
		e, err := g.obtainStatistics(ctx)
		return g, e, err
	}
	file, err := q.openStats(ctx, q.Stats) // opened once for everything that is read from it
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if err := checkKind(file.Path(), file.Header.Kind); err != nil {
		return nil, nil, err
	}
	if k := file.Header.Kind; k == kindSketch || k == kindSketchedGraph {
		return nil, nil, stream.Usagef("%s holds a sketch of the rows, which only estimates correlations; make Gram statistics: ufs-stream scan INPUT… {o} FILE.ufs", file.Path())
	}
	if recorded {
		q.fitToStats(newBundle(file.Header))
	}
	limit, own := q.Memory, reserved(len(file.Header.Columns))
	q.Memory = max(limit-own, 1)
	r, err := q.newRun(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.skipsTrust = true
	g := &gatherer{run: r, gatherKind: method.FromGram}
	e, err := g.gatherFromFile(file)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		err = &stream.MemoryError{What: "this run", Need: m.Need + own, Limit: limit}
	}
	return g, e, err
}

func (g *gatherer) newCorrelations(e *bundle) (*correlations, error) {
	if g.scale != gram.ScaleRank {
		g.Scale, g.scale = gram.ScaleStandard.String(), gram.ScaleStandard
	}
	s := &stream.Selection{LeftOut: append([]stream.LeftOut{}, e.leftOut...), Warnings: append([]string{}, spellAll(e.warnings, g.Spelling)...)}
	t, err := g.newUnboundTrial(e, s)
	if err != nil {
		return nil, err
	}
	m := t.Gram
	data := alike.Data{Names: columnNames(t.Columns), Gram: m.Sym, Rows: m.Rows}
	for k, j := range m.Columns {
		distance := (m.Mean[k] - e.profile.Columns[j].Pilot) / m.Std[k]
		data.Lever = append(data.Lever, math.Sqrt(1+distance*distance))
	}
	c := &correlations{
		Matrix: alike.New(kernel.NewTeam(g.Threads), data), index: make(map[string]int), isRank: g.scale == gram.ScaleRank,
		rows: e.profile.Seen, rowsUsed: e.profile.Rows, scale: g.Scale, missing: g.Missing,
		leftOut: s.LeftOut, inputs: e.inputs, passes: e.passes, warnings: s.Warnings,
	}
	for k, j := range c.Source {
		c.columns = append(c.columns, t.Columns[j])
		c.mean, c.std = append(c.mean, m.Mean[j]), append(c.std, m.Std[j])
		c.index[c.Names[k]] = k
	}
	return c, nil
}

// Term is a column with its weight in a linear combination.
type Term struct {
	Name string `json:"name"`
	// Weight is in the units of the two columns, and null if the columns are ranks. Standardized is the same weight for
	// columns in units of their standard deviations.
	Weight       stream.Number `json:"weight"`
	Standardized stream.Number `json:"standardized"`
}

func (c *correlations) newTerm(j, i int, weight float64) Term {
	own := weight * c.std[j] / c.std[i]
	if c.isRank {
		own = math.NaN()
	}
	return Term{Name: c.Names[i], Weight: stream.Number(own), Standardized: stream.Number(weight)}
}

// constantTerm returns the constant term of a linear combination that gives column j. It returns 0 if the term is only
// a rounding error, i.e. if its square is at most rounding times the variance of column j.
func (c *correlations) constantTerm(j int, terms []Term, rounding float64) stream.Number {
	sum := c.mean[j]
	for _, t := range terms {
		sum -= float64(t.Weight) * c.mean[c.index[t.Name]]
	}
	if math.Abs(sum) <= math.Sqrt(rounding)*c.std[j] {
		return 0
	}
	return stream.Number(sum)
}

// LinearCombination is a column that a linear combination of other columns equals, as far as float64 can show.
type LinearCombination struct {
	Name     string        `json:"name"`
	Constant stream.Number `json:"constant"`
	Terms    []Term        `json:"terms"`
	Left     stream.Number `json:"left"`      // share of the column's variance that the terms do not explain
	Bound    stream.Number `json:"tolerance"` // the largest value of Left that counts as rounding error
}

func (c *correlations) newLinearCombination(from alike.Combination) LinearCombination {
	out := LinearCombination{Name: c.Names[from.Column], Left: stream.Number(max(from.Residual, 0)), Bound: stream.Number(from.Bound), Terms: []Term{}}
	for _, t := range from.Terms {
		out.Terms = append(out.Terms, c.newTerm(from.Column, t.Column, t.Weight))
	}
	out.Constant = c.constantTerm(from.Column, out.Terms, from.Bound)
	return out
}

// newCopy expresses n, a copy of column first, as a linear function of column first.
func (c *correlations) newCopy(first int, n alike.Near) Copy {
	t := c.newTerm(n.Column, first, n.Correlation)
	rounding := c.RoundingBound(n.Column, []int{first}, []float64{n.Correlation})
	return Copy{Name: c.Names[n.Column], Weight: t.Weight, Constant: c.constantTerm(n.Column, []Term{t}, rounding)}
}

// Copy is a column that equals another column times a weight, plus a constant.
type Copy struct {
	Name     string        `json:"name"`
	Weight   stream.Number `json:"weight"`
	Constant stream.Number `json:"constant"`
}

// vifNumber converts a variance inflation factor (VIF) for JSON. determined reports whether it is infinite, because the
// other columns determine the column.
func vifNumber(vif float64) (v stream.Number, determined bool) {
	return stream.Number(vif), math.IsInf(vif, 1)
}
