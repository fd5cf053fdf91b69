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

// correlations are those of all features, gathered or read, with what their record takes.
type correlations struct {
	*alike.Matrix
	columns   []stream.Column // in the order of the matrix, which is that of the names
	mean, std []float64
	at        map[string]int // places of the names
	ranked    bool           // they are of normal scores, whose units say nothing

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

// correlate gathers the correlations of the features of the request, or reads them from its
// statistics, and hands them to use, within the bounds of the request: beside is what use holds
// for d features beside the matrix.
func (q Request) correlate(ctx context.Context, beside func(d int) int64, use func(*correlations) error) error {
	return q.correlateAs(ctx, nil, beside, use)
}

// correlateAs is correlate. Of the request of a selection, nil for none, what its statistics do not know is left out,
// and so are the columns that it left out: they take no part in what it explains.
func (q Request) correlateAs(ctx context.Context, of *stream.Selection, beside func(d int) int64, use func(*correlations) error) error {
	begin := time.Now()
	q.Method, q.Options, q.K, q.AutoK, q.Variance, q.MinGain, q.Keep = methods.Fallback, nil, 1, false, 0, 0, nil
	if q.Scale != scaleRank { // any other is settled afterwards
		q.Scale = ""
	}
	if q.Methods = nil; q.Meter == nil {
		q.Meter = new(stream.Meter)
	}
	if err := q.limits(); err != nil {
		return err
	}
	end, err := q.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	fetched, parts := q.Meter.Transfer(), q.Meter.Busy.Parts()
	g, e, err := q.gatherCorrelations(ctx, of != nil, beside)
	if err = q.blamed(err); err != nil && of == nil { // a selection's columns are what they are
		err = tooWide(err)
	}
	if err != nil {
		return err
	}
	if err := e.close(); err != nil {
		return err
	}
	if of != nil {
		e.leaveOut(of.LeftOut)
	} else {
		tellFilled(g.run, listFilled(g.run, e))
	}
	solving := time.Now()
	c, err := g.correlations(e)
	if err != nil {
		return q.blamed(placed(err, e))
	}
	c.transfer = q.Meter.Transfer().Since(fetched)
	c.timing = stream.Timing{Wall: time.Since(begin).Seconds(), Parts: q.Meter.Busy.Parts().Since(parts)}
	c.memory.Limit = q.Memory
	if err := use(c); err != nil {
		return q.blamed(err)
	}
	c.timing.Solve, c.timing.Wall, c.memory.PeakRSS = time.Since(solving).Seconds(), time.Since(begin).Seconds(), peakMemory()
	return nil
}

// leaveOut takes these columns out of what was gathered, with their reasons.
func (e *gathered) leaveOut(list []stream.LeftOut) {
	why := make(map[string]string, len(list))
	for _, l := range list {
		why[l.Name] = l.Why
	}
	for j, c := range e.columns {
		if reason, out := why[c.Name]; out {
			e.drop(j)
			e.leftOut = append(e.leftOut, c.LeftOut(reason))
		}
	}
}

// tooWide adds what helps where d² numbers are too many.
func tooWide(err error) error {
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) && m.OfMemory() {
		return stream.Errorf("%w; or ask for fewer features, {columns} or {exclude}: the correlations of all pairs are in memory", err)
	}
	return err
}

