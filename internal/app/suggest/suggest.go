// Package suggest finds the known name that a misspelt name probably means.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// NearestName returns the known name with the smallest edit distance to name, ignoring case. If there are several, it
// returns the first. For a name of n letters the distance may be at most (n+1)/3, rounded down. So in a name of five
// letters two letters may be swapped. If the distance of every known name is larger, it returns "". It computes at most
// one edit distance for each known name.
func NearestName(name string, among []string) string {
	wanted := strings.ToLower(name)
	letters := len([]rune(name))
	best, bestDistance := "", min(max(1, (letters+1)/3), letters-1)+1
	for _, candidate := range among {
		// The distance is at least the difference in length, so skip names with very different lengths.
		if diff := len(candidate) - len(name); diff >= 4*bestDistance || -diff >= 4*bestDistance {
			continue
		}
		if d := levenshtein.ComputeDistance(wanted, strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// DidYouMean returns a suggestion to add to an error about an unknown name. It returns "" if no known name is similar.
func DidYouMean(name string, among []string) string {
	if s := NearestName(name, among); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}
