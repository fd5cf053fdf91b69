// Package suggest finds the known name that a misspelt name probably means.
package suggest

import (
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
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
		if d := editDistance([]rune(wanted), []rune(strings.ToLower(candidate))); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// editDistance returns the least number of letters to insert, delete or replace to get from a to b (Levenshtein).
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1) // distances of the letters of a so far from each beginning of b
	for j := range row {
		row[j] = j
	}
	for i, letter := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			if letter != b[j] {
				diagonal = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], diagonal
		}
	}
	return row[len(b)]
}

// DidYouMean returns a suggestion to add to an error about an unknown name. It is empty if no known name is similar.
func DidYouMean(name string, among []string) stream.Correction {
	if known := NearestName(name, among); known != "" {
		return stream.Correction{Unknown: name, Known: known}
	}
	return stream.Correction{}
}
