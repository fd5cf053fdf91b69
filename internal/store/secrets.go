package store

import (
	"os"
	"regexp"
	"strings"
)

// output of a program that AWS_PROFILE names: where it is not what it should be, the SDK
// repeats it, and the secret with it.
var processOutput = regexp.MustCompile(`(?s)process output: .*, error:`)

var secretVariable = regexp.MustCompile(`(?i)secret|key|token|password|sas|credential|connection`)

// provided is the text of an error of who provides credentials: without what the
// environment holds of them, without addresses, and not longer than a sentence or two.
func provided(err error) string {
	s := processOutput.ReplaceAllString(withoutURLs(err.Error()), "process output:")
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); len(value) >= 8 && secretVariable.MatchString(name) {
			s = strings.ReplaceAll(s, value, "…")
		}
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > 400 {
		s = strings.ToValidUTF8(s[:400], "") + "…"
	}
	return s
}
