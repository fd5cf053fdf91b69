// Package suggest finds the known name that an unknown one probably meant.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// NearestName returns the known name nearest to name, or "" if none is near: at most a third of its letters may differ,
// ignoring case (two of five, so that swapped letters are found). Among equally near names the first wins. Cost: one
// edit distance per name.
func NearestName(name string, among []string) string {
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

// DidYouMean ends an error about an unknown name with a suggestion. It is empty if no name is near.
func DidYouMean(name string, among []string) string {
	if s := NearestName(name, among); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}
