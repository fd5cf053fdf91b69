// Package exit defines the exit codes of all programs, and maps errors to them.
package exit

import (
	"cmp"
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/stream"
)

// All exit codes of the programs.
const (
	Done        = 0
	Fault       = 1  // output cannot be written, or the program has an internal fault
	Usage       = 2  // the request is wrong for any data
	Data        = 3  // bad data or schema, missing or unreadable input
	Memory      = 4  // a memory limit cannot be met
	Unconverged = 5  // an objective rose instead of falling, or --require-converged was not met; the result is written
	Stale       = 6  // a selection no longer fits the data, so select again; the result is written
	Undecided   = 7  // it cannot be decided whether a selection still fits the data; the result is written
	TryAgain    = 75 // a store or the network is down or busy: the same command may succeed later
	Interrupted = 130
)

// Table lists the codes, one per line, for people and for the retry rules of a scheduler. Repeating a command may help
// after 75, 130 and deaths by a signal. After 1 it may help on another machine. After all other codes it never helps.
const Table = `  0    done
  1    the output cannot be written, or an internal fault
  2    usage: the request cannot be right
  3    bad, missing or changed data
  4    a memory or scratch limit is too low
  5    not converged; the result is written
  6    check: select again
  7    check: cannot tell whether the selection still serves
  75   a store or the network is down or busy: try again
  130  interrupted (SIGINT, SIGTERM)`

// CodeOf maps an error to its exit code. If several codes apply, an interruption comes first, because it causes other
// errors. A temporary error comes next, because it may have made inputs and outputs unreachable. An error of the output
// comes before an error of the data. Other error types, as in bench, may choose a code by a method ExitsWith.
func CodeOf(err error) int {
	var child interface{ ExitsWith() int }
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled):
		return Interrupted
	case stream.Temporary(err):
		return TryAgain
	case is[*stream.OutputError](err):
		return Fault
	case is[*stream.UsageError](err):
		return Usage
	case is[*stream.MemoryError](err):
		return Memory
	case is[*stream.DataError](err):
		return Data
	case is[*stream.UnconvergedError](err):
		return Unconverged
	case is[*stream.StaleError](err):
		return Stale
	case is[*stream.UndecidedError](err):
		return Undecided
	case errors.As(err, &child):
		return child.ExitsWith()
	}
	return Fault
}

// KindOf names the class of errors that a code stands for, for programs.
func KindOf(code int) string {
	kinds := map[int]string{Usage: "usage", Data: "data", Memory: "memory", Unconverged: "unconverged", Stale: "stale", Undecided: "undecided", TryAgain: "temporary", Interrupted: "interrupted"}
	return cmp.Or(kinds[code], "fault")
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
