package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// report says on standard error what went wrong and returns the exit code.
func (c *cli) report(ctx context.Context, err error) int {
	if err == nil {
		return exit.Done
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
		fmt.Fprintln(c.err, "ufs-stream: interrupted")
		var resume *resumable
		if errors.As(err, &resume) {
			fmt.Fprintf(c.err, "progress is saved in %s; go on with:\n  %s\n", resume.dir, c.commandLine())
		}
		var unsaved *stream.OutputError
		if errors.As(err, &unsaved) {
			fmt.Fprintf(c.err, "ufs-stream: %s\n", unsaved.Spell(flagOf))
		}
		return exit.Code(err)
	}
	fmt.Fprintf(c.err, "ufs-stream: %s\n", stream.Spell(err, flagOf))
	return exit.Code(err)
}

// resumable is an interruption whose progress was saved.
type resumable struct {
	dir string
	err error
}

func (r *resumable) Error() string { return r.err.Error() }
func (r *resumable) Unwrap() error { return r.err }

// spelled writes texts with their options as flags. The result is never nil.
func spelled(texts []stream.Text) []string {
	lines := make([]string, len(texts))
	for i, t := range texts {
		lines[i] = t.Spell(flagOf)
	}
	return lines
}

// flagOf spells an option as its flag.
func flagOf(option string) string {
	if len(option) == 1 {
		return "-" + option
	}
	return "--" + option
}

// spelled are sentences with their options as flags.
func spelled(texts []stream.Text) []string {
	var out []string
	for _, t := range texts {
		out = append(out, t.Spell(flagOf))
	}
	return out
}
