package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ufs-stream/ufs-stream/internal/program"
)

// resumable is an interruption whose progress was saved.
type resumable struct {
	dir string
	err error
}

func (r *resumable) Error() string { return r.err.Error() }
func (r *resumable) Unwrap() error { return r.err }

// sayHowToResume shows the command that goes on where an interruption saved its progress.
func (c *cli) sayHowToResume(err error) {
	var resume *resumable
	if errors.As(err, &resume) {
		fmt.Fprintf(c.err, "progress is saved in %s; go on with:\n  %s\n", resume.dir, program.ShellQuote(os.Args[0], c.args))
	}
}
