package main

import "context"

// turnToken lets one scan or merge at a time run in a worker process, even if the runner assigns several bundles to the
// process. One scan uses all permitted cores. The limits of memory and threads apply to the whole process (see package
// ufs). So turnToken is a variable of the package, which the process has only once.
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
