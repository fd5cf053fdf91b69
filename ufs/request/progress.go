package request

// TrackProgress calls makeStep, which makes one step of the run, and reports the beginning (p) and the end of the step.
// If the step has several passes or other progress to show, makeStep calls next.
func TrackProgress(q *Request, p Progress, makeStep func(next func(Progress)) error) error {
	if q.Hooks.Progress == nil {
		return makeStep(func(Progress) {})
	}
	last := p
	q.Hooks.Progress(p)
	err := makeStep(func(p Progress) {
		last = p
		q.Hooks.Progress(p)
	})
	last.Done, last.Failed = true, err != nil
	q.Hooks.Progress(last)
	return err
}
