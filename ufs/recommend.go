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

// If a request names no method, the recommended method selects. methods.Fallback selects if the recommended method
// cannot: because of the request, because memory does not suffice, because of an error while gathering, or because the
// graph of the rows turns out to have no structure.

// newSelectionRun returns the run of a request that selects. If the request leaves the method open, and nothing in it
// rules out the recommended method, the run uses that method, and r.fallback is the run that may replace it.
func (q Request) newSelectionRun(ctx context.Context) (*run, error) {
	q.keepStdin()
	if q.Method != "" {
		return q.newRun(ctx)
	}
	plain := q
	plain.Method = methods.Fallback
	if q.Plan != "" {
		r, err := q.newRun(ctx)
		switch {
		case err != nil:
			return nil, err
		case r.planHeader.Method == methods.Recommended: // recorded by plans that name no method
			return addFallback(ctx, r, plain)
		case r.planHeader.Method != "":
			r.methodReason = stream.Textf("the one of the plan file")
			return r, nil
		}
	}
	best, spec, err := recommendedSpecs(q.Methods)
	switch {
	case err != nil:
		return nil, err
	case best == nil:
		return q.newRun(ctx)
	}
	if why, settled := q.fallbackReason(*best, spec); settled {
		r, err := plain.newRun(ctx)
		if err == nil {
			r.methodReason = why
		} else if why.String() == "" { // the request has an option that neither method has
			err = stream.Usagef("%w; name the {method} that it is for", err)
		}
		return r, err
	}
	q.Method = best.Name
	r, err := q.newRun(ctx)
	if err != nil {
		return nil, err
	}
	// Options of the graph have no meaning for the fallback.
	plain.Options = method.Settings{}
	declared := spec.Declare().Options
	for option, value := range q.Options {
		if declared.Find(option) != nil {
			plain.Options[option] = value
		}
	}
	return addFallback(ctx, r, plain)
}

func addFallback(ctx context.Context, r *run, plain Request) (*run, error) {
	var err error
	r.methodReason = stream.Textf("the recommended one")
	r.fallback, err = plain.newRun(ctx)
	return r, err
}

// newGatheringRun returns the run of a request that gathers statistics. If the request names no method, and nothing in
// it rules out the recommended method, the statistics are for that method; the fallback can select from them too.
func newGatheringRun(ctx context.Context, q Request) (*run, error) {
	q.keepStdin()
	if q.Method != "" || q.Plan != "" {
		return q.newRun(ctx)
	}
	best, plain, err := recommendedSpecs(q.Methods)
	if err != nil {
		return nil, err
	}
	if best != nil {
		if _, ruledOut := q.fallbackReason(*best, plain); !ruledOut {
			q.Method = best.Name
		}
	}
	return q.newRun(ctx)
}

// recommendedSpecs finds the recommended method and the fallback in list; an empty list means all methods. best is nil
// if list does not contain the recommended method.
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

func (q *Request) fallbackReason(best, plain method.Spec) (why stream.Text, ruledOut bool) {
	because := func(format string, args ...any) (stream.Text, bool) { return stream.Textf(format, args...), true }
	ownOptions, fallbackOptions := best.Declare().Options, plain.Declare().Options
	for _, option := range sortedKeys(q.Options) {
		switch known := fallbackOptions.Find(option) != nil; {
		case ownOptions.Find(option) != nil:
		case known:
			return because("{"+option+"} is not for method %s", best.Name)
		default:
			return because("")
		}
	}
	switch {
	case q.Sketch != "" || q.Reads > 0:
		return because("another pass makes the scores that a {sketch} estimates exact")
	case q.Weight != "" && !best.Takes.Weight:
		return because("{weight} is not for method %s", best.Name)
	case q.MinGain != 0 && !best.Takes.MinGain:
		return because("{min-gain} counts the share that features explain, and method %s does not choose by it", best.Name)
	case q.bindingOption(best.Takes) != "":
		return because("{"+q.bindingOption(best.Takes)+"} is not for method %s, which has no score of every feature", best.Name)
	case q.Variance != 0 && !best.Takes.Variance:
		return because("{variance} is not for method %s", best.Name)
	}
	return stream.Text{}, false
}

// canFallBack reports whether the fallback may succeed after the error of this method. It cannot for bad data, which
// are bad for all methods, or for a request with options that only this method has.
func (r *run) canFallBack(err error) bool {
	for option := range r.original.Options {
		if r.fallback.Declare().Options.Find(option) == nil {
			return false
		}
	}
	var m *stream.MemoryError
	return errors.As(err, &m) && m.OfMemory() || errors.As(err, new(*stream.UsageError))
}

func (r *run) fallbackRun(why error) *run {
	p := r.fallback
	p.methodReason = stream.Textf("method %s cannot be served: %v", r.Name, why)
	return p
}

