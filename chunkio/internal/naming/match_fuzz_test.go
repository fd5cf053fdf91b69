package naming

import (
	"strings"
	"testing"
)

// FuzzMatch: names of columns match patterns, whatever both are; a name matches itself.
func FuzzMatch(f *testing.F) {
	for _, c := range []string{"emb[3]\nemb", "a/b\n*", "{a,b}\n{a", "is_missing(x)\nx", "\x00\n[", "a]\na]"} {
		name, pattern, _ := strings.Cut(c, "\n")
		f.Add(name, pattern)
	}
	f.Fuzz(func(t *testing.T, name, pattern string) {
		if len(pattern) > 64 { // alternatives in alternatives are tried one by one
			return
		}
		names := []string{name, "emb[0]", "is_missing(emb[0])"}
		for _, option := range []string{"columns", "keep"} {
			for _, p := range []string{pattern, name} {
				matched, err := MatchNames(option, []string{p}, names)
				if p == name && (err != nil || !matched[0]) {
					t.Errorf("%q does not match itself: %v", name, err)
				}
			}
		}
	})
}
