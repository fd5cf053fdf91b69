// Package suggest finds the known name that an unknown one probably meant.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// NearestName returns the first of the known names with the smallest edit distance to name, ignoring case. For n
// letters the distance may be (n+1)/3, rounded down, so that two swapped letters of five are found. If no name is that
// near, it returns "". It computes at most one edit distance per name.
func NearestName(name string, among []string) string {
	wanted := strings.ToLower(name)
	letters := len([]rune(name))
	best, bestDistance := "", min(max(1, (letters+1)/3), letters-1)+1
	for _, candidate := range among {
		// The distance is at least the difference in length, so skip names of very different lengths.
		if diff := len(candidate) - len(name); diff >= 4*bestDistance || -diff >= 4*bestDistance {
			continue
		}
		if d := levenshtein.ComputeDistance(wanted, strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// DidYouMean returns a suggestion for the end of an error about an unknown name, or empty if no name is near.
func DidYouMean(name string, among []string) string {
	if s := NearestName(name, among); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}
