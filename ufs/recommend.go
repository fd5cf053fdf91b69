package ufs

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/survey"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Where a request names no method, the recommended one selects, and methods.Fallback where
// that cannot be: the reason shows in what the request asks for, in the plan of the memory, on the
// way, or in the end, where the graph of the rows turns out to have no structure.

// settleSelection settles a request that selects. The run is of the recommended method, with
// what replaces it in r.plain, where the request leaves the method open and nothing in it speaks
// against that.
func (q Request) settleSelection(ctx context.Context) (*run, error) {
	q.keepStdin()
	if q.Method != "" {
		return q.settle(ctx)
	}
	plain := q
	plain.Method = methods.Fallback
	if q.Plan != "" {
		r, err := q.settle(ctx)
		switch {
		case err != nil:
			return nil, err
		case r.plan.Method == methods.Recommended: // as plans that name none have it
			return withFallback(ctx, r, plain)
		case r.plan.Method != "":
			r.why = stream.Textf("the one of the plan file")
			return r, nil
		}
	}
	best, spec, err := recommendedSpecs(q.Methods)
	switch {
	case err != nil:
		return nil, err
	case best == nil:
		return q.settle(ctx)
	}
	if why, settled := q.whyFallback(*best, spec); settled {
		r, err := plain.settle(ctx)
		if err == nil {
			r.why = why
		} else if why.String() == "" { // an option of neither
			err = stream.Usagef("%w; name the {method} that it is for", err)
		}
		return r, err
	}
	q.Method = best.Name
	r, err := q.settle(ctx)
	if err != nil {
		return nil, err
	}
	// Options of the graph have no meaning without.
	plain.Options = method.Settings{}
	declared := spec.Declare().Options
	for option, value := range q.Options {
		if declared.Find(option) != nil {
			plain.Options[option] = value
		}
	}
	return withFallback(ctx, r, plain)
}

// withFallback makes r the run of the recommended method, with the fallback that plain asks for.
func withFallback(ctx context.Context, r *run, plain Request) (*run, error) {
	var err error
	r.why = stream.Textf("the recommended one")
	r.plain, err = plain.settle(ctx)
	return r, err
}

// settleGathering settles a request that gathers statistics. They are of the recommended method, from which
// the fallback can select too, if the request names none and nothing in it speaks against that.
func settleGathering(ctx context.Context, q Request) (*run, error) {
	q.keepStdin()
	if q.Method != "" || q.Plan != "" {
		return q.settle(ctx)
	}
	best, plain, err := recommendedSpecs(q.Methods)
	if err != nil {
		return nil, err
	}
	if best != nil {
		if _, ruledOut := q.whyFallback(*best, plain); !ruledOut {
			q.Method = best.Name
		}
	}
	return q.settle(ctx)
}

// recommendedSpecs finds the recommended method, nil if it is not in the list, and the fallback; an empty list is of all methods.
func recommendedSpecs(list []method.Spec) (best *method.Spec, plain method.Spec, err error) {
	if len(list) == 0 {
		list = methods.All()
	}
	at := slices.IndexFunc(list, func(s method.Spec) bool { return s.Name == methods.Recommended })
	if at < 0 {
		return nil, plain, nil
	}
	plain, err = methods.Find(list, methods.Fallback)
	return &list[at], plain, err
}

// whyFallback says why what the request asks for rules the recommended method out, if it does.
func (q *Request) whyFallback(best, plain method.Spec) (why stream.Text, ruledOut bool) {
	because := func(format string, args ...any) (stream.Text, bool) { return stream.Textf(format, args...), true }
	knows, alone := best.Declare().Options, plain.Declare().Options
	for _, option := range sortedKeys(q.Options) {
		switch known := alone.Find(option) != nil; {
		case knows.Find(option) != nil:
		case known:
			return because("{"+option+"} is not for method %s", best.Name)
		default:
			return because("")
		}
	}
	switch {
	case q.Sketch != "" || q.Reads > 0:
		return because("of what a {sketch} estimates another pass makes its scores exact")
	case q.Weight != "" && !best.Takes.Weight:
		return because("{weight} is not for method %s", best.Name)
	case q.MinGain != 0 && !best.Takes.MinGain:
		return because("{min-gain} goes by what features explain, and method %s does not choose by that", best.Name)
	case q.binding(best.Takes) != "":
		return because("{"+q.binding(best.Takes)+"} is not for method %s, which has no score of every feature", best.Name)
	case q.Variance != 0 && !best.Takes.Variance:
		return because("{variance} is not for method %s", best.Name)
	}
	return stream.Text{}, false
}

// unserved reports whether an error tells that the method cannot be served, where another one may
// be. Bad data are bad for all of them, and whoever asks for what only this method has wants no other.
func (r *run) unserved(err error) bool {
	for option := range r.asked.Options {
		if r.plain.Declare().Options.Find(option) == nil {
			return false
		}
	}
	var m *stream.MemoryError
	return errors.As(err, &m) && m.OfMemory() || errors.As(err, new(*stream.UsageError))
}

// instead is the run of the fallback, for the reason that the recommended method was not served.
func (r *run) instead(why error) *run {
	p := r.plain
	p.why = stream.Textf("method %s cannot be served: %v", r.Name, why)
	return p
}

