package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/stream"
)

// isPermanent reports whether repeating a step cannot help, given the exit code of its error. A full disk (exit code 1)
// may concern only one machine, and a busy store (exit code 75) recovers. After such errors the runner repeats the
// step, perhaps on another machine.
func isPermanent(code int) bool {
	return code == exit.Usage || code == exit.Data || code == exit.Memory
}

// flagOf returns the flag for an option of package ufs. For -o, the output of a scan or merge, it returns --parts,
// because this output is a part file.
func flagOf(option string) string {
	if option == "o" {
		return "--parts"
	}
	return program.FlagOf(option)
}

func errorLine(err error) string {
	return strings.Join(strings.Fields(stream.Spell(err, flagOf)), " ")
}

// failure is an error of a worker. Only its text, as a part of the runner's error, reaches the program that submitted
// the job. Therefore the text contains the exit code.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string {
	return fmt.Sprintf("ufs-beam failed with exit code %d: %s", f.code, f.text)
}

// ExitsWith returns the exit code of the failure, by which package exit ends the program.
func (f *failure) ExitsWith() int { return f.code }

var failureText = regexp.MustCompile(`ufs-beam failed with exit code (\d+): (.*)`)

func findFailure(runnerError error) *failure {
	match := failureText.FindStringSubmatch(runnerError.Error())
	if match == nil {
		return nil
	}
	if code, err := strconv.Atoi(match[1]); err == nil {
		return &failure{code, match[2]}
	}
	return nil
}
