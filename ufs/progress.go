package ufs

// trackProgress calls makeStep for the step p, and reports its progress until makeStep returns. If it makes several
// passes, or has other progress to show, it calls next.
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

func (r *run) showReading(name string) (ended func(error)) {
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
