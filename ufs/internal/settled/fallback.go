package settled

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/groups"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// If a request names no method, the recommended method selects. methods.Fallback selects if the recommended method
// cannot: because of the request, because memory does not suffice, because of an error while gathering, or because the
// graph of the rows turns out to have no structure.

// NewSelectionRun returns the run of a request that selects. If the request leaves the method open, and nothing in it
// rules out the recommended method, the run uses that method, and r.Fallback is the run that may replace it.
func NewSelectionRun(ctx context.Context, q request.Request) (*Run, error) {
	request.KeepStdin(&q)
	if q.Choice.Method != "" {
		return NewRun(ctx, q)
	}
	plain := q
	plain.Choice.Method = methods.Fallback
	if q.Plan != "" {
		r, err := NewRun(ctx, q)
		switch {
		case err != nil:
			return nil, err
		case r.PlanHeader.Method == methods.Recommended: // recorded by plans that name no method
			return addFallback(ctx, r, plain)
		case r.PlanHeader.Method != "":
			r.MethodReason = stream.Textf("the one of the plan file")
			return r, nil
		}
	}
	best, spec, err := recommendedSpecs(q.Choice.Methods)
	switch {
	case err != nil:
		return nil, err
	case best == nil:
		return NewRun(ctx, q)
	}
	if why, settled := fallbackReason(&q, *best, spec); settled {
		r, err := NewRun(ctx, plain)
		if err == nil {
			r.MethodReason = why
		} else if why.String() == "" { // the request has an option that neither method has
			err = stream.Usagef("%w; name the {method} that it is for", err)
		}
		return r, err
	}
	q.Choice.Method = best.Name
	r, err := NewRun(ctx, q)
	if err != nil {
		return nil, err
	}
	// Options of the graph have no meaning for the fallback.
	plain.Choice.Options = method.Settings{}
	declared := spec.Declare().Options
	for option, value := range q.Choice.Options {
		if declared.Find(option) != nil {
			plain.Choice.Options[option] = value
		}
	}
	return addFallback(ctx, r, plain)
}

func addFallback(ctx context.Context, r *Run, plain request.Request) (*Run, error) {
	var err error
	r.MethodReason = stream.Textf("the recommended one")
	r.Fallback, err = NewRun(ctx, plain)
	return r, err
}

// NewGatheringRun returns the run of a request that gathers statistics. If the request names no method, and nothing in
// it rules out the recommended method, the statistics are for that method; the fallback can select from them too.
func NewGatheringRun(ctx context.Context, q request.Request) (*Run, error) {
	request.KeepStdin(&q)
	if q.Choice.Method != "" || q.Plan != "" {
		return NewRun(ctx, q)
	}
	best, plain, err := recommendedSpecs(q.Choice.Methods)
	if err != nil {
		return nil, err
	}
	if best != nil {
		if _, ruledOut := fallbackReason(&q, *best, plain); !ruledOut {
			q.Choice.Method = best.Name
		}
	}
	return NewRun(ctx, q)
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

func fallbackReason(q *request.Request, best, plain method.Spec) (why stream.Text, ruledOut bool) {
	because := func(format string, args ...any) (stream.Text, bool) { return stream.Textf(format, args...), true }
	ownOptions, fallbackOptions := best.Declare().Options, plain.Declare().Options
	for _, option := range request.SortedKeys(q.Choice.Options) {
		switch known := fallbackOptions.Find(option) != nil; {
		case ownOptions.Find(option) != nil:
		case known:
			return because("{"+option+"} is not for method %s", best.Name)
		default:
			return because("")
		}
	}
	switch {
	case q.Choice.Sketch != "" || q.Choice.Reads > 0:
		return because("another pass makes the scores that a {sketch} estimates exact")
	case q.Columns.Weight != "" && !best.Takes.Weight:
		return because("{weight} is not for method %s", best.Name)
	case q.Choice.MinGain != 0 && !best.Takes.MinGain:
		return because("{min-gain} counts the share that features explain, and method %s does not choose by it", best.Name)
	case groups.BindingOption(q, best.Takes) != "":
		return because("{"+groups.BindingOption(q, best.Takes)+"} is not for method %s, which has no score of every feature", best.Name)
	case q.Choice.Variance != 0 && !best.Takes.Variance:
		return because("{variance} is not for method %s", best.Name)
	}
	return stream.Text{}, false
}

// CanFallBack reports whether the fallback may succeed after the error of this method. It cannot for bad data, which
// are bad for all methods, or for a request with options that only this method has.
func CanFallBack(r *Run, err error) bool {
	for option := range r.Original.Choice.Options {
		if r.Fallback.Bound.Declare().Options.Find(option) == nil {
			return false
		}
	}
	var m *stream.MemoryError
	return errors.As(err, &m) && m.OfMemory() || errors.As(err, new(*stream.UsageError))
}

func FallbackRun(r *Run, why error) *Run {
	p := r.Fallback
	p.MethodReason = stream.Textf("method %s cannot be served: %v", r.Bound.Name, why)
	return p
}

func IsScaleOpen(r *Run) bool {
	return r.Bound.Takes.Sample && r.Original.Choice.Scale == "" && r.ParsedScale != gram.ScaleRank && (r.PlanHeader == nil || r.PlanHeader.Options["scale"] == "")
}
