package stream

import (
	"cmp"
	"slices"
	"strings"
)

// severities are what reasons and warnings of columns say, what harms a selection most first. Reasons that are none
// of these come between the mostly missing and what the type or the user decides.
var severities = [][]string{
	{"nearly determine"}, // leaks of the label
	{"identifier", "counts time", "count time"},
	{"a copy", "are copies"},
	{"mostly missing"},
	{},
	{"text", "date", "timestamp", "time", "interval", "duration", "binary", "string"},
	{"label", "weight", "excluded", "partition key", "not among"},
}

// BySeverity is the list with what harms a selection most first: leaks, identifiers, copies, columns that are mostly
// missing, and texts, dates and what the user left out last. Lists that are cut short are cut behind it; equals keep
// their order.
func BySeverity(list []LeftOut) []LeftOut {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b LeftOut) int { return cmp.Compare(severity(a.Why), severity(b.Why)) })
	return sorted
}

// WarningsBySeverity is [BySeverity] of warnings; warnings about no column come after the ones about suspicious columns.
func WarningsBySeverity(list []string) []string {
	sorted := slices.Clone(list)
	rank := func(warning string) int { return min(severity(warning), restOfReasons) }
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted
}

// restOfReasons is the place of reasons that no list names.
const restOfReasons = 4

// severity is the place of the text among [severities]: what harms a selection may stand anywhere in it, what type or
// user decided begins it.
func severity(text string) int {
	for rank, words := range severities {
		for _, word := range words {
			if rank < restOfReasons && strings.Contains(text, word) || rank > restOfReasons && beginsWith(text, word) {
				return rank
			}
		}
	}
	return restOfReasons
}

// beginsWith reports whether the word begins the text, and no letter follows.
func beginsWith(text, word string) bool {
	rest, begins := strings.CutPrefix(text, word)
	return begins && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}
