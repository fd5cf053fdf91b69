package chunkio

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnName is a name that patterns are matched against: the flattened name of a
// column and, for an element of a list, the list's own name too, so that "emb"
// means all of emb[0], emb[1], ….
type columnName struct{ flat, list string }

// matchPatterns returns which of the names match any of the patterns of an option. A
// pattern that is exactly a name means that name only, whatever glob characters it
// has. A pattern that matches nothing is a usage error.
func matchPatterns(option string, patterns []string, names []columnName) ([]bool, error) {
	matched := make([]bool, len(names))
	if len(patterns) == 0 {
		return matched, nil
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

// Match returns which of the flattened column names match any of the patterns, by
// the rules of Options.Columns. A pattern that matches none is a *stream.UsageError
// that names the option and, where one is near, the name that may be meant.
func Match(option string, patterns, names []string) ([]bool, error) {
	columns := make([]columnName, len(names))
	for i, name := range names {
		columns[i].flat = name
		if at := strings.LastIndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") {
			columns[i].list = name[:at]
		}
	}
	return matchPatterns(option, patterns, columns)
}

// nameIndex finds the columns of a name: looking through all of them for each of
// 16,000 patterns takes seconds.
type nameIndex struct {
	last map[string]int // a name's last place, 2·column for a flat name and one more for a list's
	next []int          // the place before it of the same name; -1 for none
}

func indexNames(names []columnName) nameIndex {
	x := nameIndex{make(map[string]int, len(names)), make([]int, 2*len(names))}
	add := func(name string, place int) {
		before, ok := x.last[name]
		if !ok {
			before = -1
		}
		x.last[name], x.next[place] = place, before
	}
	for i, n := range names {
		add(n.flat, 2*i)
		if n.list != "" {
			add(n.list, 2*i+1)
		}
	}
	return x
}

// mark marks the columns of exactly that name.
func (x nameIndex) mark(matched []bool, name string) bool {
	place, found := x.last[name]
	for ; found && place >= 0; place = x.next[place] {
		matched[place/2] = true
	}
	return found
}

func markGlob(matched []bool, pattern string, names []columnName) (found bool) {
	for i, n := range names {
		if doublestar.MatchUnvalidated(pattern, hideSlash(n.flat)) {
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