// selecting gathers for the method that then selects: the run's own, or the fallback. A statistics file is
// opened once.
func (r *run) selecting(ctx context.Context) (*gatherer, *bundle, error) {
	obtain := func(g *gatherer) (*bundle, error) { return g.obtain(ctx) }
	if r.Stats != "" && r.plain != nil {
		file, err := r.openStats(ctx, r.Stats)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		obtain = func(g *gatherer) (*bundle, error) { return g.gatherFromFile(file) }
	}
	g := newGatherer(r)
	e, err := obtain(g) // what passes once is gone then
	if err == nil || r.plain == nil || !r.unserved(err) || r.passing() {
		return g, e, err
	}
	if err := g.states.Clear(); err != nil { // which are of no use to the other method
		return nil, nil, err
	}
	passes := g.passes
	g = newGatherer(r.instead(err))
	g.passes = passes
	e, err = obtain(g)
	return g, e, err
}

// newGatherer gathers what the method selects from.
func newGatherer(r *run) *gatherer {
	return &gatherer{run: r, gatherKind: r.From, plan: r.planSelection, takesSample: r.Takes.Sample}
}

// decideBySurvey looks at the sample of rows, if the method takes one, and settles by it the scale, if the request
// leaves it open, and the method: without clusters beyond what the covariances explain, the fallback selects
// from the same statistics, whose moments take any scale.
func decideBySurvey(ctx context.Context, g *gatherer, e *bundle) (err error) {
	if !g.Takes.Sample {
		return nil
	}
	g.note("looking at a sample of the rows")
	scale := g.Scale
	if isScaleOpen(g.run) {
		scale = ""
	}
	if e.survey, err = lookAtSample(ctx, g, e, scale); err != nil {
		return placed(err, e)
	}
	if isScaleOpen(g.run) {
		g.scale, g.Scale = e.survey.Scale, e.survey.Scale.String()
	}
	if g.plain == nil {
		return nil
	}
	g.why = stream.Textf("the recommended one; %v", e.survey.Why)
	if !e.survey.Greedy {
		return nil
	}
	from := g.run
	g.run = from.plain
	g.Stability, g.Stats, g.Seed = from.Stability, from.Stats, from.Seed
	g.why = e.survey.WhyGreedy
	if g.Stats == "" {
		return nil
	}
	return g.checkRecorded(e)
}

// isScaleOpen reports whether the sample of rows tells the scale.
func isScaleOpen(r *run) bool {
	return r.Takes.Sample && r.asked.Scale == "" && r.scale != gram.ScaleRank && (r.plan == nil || r.plan.Options["scale"] == "")
}

// rowsToLookAt are the rows of a sample that the request asks to look at: statistics may keep more, and fewer rows are
// the start of more.
func rowsToLookAt(r *run, drawn anchor.Drawn) int {
	if r.GraphRows > 0 {
		return min(r.GraphRows, drawn.Len())
	}
	return drawn.Len()
}

// lookAtSample looks at the sample of rows in e, in a scale or, if it is "", in that which fits the columns.
func lookAtSample(ctx context.Context, g *gatherer, e *bundle, scale string) (*survey.Survey, error) {
	std, err := gram.NewStandardizer(e.profile, e.columns, gram.ScaleStandard, g.fill())
	if err != nil {
		return nil, err
	}
	if e.wanted != nil {
		std.Keep(e.wanted)
	}
	drawn := anchor.Drawn(e.sample)
	if e.sample == nil {
		drawn = anchor.DrawnOf(e.wide, surveyRows(g.run, len(e.columns)), g.Seed)
	}
	sampled := anchor.TableOf(drawn, rowsToLookAt(g.run, drawn), std.Columns, g.Threads)
	t := &survey.Table{Rows: sampled.Rows, Cols: sampled.Cols, Values: sampled.Values, Thin: sampled.CSR}
	if t.Thin != nil && !survey.StaysThin(t.Rows, t.Cols) {
		t.Dense()
	}
	for k, j := range std.Columns {
		c := &e.profile.Columns[j]
		t.Columns = append(t.Columns, survey.Column{Mean: std.Mean[k], Std: std.Std[k], Min: c.Min, Max: c.Max, Category: e.columns[j].Type == stream.CategoryType})
		for i := k; i < len(t.Values); i += t.Cols {
			if t.Values[i] != t.Values[i] {
				t.Values[i] = std.Fill[k]
			}
		}
	}
	if t.Thin != nil {
		for e, k := range t.Thin.Index {
			if v := t.Thin.Value[e]; v != v {
				t.Thin.Value[e] = std.Fill[k]
			}
		}
	}
	asked := g.Solver.(method.Surveyor).SurveyOptions()
	s, err := survey.Look(ctx, t, survey.Options{
		Scale: scale, Diffusion: asked.Diffusion, Neighbors: asked.Neighbors, Anchors: t.Rows,
		Seed: g.Seed, Threads: g.Threads, Limit: e.plan.Solver,
	})
	if err != nil {
		return nil, err
	}
	if e.moments == nil && e.wide == nil {
		e.thin = s.ThinColumnsOf(t)
	}
	// By column gathered, as a column that is constant in a half-sample is no feature of it.
	shares := make([]float64, len(e.columns))
	for k, j := range std.Columns {
		shares[j] = s.Shares[k]
	}
	s.Shares = shares
	return s, nil
}
