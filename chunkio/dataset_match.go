package chunkio

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnName is a name that patterns are matched against: the flattened name of a column and, for an element of a list,
// also the list's own name. So "emb" matches all of emb[0], emb[1], ….
type columnName struct {
	flat, list string
	subject    string // for an indicator: its feature; {columns} and {exclude} match both by the name of the feature
}

// matchPatterns reports for each of the n names whether it matches any of the patterns of an option. A pattern that is
// exactly a name means that name only, whatever glob characters it contains. A pattern that matches nothing is a usage
// error. It uses a map of the patterns, of which there may be thousands. A map of the names, of which there may be
// millions, would need too much memory.
func matchPatterns(option string, patterns []string, n int, name func(int) columnName) ([]bool, error) {
	matched := make([]bool, n)
	if len(patterns) == 0 {
		return matched, nil
	}
	if option != "columns" && option != "exclude" {
		name = withoutSubjects(name)
	}
	found := make(map[string]bool, len(patterns)) // patterns that equal a name
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
		if names.subject != "" {
			mark(names.subject)
		}
	}
	for _, pattern := range patterns {
		if found[pattern] {
			continue
		}
		if fault := glob.ColumnFault(pattern); fault != "" {
			return nil, stream.Usagef("%v %s: %s", stream.Option(option), pattern, fault)
		}
		if !markGlobMatches(matched, glob.HideSlash(pattern), name) {
			flat := make([]string, n)
			for i := range flat {
				flat[i] = name(i).flat
			}
			return nil, stream.Usagef("%v %s: no column has this name%s", stream.Option(option), pattern, suggest.DidYouMean(pattern, flat))
		}
	}
	return matched, nil
}

func withoutSubjects(name func(int) columnName) func(int) columnName {
	return func(i int) columnName {
		n := name(i)
		if n.subject != "" {
			n.subject, n.list = "", ""
		}
		return n
	}
}

// MatchColumns is Match for features; a pattern that matches the name of a block matches all its features.
func MatchColumns(option string, patterns []string, columns []stream.Column) ([]bool, error) {
	return matchPatterns(option, patterns, len(columns), func(i int) columnName { return featureName(columns[i]) })
}

func featureName(c stream.Column) columnName {
	n := parseColumnName(c.Name)
	if c.Block != "" {
		n.list = c.Block
	}
	return n
}

func parseColumnName(name string) (n columnName) {
	n.flat = name
	if IsIndicator(name) {
		n.subject = featureOfIndicator(name)
		name = n.subject
	}
	if at := strings.LastIndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") {
		n.list = name[:at]
	}
	return n
}

// Match reports for each of the flattened column names whether it matches any of the patterns, by the rules of
// Options.Columns. A pattern that matches no name is a *stream.UsageError. It contains the option and a similar name,
// if there is one.
func Match(option string, patterns, names []string) ([]bool, error) {
	return matchPatterns(option, patterns, len(names), func(i int) columnName { return parseColumnName(names[i]) })
}

func markGlobMatches(matched []bool, pattern string, name func(int) columnName) (found bool) {
	for i := range matched {
		n := name(i)
		if doublestar.MatchUnvalidated(pattern, glob.HideSlash(n.flat)) || n.subject != "" && doublestar.MatchUnvalidated(pattern, glob.HideSlash(n.subject)) {
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
