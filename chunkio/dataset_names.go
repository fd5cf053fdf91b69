package chunkio

import "strings"

// Match returns which of the flattened column names match any of the patterns, by
// the rules of Options.Columns. A pattern that matches none is a *stream.UsageError
// that names the flag and, where one is near, the name that may be meant.
func Match(flag string, patterns, names []string) ([]bool, error) {
	columns := make([]columnName, len(names))
	for i, name := range names {
		columns[i].flat = name
		if at := strings.LastIndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") {
			columns[i].list = name[:at]
		}
	}
	return matchPatterns(flag, patterns, columns)
}
