package store

import (
	"os"
	"regexp"
	"strings"
)

// processOutput matches the output of a program that AWS_PROFILE names. If the output is malformed, the SDK's error
// contains it, with the secret.
var processOutput = regexp.MustCompile(`(?s)process output: .*, error:`)

var secretVariable = regexp.MustCompile(`(?i)secret|key|token|password|sas|credential|connection`)

// providerText returns the text of an error from a provider of credentials, without secrets of the environment,
// without addresses, and shortened to a sentence or two.
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
