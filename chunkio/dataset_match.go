package chunkio

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnName is a name that patterns are matched against: the flattened name of a
// column and, for an element of a list, the list's own name too, so that "emb"
// means all of emb[0], emb[1], ….
type columnName struct {
	flat, list string
	of         string // of what says whether another is missing: that one's name, which {columns} and {exclude} mean both by
}

// matchPatterns returns which of the names match any of the patterns of an option. A
// pattern that is exactly a name means that name only, whatever glob characters it
// has. A pattern that matches nothing is a usage error.
func matchPatterns(option string, patterns []string, names []columnName) ([]bool, error) {
	matched := make([]bool, len(names))
	if len(patterns) == 0 {
		return matched, nil
	}
	if option != "columns" && option != "exclude" {
		names = apart(names)
	}
	exact := indexNames(names)
	for _, pattern := range patterns {
		found := exact.mark(matched, pattern)
		if !found {
			if !doublestar.ValidatePattern(hideSlash(pattern)) {
				return nil, stream.Usagef("%v %s: malformed glob", stream.Option(option), pattern)
			}
			found = markGlob(matched, hideSlash(pattern), names)
		}
		if !found {
			return nil, stream.Usagef("%v %s: no column has this name%s", stream.Option(option), pattern, suggest.DidYouMean(pattern, flatNames(names)))
		}
	}
	return matched, nil
}

// apart are names that say nothing of others.
func apart(names []columnName) []columnName {
	names = slices.Clone(names)
	for i := range names {
		if n := &names[i]; n.of != "" {
			n.of, n.list = "", ""
		}
	}
	return names
}

// MatchColumns is Match for features, of which those of a block go by its name as well.
func MatchColumns(option string, patterns []string, columns []stream.Column) ([]bool, error) {
	return matchPatterns(option, patterns, featureNames(columns))
}

func featureNames(columns []stream.Column) []columnName {
	names := make([]columnName, len(columns))
	for i, c := range columns {
		if names[i] = nameOf(c.Name); c.Block != "" {
			names[i].list = c.Block
		}
	}
	return names
}

// nameOf finds the list that a name is an element of, and the feature that it says of whether it
// is missing.
func nameOf(name string) (n columnName) {
	n.flat = name
	if of, ok := strings.CutPrefix(name, indicatorPrefix); ok && strings.HasSuffix(of, ")") {
		n.of = strings.TrimSuffix(of, ")")
		name = n.of
	}
	if at := strings.LastIndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") {
		n.list = name[:at]
	}
	return n
}

// Match returns which of the flattened column names match any of the patterns, by
// the rules of Options.Columns. A pattern that matches none is a *stream.UsageError
// that names the option and, where one is near, the name that may be meant.
func Match(option string, patterns, names []string) ([]bool, error) {
	columns := make([]columnName, len(names))
	for i, name := range names {
		columns[i] = nameOf(name)
	}
	return matchPatterns(option, patterns, columns)
}

// nameIndex finds the columns of a name: looking through all of them for each of
// 16,000 patterns takes seconds.
type nameIndex struct {
	last map[string]int // a name's last place, 3·column for a flat name, one more for a list's, two for what it is of
	next []int          // the place before it of the same name; -1 for none
}

func indexNames(names []columnName) nameIndex {
	x := nameIndex{make(map[string]int, len(names)), make([]int, 3*len(names))}
	add := func(name string, place int) {
		before, ok := x.last[name]
		if !ok {
			before = -1
		}
		x.last[name], x.next[place] = place, before
	}
	for i, n := range names {
		add(n.flat, 3*i)
		if n.list != "" {
			add(n.list, 3*i+1)
		}
		if n.of != "" {
			add(n.of, 3*i+2)
		}
	}
	return x
}

// mark marks the columns of exactly that name.
func (x nameIndex) mark(matched []bool, name string) bool {
	place, found := x.last[name]
	for ; found && place >= 0; place = x.next[place] {
		matched[place/3] = true
	}
	return found
}

func markGlob(matched []bool, pattern string, names []columnName) (found bool) {
	for i, n := range names {
		if doublestar.MatchUnvalidated(pattern, hideSlash(n.flat)) || n.of != "" && doublestar.MatchUnvalidated(pattern, hideSlash(n.of)) {
			matched[i], found = true, true
		}
	}
	return found
}

// hideSlash maps / to a rune that globs do not treat specially: a column's name is
// no path, and * must match all of it.
func hideSlash(s string) string { return strings.ReplaceAll(s, "/", "\x1f") }

func flatNames(names []columnName) []string {
	flat := make([]string, len(names))
	for i, n := range names {
		flat[i] = n.flat
	}
	return flat
}
