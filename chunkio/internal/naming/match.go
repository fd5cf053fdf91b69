package naming

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ColumnName is a name that patterns are matched against: the flattened name of a column and, for an element of a list,
// also the list's own name. So "emb" matches all of emb[0], emb[1], ….
type ColumnName struct {
	Flat, List string
	Subject    string // for an indicator: its feature; {columns} and {exclude} match both by the name of the feature
}

// MatchPatterns reports for each of the n names whether it matches any of the patterns of an option. A pattern that is
// exactly a name means that name only, whatever glob characters it contains. A pattern that matches nothing is a usage
// error. It uses a map of the patterns, of which there may be thousands. A map of the names, of which there may be
// millions, would need too much memory.
func MatchPatterns(option string, patterns []string, n int, name func(int) ColumnName) ([]bool, error) {
	matched := make([]bool, n)
	if len(patterns) == 0 {
		return matched, nil
	}
	if option != "columns" && option != "exclude" {
		name = withoutIndicatorSubjects(name)
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
		if mark(names.Flat); names.List != "" {
			mark(names.List)
		}
		if names.Subject != "" {
			mark(names.Subject)
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
				flat[i] = name(i).Flat
			}
			return nil, stream.Usagef("%v %s: no column has this name%s", stream.Option(option), pattern, suggest.DidYouMean(pattern, flat))
		}
	}
	return matched, nil
}

func withoutIndicatorSubjects(name func(int) ColumnName) func(int) ColumnName {
	return func(i int) ColumnName {
		n := name(i)
		if n.Subject != "" {
			n.Subject, n.List = "", ""
		}
		return n
	}
}

// MatchColumns implements chunkio.MatchColumns: it is Match for features; a pattern that matches the name of a block
// matches all its features.
func MatchColumns(option string, patterns []string, columns []stream.Column) ([]bool, error) {
	return MatchPatterns(option, patterns, len(columns), func(i int) ColumnName { return FeatureName(columns[i]) })
}

// FeatureName returns the names by which patterns may mean a feature: its own and, as a list, the name of its block.
func FeatureName(c stream.Column) ColumnName {
	n := ParseColumnName(c.Name)
	if c.Block != "" {
		n.List = c.Block
	}
	return n
}

// ParseColumnName returns the names by which patterns may mean a column: indicators and list elements have several.
func ParseColumnName(name string) (n ColumnName) {
	n.Flat = name
	if IsIndicator(name) {
		n.Subject = FeatureOfIndicator(name)
		name = n.Subject
	}
	if at := strings.LastIndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") {
		n.List = name[:at]
	}
	return n
}

// MatchNames implements chunkio.Match: it reports for each of the flattened column names whether it matches any of the
// patterns, by the rules of Options.Columns.
func MatchNames(option string, patterns, names []string) ([]bool, error) {
	return MatchPatterns(option, patterns, len(names), func(i int) ColumnName { return ParseColumnName(names[i]) })
}

func markGlobMatches(matched []bool, pattern string, nameAt func(int) ColumnName) (found bool) {
	for i := range matched {
		n := nameAt(i)
		if doublestar.MatchUnvalidated(pattern, glob.HideSlash(n.Flat)) || n.Subject != "" && doublestar.MatchUnvalidated(pattern, glob.HideSlash(n.Subject)) {
			matched[i], found = true, true
		}
	}
	return found
}
