package chunkio

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Columns that no name can mean are left out, and the others work: those whose names are no UTF-8, and those that
// share their name. What copies all columns copies them too.

// sharedName is why a column is no feature whose name others of its file have as well.
const sharedName = "its name is ambiguous, as another column has it: rename one of them"

// leafName tells the leaves of a file apart: those that share a name by their order.
type leafName struct {
	name string
	nth  int
}

// named names the leaves of a file, and leaves out those that no name can mean: written to JSON, a selection of a
// column whose name is no UTF-8 would name one that the input does not have.
func named(leaves []format.Leaf) ([]format.Leaf, []leafName) {
	names, counts := make([]leafName, len(leaves)), make(map[string]int, len(leaves))
	for i, l := range leaves {
		names[i] = leafName{l.Name, counts[l.Name]}
		counts[l.Name]++
	}
	cloned := false
	for i, l := range leaves {
		valid := utf8.ValidString(l.Name)
		if valid && counts[l.Name] == 1 {
			continue
		}
		if !cloned {
			leaves, cloned = slices.Clone(leaves), true
		}
		if valid {
			share(&leaves[i])
		} else {
			leaveOut(&leaves[i], "its name is not UTF-8: rename it")
		}
	}
	return leaves, names
}

// share leaves out a leaf that shares its name in some file.
func share(l *format.Leaf) { leaveOut(l, sharedName) }

func leaveOut(l *format.Leaf, why string) {
	l.Why, l.NoClass, l.Refused, l.Width, l.List = why, why, false, 0, false
	l.Entries, l.NoEntries = "", why
}

// sharesName reports whether one of the leaves shares its name.
func sharesName(leaves ...format.Leaf) bool {
	return slices.ContainsFunc(leaves, func(l format.Leaf) bool { return l.Why == sharedName })
}

// refuseShared is the error of an option that has the name of several columns: which one is meant cannot be told.
func refuseShared(option string, wanted []string, entries []entry) error {
	for _, e := range entries {
		if e.why == sharedName && slices.Contains(wanted, e.flat) {
			return ambiguous(stream.Option(option), e.flat)
		}
	}
	return nil
}

func ambiguous(option any, name string) error {
	return stream.Usagef("%v %s: the name is ambiguous, as several columns have it; rename them", option, name)
}

// warnShared warns of the columns that would be features if they did not share their names.
func warnShared(entries []entry, why []string) []stream.Text {
	var names []string
	for i, e := range entries {
		if why[i] == sharedName && !slices.Contains(names, e.flat) {
			names = append(names, e.flat)
		}
	}
	if len(names) == 0 {
		return nil
	}
	const shown = 3
	words := make([]string, 0, shown+1)
	for i, name := range names {
		if i == shown {
			words = append(words, fmt.Sprintf("and %d more", len(names)-shown))
			break
		}
		words = append(words, fmt.Sprintf("%q", name))
	}
	return []stream.Text{stream.Textf("several columns share a name and are left out: %s; rename them", strings.Join(words, ", "))}
}