func (q Request) gatherCorrelations(ctx context.Context, recorded bool, beside func(d int) int64) (*gatherer, *gathered, error) {
	if q.Stats == "" {
		r, err := q.settle(ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := r.settleCategories(ctx); err != nil {
			return nil, nil, err
		}
		r.unjudged = true
		g := &gatherer{run: r, from: method.FromGram}
		g.plan = func(ds *chunkio.Dataset) (Budget, error) {
			d := len(ds.Columns())
			solver := beside(d)
			if r.Missing == missingPairwise {
				solver = max(solver, linalg.ClipBytes(d))
			}
			more := r.rankBytes(ds, d)
			b, err := r.planPass(ds, r.gramBytes(ds)+more, solver)
			b.spread = more
			return b, err
		}
		e, err := g.obtain(ctx)
		return g, e, err
	}
	file, err := q.openStats(ctx, q.Stats) // once for all that is read of it
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if err := isKind(file.Path(), file.Header.Kind); err != nil {
		return nil, nil, err
	}
	if k := file.Header.Kind; k == kindSketch || k == kindSketchedGraph {
		return nil, nil, stream.Usagef("%s holds a sketch of the rows, which only estimates correlations; make Gram statistics: ufs-stream scan INPUT… {o} FILE.ufs", file.Path())
	}
	if recorded {
		q.fitTo(recordedIn(file.Header))
	}
	limit, own := q.Memory, beside(len(file.Header.Columns))
	q.Memory = max(limit-own, 1)
	r, err := q.settle(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.unjudged = true
	g := &gatherer{run: r, from: method.FromGram}
	e, err := g.fromFile(file)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		err = &stream.MemoryError{What: "this run", Need: m.Need + own, Limit: limit}
	}
	return g, e, err
}

// correlations makes the matrix of what was gathered, which is used up.
func (g *gatherer) correlations(e *gathered) (*correlations, error) {
	if g.scale != gram.ScaleRank {
		g.Scale, g.scale = gram.ScaleStandard.String(), gram.ScaleStandard
	}
	s := &stream.Selection{LeftOut: append([]stream.LeftOut{}, e.leftOut...), Warnings: append([]string{}, spelled(e.warnings, g.Spelling)...)}
	t, err := g.take(e, s)
	if err != nil {
		return nil, err
	}
	m := t.Gram
	data := alike.Data{Names: columnNames(t.Columns), Gram: m.Sym, Rows: m.Rows}
	for k, j := range m.Columns {
		away := (m.Mean[k] - e.profile.Columns[j].Pilot) / m.Std[k]
		data.Lever = append(data.Lever, math.Sqrt(1+away*away))
	}
	c := &correlations{
		Matrix: alike.New(kernel.NewTeam(g.Threads), data), at: make(map[string]int), ranked: g.scale == gram.ScaleRank,
		rows: e.profile.Seen, rowsUsed: e.profile.Rows, scale: g.Scale, missing: g.Missing,
		leftOut: s.LeftOut, inputs: e.inputs, passes: e.passes, warnings: s.Warnings,
	}
	for k, j := range c.Source {
		c.columns = append(c.columns, t.Columns[j])
		c.mean, c.std = append(c.mean, m.Mean[j]), append(c.std, m.Std[j])
		c.at[c.Names[k]] = k
	}
	return c, nil
}

// Term is a column in a linear combination.
type Term struct {
	Name string `json:"name"`
	// Weight is in the units of the two columns, null where these are ranks; Standardized is in
	// standard deviations.
	Weight       stream.Number `json:"weight"`
	Standardized stream.Number `json:"standardized"`
}

// term is column i with its standardized weight in a combination for column j.
func (c *correlations) term(j, i int, weight float64) Term {
	own := weight * c.std[j] / c.std[i]
	if c.ranked {
		own = math.NaN()
	}
	return Term{Name: c.Names[i], Weight: stream.Number(own), Standardized: stream.Number(weight)}
}

// constant is what a combination for column j adds to its terms: 0 where that is within a share of rounding of
// the column's variance.
func (c *correlations) constant(j int, terms []Term, rounding float64) stream.Number {
	sum := c.mean[j]
	for _, t := range terms {
		sum -= float64(t.Weight) * c.mean[c.at[t.Name]]
	}
	if math.Abs(sum) <= math.Sqrt(rounding)*c.std[j] {
		return 0
	}
	return stream.Number(sum)
}

// LinearCombination is a column that others determine, as far as float64 can tell.
type LinearCombination struct {
	Name     string        `json:"name"`
	Constant stream.Number `json:"constant"`
	Terms    []Term        `json:"terms"`
	Left     stream.Number `json:"left"`      // share of the column's variance that is left
	Bound    stream.Number `json:"tolerance"` // up to which that is rounding
}

func (c *correlations) combination(from alike.Combination) LinearCombination {
	out := LinearCombination{Name: c.Names[from.Column], Left: stream.Number(max(from.Left, 0)), Bound: stream.Number(from.Bound), Terms: []Term{}}
	for _, t := range from.Terms {
		out.Terms = append(out.Terms, c.term(from.Column, t.Column, t.Weight))
	}
	out.Constant = c.constant(from.Column, out.Terms, from.Bound)
	return out
}

// copyOf is what a copy is of the first of them.
func (c *correlations) copyOf(first int, n alike.Near) Copy {
	t := c.term(n.Column, first, n.Correlation)
	rounding := c.Bound(n.Column, []int{first}, []float64{n.Correlation})
	return Copy{Name: c.Names[n.Column], Weight: t.Weight, Constant: c.constant(n.Column, []Term{t}, rounding)}
}

// Copy is a column that is another one times a weight, and a constant.
type Copy struct {
	Name     string        `json:"name"`
	Weight   stream.Number `json:"weight"`
	Constant stream.Number `json:"constant"`
}

// inflation is a VIF, which is infinite where the other columns determine the column.
func inflation(vif float64) (v stream.Number, determined bool) {
	return stream.Number(vif), math.IsInf(vif, 1)
}
