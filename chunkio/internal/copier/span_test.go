package copier

import (
	"fmt"
	"testing"
)

// TestSpansOf: the leaves of each top-level field are found in one walk, and fields that share a name are one span
// from the first to the last.
func TestSpansOf(t *testing.T) {
	tops := []string{"a", "b", "b", "c", "b", "d", "d"}
	asked := 0
	spans := findSpans(len(tops), func(leaf int) string {
		asked++
		return tops[leaf]
	})
	for name, want := range map[string]string{"a": "[0]", "b": "[1 2 3 4]", "c": "[3]", "d": "[5 6]", "e": "[]"} {
		if got := fmt.Sprint(spans[name].leafIndices()); got != want {
			t.Errorf("%s has the leaves %s, want %s", name, got, want)
		}
	}
	if asked != len(tops) {
		t.Errorf("%d names were looked at for %d leaves", asked, len(tops))
	}
}
