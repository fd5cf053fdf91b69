package store

import (
	"os"
	"regexp"
	"strings"
)

// processOutput matches the part of an AWS SDK error that repeats the output of a credentials program set by
// AWS_PROFILE. The SDK repeats the output only if it is malformed, and the output contains the secret.
var processOutput = regexp.MustCompile(`(?s)process output: .*, error:`)

var secretVariable = regexp.MustCompile(`(?i)secret|key|token|password|sas|credential|connection`)

// providerText returns the text of an error from a provider of credentials, shortened to a sentence or two. It leaves
// out addresses, and secrets that environment variables contain.
func providerText(err error) string {
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
