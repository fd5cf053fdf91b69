package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

// isPermanent reports whether an error remains after any retry. A full disk (1) may concern a single machine, and a
// busy store (75) recovers. After these errors the runner retries a few times, perhaps on another machine.
func isPermanent(code int) bool {
	return code == exit.Usage || code == exit.Data || code == exit.Memory
}

// flagOf spells an option of package ufs as a flag. The output, -o of ufs-stream, is a part file here.
func flagOf(option string) string {
	if option == "o" {
		return "--parts"
	}
	return program.FlagOf(option)
}

// errorLine returns the message in one line, with options spelled as flags: runners split their logs into lines.
func errorLine(err error) string {
	return strings.Join(strings.Fields(stream.Spell(err, flagOf)), " ")
}

// failure is an error of a worker. Only its text, embedded in the runner's, reaches the program that submitted the
// job: so the text contains the exit code.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string {
	return fmt.Sprintf("ufs-beam failed with exit code %d: %s", f.code, f.text)
}

// ExitsWith implements the interface of package exit.
func (f *failure) ExitsWith() int { return f.code }

var failureText = regexp.MustCompile(`ufs-beam failed with exit code (\d+): (.*)`)

// findFailure finds a worker's error in the text of a runner's error. It returns nil if there is none.
func findFailure(runner error) *failure {
	match := failureText.FindStringSubmatch(runner.Error())
	if match == nil {
		return nil
	}
	if code, err := strconv.Atoi(match[1]); err == nil {
		return &failure{code, match[2]}
	}
	return nil
}
