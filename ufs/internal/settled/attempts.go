package settled

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/groups"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Attempts are the runs that may answer a request, in the order in which they are tried. If a request names no method,
// they are a run of the recommended method and one of methods.Fallback. The second selects if the first cannot: because
// memory does not suffice, because of an error while gathering, or because the rows turn out to have no clusters.
type Attempts []*Run

// NewAttempts returns the attempts at a request that selects.
func NewAttempts(ctx context.Context, q request.Request) (Attempts, error) {
	request.KeepStdin(&q)
	if q.Choice.Method != "" {
		return attemptsOfOneRun(NewRun(ctx, q))
	}
	plain := q
	plain.Choice.Method = methods.Fallback
	if q.Input.Plan != "" {
		r, err := NewRun(ctx, q)
		switch {
		case err != nil:
			return nil, err
		case r.PlanHeader.Method == methods.Recommended: // recorded by plans that name no method
			return attemptsWithFallback(ctx, r, plain)
		case r.PlanHeader.Method != "":
			r.MethodReason = stream.Textf("the one of the plan file")
			return Attempts{r}, nil
		}
	}
	best, spec, err := recommendedSpecs(q.Choice.Methods)
	switch {
	case err != nil:
		return nil, err
	case best == nil:
		return attemptsOfOneRun(NewRun(ctx, q))
	}
	if why, settled := reasonForFallback(&q, *best, spec); settled {
		r, err := NewRun(ctx, plain)
		if err == nil {
			r.MethodReason = why
		} else if why.String() == "" { // the request has an option that neither method has
			err = stream.Usagef("%w; name the {method} that it is for", err)
		}
		return attemptsOfOneRun(r, err)
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
	return attemptsWithFallback(ctx, r, plain)
}

func attemptsOfOneRun(r *Run, err error) (Attempts, error) {
	if err != nil {
		return nil, err
	}
	return Attempts{r}, nil
}

func attemptsWithFallback(ctx context.Context, recommended *Run, fallbackRequest request.Request) (Attempts, error) {
	fallback, err := NewRun(ctx, fallbackRequest)
	if err != nil {
		return nil, err
	}
	recommended.MethodReason = stream.Textf("the recommended one")
	return Attempts{recommended, fallback}, nil
}

// LeftAfter returns the attempts that are left after an error of the first one. It returns nil if the next one cannot
// succeed: because bad data are bad for all methods, or because only the first method has the options of the request.
func (a Attempts) LeftAfter(err error) Attempts {
	var m *stream.MemoryError
	mayServe := errors.As(err, &m) && m.OfMemory() || errors.As(err, new(*stream.UsageError))
	if len(a) < 2 || !mayServe {
		return nil
	}
	for option := range a[0].Original.Choice.Options {
		if a[1].Bound.Declare().Options.Find(option) == nil {
			return nil
		}
	}
	a[1].MethodReason = stream.Textf("method %s cannot be served: %v", a[0].Bound.Name, err)
	return a[1:]
}

// NewGatheringRun returns the run of a request that gathers statistics. If the request names no method, and nothing in
// it rules out the recommended method, the statistics are for that method; the fallback can select from them too.
func NewGatheringRun(ctx context.Context, q request.Request) (*Run, error) {
	request.KeepStdin(&q)
	if q.Choice.Method != "" || q.Input.Plan != "" {
		return NewRun(ctx, q)
	}
	best, plain, err := recommendedSpecs(q.Choice.Methods)
	if err != nil {
		return nil, err
	}
	if best != nil {
		if _, ruledOut := reasonForFallback(&q, *best, plain); !ruledOut {
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

func reasonForFallback(q *request.Request, recommended, fallback method.Spec) (why stream.Text, ruledOut bool) {
	because := func(format string, args ...any) (stream.Text, bool) { return stream.Textf(format, args...), true }
	ownOptions, fallbackOptions := recommended.Declare().Options, fallback.Declare().Options
	for _, option := range request.SortedKeys(q.Choice.Options) {
		switch known := fallbackOptions.Find(option) != nil; {
		case ownOptions.Find(option) != nil:
		case known:
			return because("{"+option+"} is not for method %s", recommended.Name)
		default:
			return because("")
		}
	}
	switch {
	case q.Choice.Sketch != "" || q.Choice.Reads > 0:
		return because("another pass makes the scores that a {sketch} estimates exact")
	case len(q.Choice.ExplainColumns) > 0 && !recommended.Takes.Explain:
		return because("{explain-columns} is not for method %s", recommended.Name)
	case q.Columns.Weight != "" && !recommended.Takes.Weight:
		return because("{weight} is not for method %s", recommended.Name)
	case q.Choice.MinGain != 0 && !recommended.Takes.MinGain:
		return because("{min-gain} counts the share that features explain, and method %s does not choose by it", recommended.Name)
	case groups.BindingOption(q, recommended.Takes) != "":
		return because("{"+groups.BindingOption(q, recommended.Takes)+"} is not for method %s, which has no score of every feature", recommended.Name)
	case q.Choice.Variance != 0 && !recommended.Takes.Variance:
		return because("{variance} is not for method %s", recommended.Name)
	}
	return stream.Text{}, false
}

// SettleSize settles the number of features if the request does not: it sets AutoK, or uses the default number if the
// method has no exact Gram matrix.
func (a Attempts) SettleSize() {
	for _, r := range a {
		switch isGiven := r.Choice.K > 0 || r.Choice.AutoK || r.Choice.Variance > 0 || r.Choice.MinGain > 0 || r.Choice.Budget > 0; {
		case isGiven:
		case !r.Bound.From.UsesGram():
			r.setDefaultSize(stream.Textf("that rests on the Gram matrix of all features, and method %s makes none; path with {method} greedy recommends a number", r.Bound.Name))
		case r.SketchRows > 0 || r.Choice.Reads > 0:
			r.setDefaultSize(noSizeFromSketchReason())
		default:
			r.Choice.AutoK, r.AutoSize = true, true
		}
	}
}

// UseDefaultSize makes the attempts that find the number of features only by default choose the default number, unless
// the reason is empty.
func (a Attempts) UseDefaultSize(why stream.Text) {
	if why.Format == "" {
		return
	}
	for _, r := range a {
		if r.AutoSize {
			r.setDefaultSize(why)
		}
	}
	a[0].Notef("%d features: %v", request.DefaultK, a[0].SizeReason)
}

// UseSketchSize makes the run choose the default number of features, if it finds the number only by default.
func (r *Run) UseSketchSize() {
	if r.AutoSize {
		r.setDefaultSize(noSizeFromSketchReason())
	}
}

func (r *Run) setDefaultSize(why stream.Text) {
	r.Choice.AutoK, r.AutoSize = false, false
	r.SizeReason = stream.Textf("the default, because the number of features worth keeping is unknown: %v", why)
}

func noSizeFromSketchReason() stream.Text {
	return stream.Textf("that rests on the exact Gram matrix, and a {sketch} estimates it; path without {sketch} recommends a number")
}

// MemorySizeReason returns the reason for DefaultK that finding the number of features takes need bytes of memory.
func MemorySizeReason(need int64) stream.Text {
	return stream.Textf("that takes more memory than there is, and {memory-limit} %dMiB is enough", (need+1<<20-1)>>20)
}
