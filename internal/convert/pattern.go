package convert

import (
	"regexp"
	"sync"
)

// CompilePattern returns a function that returns the compiled expression. Its first call compiles it, so that the
// program starts sooner, and panics if the expression is invalid.
func CompilePattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