// gatherForSelection gathers statistics for the method of the run or, if that fails, for the fallback. The gatherer
// that it returns belongs to the method that will select. A statistics file is opened only once for both.
func (r *run) gatherForSelection(ctx context.Context) (*gatherer, *bundle, error) {
	obtain := func(g *gatherer) (*bundle, error) { return g.obtainStatistics(ctx) }
	if r.Stats != "" && r.fallback != nil {
		file, err := r.openStats(ctx, r.Stats)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		obtain = func(g *gatherer) (*bundle, error) { return g.gatherFromFile(file) }
	}
	g := newGatherer(r)
	e, err := obtain(g) // a stream that can be read only once is consumed after this
	if err == nil || r.fallback == nil || !r.canFallBack(err) || r.isSinglePassStream() {
		return g, e, err
	}
	if err := g.states.RemoveStates(); err != nil { // the states of one method are of no use to the other
		return nil, nil, err
	}
	passes := g.passes
	g = newGatherer(r.fallbackRun(err))
	g.passes = passes
	e, err = obtain(g)
	return g, e, err
}

func newGatherer(r *run) *gatherer {
	return &gatherer{run: r, gatherKind: r.From, plan: r.planSelection, takesSample: r.Takes.Sample}
}

// decideBySurvey surveys the sample of rows, if the method uses one. The survey determines the scale, if the request
// leaves it open, and the method. If the sample has no more clusters than the covariances explain, the fallback selects
// from the same statistics, because their moments allow any scale.
func decideBySurvey(ctx context.Context, g *gatherer, e *bundle) (err error) {
	if !g.Takes.Sample {
		return nil
	}
	g.note("looking at a sample of the rows")
	scale := g.Scale
	if isScaleOpen(g.run) {
		scale = ""
	}
	if e.survey, err = surveySample(ctx, g, e, scale); err != nil {
		return withPlace(err, e)
	}
	if isScaleOpen(g.run) {
		g.scale, g.Scale = e.survey.Scale, e.survey.Scale.String()
	}
	if g.fallback == nil {
		return nil
	}
	g.methodReason = stream.Textf("the recommended one; %v", e.survey.Why)
	if !e.survey.Greedy {
		return nil
	}
	from := g.run
	g.run = from.fallback
	g.Stability, g.Stats, g.Seed = from.Stability, from.Stats, from.Seed
	g.methodReason = e.survey.WhyGreedy
	if g.Stats == "" {
		return nil
	}
	return g.checkRecorded(e)
}

func isScaleOpen(r *run) bool {
	return r.Takes.Sample && r.original.Scale == "" && r.scale != gram.ScaleRank && (r.planHeader == nil || r.planHeader.Options["scale"] == "")
}

// surveyedRows returns the number of rows that the survey uses. If statistics keep more rows than the request surveys,
// the survey uses the first of them, because a smaller sample is the beginning of a larger one.
func surveyedRows(r *run, drawn anchor.Drawn) int {
	if r.GraphRows > 0 {
		return min(r.GraphRows, drawn.Len())
	}
	return drawn.Len()
}

// surveySample surveys the sample of rows in e under the given scale. If scale is "", the survey chooses the scale that
// fits the columns.
func surveySample(ctx context.Context, g *gatherer, e *bundle, scale string) (*survey.Survey, error) {
	std, err := gram.NewStandardizer(e.profile, e.columns, gram.ScaleStandard, g.missingFill())
	if err != nil {
		return nil, err
	}
	if e.takesPart != nil {
		std.Keep(e.takesPart)
	}
	drawn := anchor.Drawn(e.sample)
	if e.sample == nil {
		drawn = anchor.DrawnOf(e.factor, surveyRows(g.run, len(e.columns)), g.Seed)
	}
	sampled := anchor.TableOf(drawn, surveyedRows(g.run, drawn), std.Columns, g.Threads)
	t := &survey.Table{Rows: sampled.Rows, Cols: sampled.Cols, Values: sampled.Values, Thin: sampled.CSR}
	if t.Thin != nil && !survey.StaysThin(t.Rows, t.Cols) {
		t.MakeDense()
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
	options := g.Solver.(method.Surveyor).SurveyOptions()
	s, err := survey.ExamineTable(ctx, t, survey.Options{
		Scale: scale, Diffusion: options.Diffusion, Neighbors: options.Neighbors, Anchors: t.Rows,
		Seed: g.Seed, Threads: g.Threads, Limit: e.plan.Solver,
	})
	if err != nil {
		return nil, err
	}
	if e.moments == nil && e.factor == nil {
		e.thinColumns = s.ThinColumnsOf(t)
	}
	// The shares are indexed by gathered column, because a half-sample may lack columns that are constant in it.
	shares := make([]float64, len(e.columns))
	for k, j := range std.Columns {
		shares[j] = s.Shares[k]
	}
	s.Shares = shares
	return s, nil
}
