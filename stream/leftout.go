package stream

import (
	"cmp"
	"slices"
	"strings"
)

// severities lists phrases that occur in reasons and warnings about columns, in order of harm to a selection, with the
// most harmful first. The empty list marks the rank of a reason without a listed phrase: after columns that are mostly
// missing, and before columns that were left out because of their type or by the user.
var severities = [][]string{
	{"nearly determine"}, // leaks of the label
	{"identifier", "counts time", "count time"},
	{"a copy", "are copies"},
	{"mostly missing"},
	{},
	{"text", "date", "timestamp", "time", "interval", "duration", "binary", "string"},
	{"label", "weight", "excluded", "partition key", "not among"},
}

// BySeverity sorts columns by their harm to a selection. Leaks, identifiers, copies and columns that are mostly missing
// come first. Texts, dates and columns left out by the user come last. The order matters because only the first entries
// of long lists are shown. Columns of equal rank keep their order.
func BySeverity(list []LeftOut) []LeftOut {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b LeftOut) int { return cmp.Compare(severityRank(a.Why), severityRank(b.Why)) })
	return sorted
}

// WarningsBySeverity sorts warnings as [BySeverity] does. All warnings that are not about harmful columns come last.
func WarningsBySeverity(list []string) []string {
	sorted := slices.Clone(list)
	rank := func(warning string) int { return min(severityRank(warning), otherSeverity) }
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted
}

// otherSeverity is the index in severities of the empty list, for reasons without a listed phrase.
const otherSeverity = 4

// severityRank returns the index in [severities] of the first list with a phrase of the text. Phrases about harmful
// columns may occur anywhere in the text. Phrases about types and user decisions must be at its beginning.
func severityRank(text string) int {
	for rank, words := range severities {
		for _, word := range words {
			if rank < otherSeverity && strings.Contains(text, word) || rank > otherSeverity && beginsWithWord(text, word) {
				return rank
			}
		}
	}
	return otherSeverity
}

func beginsWithWord(text, word string) bool {
	rest, begins := strings.CutPrefix(text, word)
	return begins && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}
