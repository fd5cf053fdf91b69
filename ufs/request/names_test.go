package request

import (
	"slices"
	"testing"
)

// FuzzNames: names that were read from a list are written as a list that is read as the same names.
func FuzzNames(f *testing.F) {
	for _, text := range []string{"2/8", "a,\"b,c\",\"\"\"\"", "\"a\nb\",c", "\"", "\r\n", "\"\r\n\",\n", "a\"b", "\"a\"\"", "\"a\"b\"c\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := SplitNames(text)
		if err != nil || len(names) == 0 {
			return
		}
		if again, err := SplitNames(JoinNames(names)); err != nil || !slices.Equal(names, again) {
			t.Errorf("%v: names %q are written %q and read as %q", err, names, JoinNames(names), again)
		}
	})
}
