// Package suggest finds the name that was meant by one that is unknown.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name returns the one of the names that is most likely meant by name, or "" when none is
// near: at most a third of its letters may differ, case aside (two of five, so that
// swapped letters are found). Among equally near names the first wins. Cost: one edit
// distance a name.
func Name(name string, among []string) string {
	wanted := strings.ToLower(name)
	letters := len([]rune(name))
	best, bestDistance := "", min(max(1, (letters+1)/3), letters-1)+1
	for _, candidate := range among {
		// The distance is at least the difference in length: skip hopeless ones cheaply.
		if diff := len(candidate) - len(name); diff >= 4*bestDistance || -diff >= 4*bestDistance {
			continue
		}
		if d := levenshtein.ComputeDistance(wanted, strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// DidYouMean is the tail of an error about an unknown name, empty where no name is near.
func DidYouMean(name string, among []string) string {
	if s := Name(name, among); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}
