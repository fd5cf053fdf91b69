package ufs

// trackProgress calls makeStep, which makes one step of the run, and reports the beginning (p) and the end of the step.
// If the step has several passes or other progress to show, makeStep calls next.
func (q *Request) trackProgress(p Progress, makeStep func(next func(Progress)) error) error {
	if q.Progress == nil {
		return makeStep(func(Progress) {})
	}
	last := p
	q.Progress(p)
	err := makeStep(func(p Progress) {
		last = p
		q.Progress(p)
	})
	last.Done, last.Failed = true, err != nil
	q.Progress(last)
	return err
}

func (r *run) reportReading(name string) (ended func(error)) {
	if r.Progress == nil {
		return func(error) {}
	}
	p := Progress{What: "reading " + name, Pass: 1, Passes: 1, Rows: -1}
	r.Progress(p)
	return func(err error) {
		p.Done, p.Failed = true, err != nil
		r.Progress(p)
	}
}
