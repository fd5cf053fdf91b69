package main

import "context"

// turnToken lets one scan or merge run at a time in a worker process, however many bundles the runner
// gives it: the limits of memory and threads are those of the Go runtime, which the process has
// once (see package ufs), and one scan uses all the cores that it may. It belongs to the process
// as those limits do; that is why it is a variable of the package.
var turnToken = make(chan struct{}, 1)

// runInTurn runs work once it is its turn.
func runInTurn[T any](ctx context.Context, work func() (T, error)) (done T, err error) {
	select {
	case turnToken <- struct{}{}:
	case <-ctx.Done():
		return done, context.Cause(ctx)
	}
	defer func() { <-turnToken }()
	return work()
}
