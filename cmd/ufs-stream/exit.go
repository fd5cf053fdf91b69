package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The exit codes, all of them.
const (
	exitDone        = 0
	exitFault       = 1 // output cannot be written, or an internal fault
	exitUsage       = 2 // the request cannot be right, whatever the data
	exitData        = 3 // bad data or schema, missing or unreadable input
	exitMemory      = 4 // a memory limit cannot be met
	exitUnconverged = 5 // an objective that must fall rose, or --require-converged; the result is written
	exitInterrupted = 130
)

// exitCode maps an error to its code. An interruption comes first, because what
// it breaks off reports errors of its own; a failed output comes before the data
// it was made from.
func exitCode(err error) int {
	var (
		output *chunkio.OutputError
		usage  *stream.UsageError
		data   *stream.DataError
		memory *stream.MemoryError
		open   *unconverged
	)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &output):
		return exitFault
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &memory):
		return exitMemory
	case errors.As(err, &data):
		return exitData
	case errors.As(err, &open):
		return exitUnconverged
	}
	return exitFault
}

// report says on standard error what went wrong and returns the exit code.
func (c *cli) report(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
		fmt.Fprintln(c.err, "ufs-stream: interrupted")
		var resume *resumable
		if errors.As(err, &resume) {
			fmt.Fprintf(c.err, "progress is saved in %s; go on with:\n  %s\n", resume.dir, c.commandLine())
		}
		var unsaved *chunkio.OutputError
		if errors.As(err, &unsaved) {
			fmt.Fprintf(c.err, "ufs-stream: %v\n", unsaved)
		}
		return exitCode(err)
	}
	fmt.Fprintf(c.err, "ufs-stream: %v\n", err)
	return exitCode(err)
}

// resumable is an interruption whose progress was saved.
type resumable struct {
	dir string
	err error
}

func (r *resumable) Error() string { return r.err.Error() }
func (r *resumable) Unwrap() error { return r.err }
