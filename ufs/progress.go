package ufs

// track runs do, which makes the step p, and reports its progress until do returns. Where
// do makes several passes, or has something else to say of one, it does so by next.
func (q *Request) track(p Progress, do func(next func(Progress)) error) error {
	if q.Progress == nil {
		return do(func(Progress) {})
	}
	last := p
	q.Progress(p)
	err := do(func(p Progress) {
		last = p
		q.Progress(p)
	})
	last.Done, last.Failed = true, err != nil
	q.Progress(last)
	return err
}

// takingIn shows that a file of rows is read before any pass.
func (r *run) takingIn(name string) (ended func(error)) {
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
