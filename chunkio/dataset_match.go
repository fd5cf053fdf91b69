package chunkio

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
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

// matchPatterns returns which of the n names match any of the patterns of an option. A
// pattern that is exactly a name means that name only, whatever glob characters it
// has. A pattern that matches nothing is a usage error. The map has the patterns, not the names: there may be
// thousands of patterns, and millions of names, for which a map would take more than all else.
func matchPatterns(option string, patterns []string, n int, name func(int) columnName) ([]bool, error) {
	matched := make([]bool, n)
	if len(patterns) == 0 {
		return matched, nil
	}
	if option != "columns" && option != "exclude" {
		name = apart(name)
	}
	found := make(map[string]bool, len(patterns)) // of those that are a name
	for _, pattern := range patterns {
		found[pattern] = false
	}
	for i := range matched {
		mark := func(s string) {
			if _, asked := found[s]; asked {
				found[s], matched[i] = true, true
			}
		}
		names := name(i)
		if mark(names.flat); names.list != "" {
			mark(names.list)
		}
		if names.of != "" {
			mark(names.of)
		}
	}
	for _, pattern := range patterns {
		if found[pattern] {
			continue
		}
		if fault := glob.ColumnFault(pattern); fault != "" {
			return nil, stream.Usagef("%v %s: %s", stream.Option(option), pattern, fault)
		}
		if !markGlob(matched, glob.HideSlash(pattern), name) {
			flat := make([]string, n)
			for i := range flat {
				flat[i] = name(i).flat
			}
			return nil, stream.Usagef("%v %s: no column has this name%s", stream.Option(option), pattern, suggest.DidYouMean(pattern, flat))
		}
	}
	return matched, nil
}

// apart makes names that say nothing of others.
func apart(name func(int) columnName) func(int) columnName {
	return func(i int) columnName {
		n := name(i)
		if n.of != "" {
			n.of, n.list = "", ""
		}
		return n
	}
}

// MatchColumns is Match for features, of which those of a block go by its name as well.
func MatchColumns(option string, patterns []string, columns []stream.Column) ([]bool, error) {
	return matchPatterns(option, patterns, len(columns), func(i int) columnName { return featureName(columns[i]) })
}

func featureName(c stream.Column) columnName {
	n := nameOf(c.Name)
	if c.Block != "" {
		n.list = c.Block
	}
	return n
}

// nameOf finds the list that a name is an element of, and the feature that it says of whether it
// is missing.
func nameOf(name string) (n columnName) {
	n.flat = name
	if IsIndicator(name) {
		n.of = indicated(name)
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
	return matchPatterns(option, patterns, len(names), func(i int) columnName { return nameOf(names[i]) })
}

func markGlob(matched []bool, pattern string, name func(int) columnName) (found bool) {
	for i := range matched {
		n := name(i)
		if doublestar.MatchUnvalidated(pattern, glob.HideSlash(n.flat)) || n.of != "" && doublestar.MatchUnvalidated(pattern, glob.HideSlash(n.of)) {
			matched[i], found = true, true
		}
	}
	return found
}

func flatNames(entries []entry) []string {
	flat := make([]string, len(entries))
	for i, e := range entries {
		flat[i] = e.flat
	}
	return flat
}
