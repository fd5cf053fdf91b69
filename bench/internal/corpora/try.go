package corpora

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// outcome is the way in which a run of ufs-stream on a file ended.
type outcome string

const (
	wasRead outcome = "read"
	refused outcome = "refused" // with an error that names the fault of the file, or a thing that does not exist
	failed  outcome = "error"   // a panic, a signal, an internal fault, or an error message of Go's runtime
	hung    outcome = "hang"    // the deadline ended the run
)

// attempt is one run of ufs-stream on a file.
type attempt struct {
	outcome outcome
	code    int
	message string // without the program's name and the file's path
}

// goRuntimeWords matches words in messages of Go's runtime and packages, which must not reach users.
var goRuntimeWords = regexp.MustCompile(`panic: |fatal error: |runtime error|internal fault|goroutine \d|nil pointer|slice bounds|interface conversion|reflect[.:]|strconv\.|0xc000`)

func (r *run) tryVerb(ctx context.Context, f file, verb string, flags ...string) (attempt, error) {
	within, cancel := context.WithTimeout(ctx, r.giveUp)
	defer cancel()
	_, _, err := workshop.RunChild(within, r.shop.Program, append([]string{verb, f.path, "--quiet"}, flags...)...)
	if ctx.Err() != nil {
		return attempt{}, ctx.Err()
	}
	var child *workshop.ChildError
	switch {
	case err == nil:
		return attempt{outcome: wasRead}, nil
	case !errors.As(err, &child):
		return attempt{}, err
	case child.TimedOut:
		return attempt{hung, child.Code, "no end after " + r.giveUp.String()}, nil
	}
	return classifyFailure(child.Code, child.Stderr, f.path), nil
}

func classifyFailure(code int, said, path string) attempt {
	said = strings.TrimSpace(said)
	a := attempt{failed, code, said[strings.LastIndexByte(said, '\n')+1:]}
	for _, prefix := range []string{"ufs-stream: ", path + ": "} {
		a.message = strings.TrimPrefix(a.message, prefix)
	}
	a.message = strings.ReplaceAll(a.message, path, "FILE")
	switch {
	case goRuntimeWords.MatchString(said):
		if !goRuntimeWords.MatchString(a.message) { // the last line is part of a stack trace; find the line with the error
			at := goRuntimeWords.FindStringIndex(said)[0]
			a.message, _, _ = strings.Cut(said[strings.LastIndexByte(said[:at], '\n')+1:], "\n")
		}
	case code == exit.Usage || code == exit.Data || code == exit.Memory:
		a.outcome = refused
	}
	if a.message == "" {
		a.message = "it said nothing"
	}
	return a
}

func (r *run) tryFile(ctx context.Context, f file, copied string) (reading, copying attempt, err error) {
	if reading, err = r.tryVerb(ctx, f, "inspect", "--scan", "--times", "--format", "csv"); err != nil {
		return reading, copying, err
	}
	if err := os.RemoveAll(copied); err != nil {
		return reading, copying, err
	}
	copying, err = r.tryVerb(ctx, f, "convert", "--output", copied)
	return reading, copying, err
}
