package main

import "context"

// turnToken lets one scan or merge run at a time in a worker process, whatever number of bundles the runner assigns
// to it. The limits of memory and threads belong to the Go runtime, hence to the process (see package ufs), and one
// scan uses all permitted cores. It belongs to the process like those limits, so it is a package variable.
var turnToken = make(chan struct{}, 1)

func runInTurn[T any](ctx context.Context, work func() (T, error)) (done T, err error) {
	select {
	case turnToken <- struct{}{}:
	case <-ctx.Done():
		return done, context.Cause(ctx)
	}
	defer func() { <-turnToken }()
	return work()
}
