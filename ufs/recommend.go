package ufs

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/anchor"
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
	if q.Plan != "" {
		r, err := q.settle(ctx)
		switch {
		case err != nil:
			return nil, err
		case r.plan.Method != "":
			r.why = stream.Textf("the one of the plan file")
			return r, nil
		}
	}
	list := q.Methods
	if len(list) == 0 {
		list = methods.All()
	}
	best, err := methods.Find(list, methods.Recommended)
	if err != nil { // not among those to choose from
		return q.settle(ctx)
	}
	plain := q
	plain.Method = methods.Fallback
	spec, err := methods.Find(list, methods.Fallback)
	if err != nil {
		return nil, err
	}
	if why, settled := q.whyFallback(best, spec); settled {
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
	r.why = recommendedOne()
	r.plain, err = plain.settle(ctx)
	return r, err
}

// recommendedOne is why the recommended method runs.
func recommendedOne() stream.Text { return stream.Textf("the recommended one") }

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
	case q.passing():
		return because("a stream of Arrow IPC passes once, unless a {temp-dir} is named to keep it in, and method %s reads its input twice", best.Name)
	case q.Missing == missingPairwise && best.From == method.FromGraph:
		return because("{missing} pairwise is for methods on the Gram matrix, and method %s needs every entry of a row", best.Name)
	case q.excludes() && best.From == method.FromGraph && (q.Stats != "" || q.Sparse != ""):
		return because("{auto-exclude} and {max-missing} cannot take columns out of whole rows as method %s sees them, in statistics or sparse", best.Name)
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

// selecting gathers for the method that then selects: the run's own, or the fallback.
func (r *run) selecting(ctx context.Context) (*gatherer, *gathered, error) {
	if r.Stats != "" && r.plain != nil {
		return r.selectingFrom(ctx)
	}
	g := &gatherer{run: r, from: r.From, plan: r.planSelection}
	e, err := g.obtain(ctx)
	if err != nil && r.plain != nil && r.unserved(err) {
		if err := g.states.Clear(); err != nil { // which are of no use to the other method
			return nil, nil, err
		}
		p := r.instead(err)
		g = &gatherer{run: p, from: p.From, plan: p.planSelection, passes: g.passes}
		if e, err = g.obtain(ctx); err != nil {
			return nil, nil, err
		}
		return g, e, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return g, e, g.distrust(e)
}

// selectingFrom is selecting from a statistics file, which is opened once.
func (r *run) selectingFrom(ctx context.Context) (*gatherer, *gathered, error) {
	file, err := r.openStats(ctx, r.Stats)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	g := &gatherer{run: r, from: r.From, plan: r.planSelection}
	var e *gathered
	if file.Header.Kind != kindGraph && file.Header.Kind != kindSketchedGraph {
		err = stream.Usagef("the statistics hold no anchor graph, which scan {method} %s makes", r.Name)
	} else {
		e, err = r.fromFile(file)
	}
	if err != nil && r.unserved(err) {
		g.run = r.instead(err)
		g.from, g.plan = g.From, g.planSelection
		e, err = g.fromFile(file)
	}
	if err != nil {
		return nil, nil, err
	}
	return g, e, g.distrust(e)
}

// distrust puts the fallback in place of the recommended method where the graph shows no
// structure. It selects from the same statistics, whose moments take any scale.
func (g *gatherer) distrust(e *gathered) error {
	if g.plain == nil || e.graph == nil {
		return nil
	}
	known := e.graph.Trust()
	if known == (anchor.Trust{}) || known.Structured() {
		return nil
	}
	from := g.run
	g.run = from.plain
	g.Stability = from.Stability
	g.trust = known
	g.why = stream.Textf("the graph of the rows shows no structure, so that method %s has nothing to go by", from.Name)
	if from.Stats != "" {
		g.why = stream.Textf("the graph of the rows in the statistics, which is of {scale} %s, shows no structure, so that method %s has nothing to go by; from the data other scales are tried, as scan {method} %[2]s {scale} %[3]s makes them", from.Scale, from.Name, otherScales(from.scale))
	}
	e.graph = nil
	if g.Stats == "" {
		return nil
	}
	g.Stats = from.Stats // as it is called to people
	return g.recorded(e)
}
