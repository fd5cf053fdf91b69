// Package exit has the exit codes of the project's programs, in one place: which they are,
// and which error leads to which.
package exit

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/stream"
)

// The exit codes, all of them.
const (
	Done        = 0
	Fault       = 1 // output cannot be written, or an internal fault
	Usage       = 2 // the request cannot be right, whatever the data
	Data        = 3 // bad data or schema, missing or unreadable input
	Memory      = 4 // a memory limit cannot be met
	Unconverged = 5 // an objective that must fall rose, or --require-converged; the result is written
	Interrupted = 130
)

// Code maps an error to its code. An interruption comes first, because what it breaks
// off reports errors of its own; a failed output comes before the data it was made from.
// Errors of none of these kinds may say by ExitsWith (ExitCode is os/exec's) what theirs is.
func Code(err error) int {
	var (
		output *stream.OutputError
		usage  *stream.UsageError
		data   *stream.DataError
		memory *stream.MemoryError
		open   *stream.UnconvergedError
		own    interface{ ExitsWith() int }
	)
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.As(err, &output):
		return Fault
	case errors.As(err, &usage):
		return Usage
	case errors.As(err, &memory):
		return Memory
	case errors.As(err, &data):
		return Data
	case errors.As(err, &open):
		return Unconverged
	case errors.As(err, &own):
		return own.ExitsWith()
	}
	return Fault
}
