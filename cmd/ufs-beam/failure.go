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

// isPermanent reports whether an exit code tells of something that stays wrong however often it is
// tried. A full disk (1) may be that of one machine, and a store that is busy (75) recovers: those
// are left to the runner, which tries again elsewhere, a few times.
func isPermanent(code int) bool {
	return code == exit.Usage || code == exit.Data || code == exit.Memory
}

// flagOf spells an option of package ufs as a flag. Output, -o of ufs-stream, is a part here.
func flagOf(option string) string {
	if option == "o" {
		return "--parts"
	}
	return program.FlagOf(option)
}

// errorLine is what an error says, with options spelled as flags, in one line: runners cut what
// they show into lines.
func errorLine(err error) string {
	return strings.Join(strings.Fields(stream.Spell(err, flagOf)), " ")
}

// failure is an error of a worker. All that reaches the program that submitted the job is its
// text, somewhere between the runner's: so the text carries the exit code.
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

// findFailure is the worker's error that a runner's error quotes; nil if there is none.
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
