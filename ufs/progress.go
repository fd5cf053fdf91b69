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
