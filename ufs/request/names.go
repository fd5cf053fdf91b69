package request

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// JoinNames writes names as the value of an option. Names are separated by commas, and a name with a comma or quotes is
// quoted as in CSV. A list of one empty name becomes a pair of quotes, which differs from the text of an empty list.
func JoinNames(names []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(names) // writing to a Builder cannot fail
	w.Flush()
	list := strings.TrimSuffix(b.String(), "\n")
	if list == "" && len(names) > 0 {
		return `""`
	}
	return list
}

// maxNames bounds the number of names in an option, far above any real use. Each name needs 80 bytes of memory in
// addition to its text. Without a bound, 30 million names in a selection file of 60 MB used 2.4 GB.
const maxNames = 1_000_000

// SplitNames reads the output of JoinNames. A comma separates two names if the number of quotes before it is even. The
// limit [maxNames] also counts commas within quotes. Package encoding/csv is not used, because it would change names:
// it turns a carriage return and newline into a newline, and ends at a newline outside quotes.
func SplitNames(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	if strings.Count(list, ",") >= maxNames {
		return nil, fmt.Errorf("it has more than %d commas; name columns by patterns", maxNames-1)
	}
	var names []string
	from, quoted := 0, false
	for end := range len(list) + 1 {
		if end < len(list) && (quoted || list[end] != ',') {
			quoted = quoted != (list[end] == '"')
			continue
		}
		name, whole := unquoteField(list[from:end])
		if !whole {
			return nil, fmt.Errorf("a name with a comma or quotes stands in quotes, and has its own twice: %s", list[from:end])
		}
		names, from = append(names, name), end+1
	}
	return names, nil
}

// unquoteField returns the text of a CSV field without its quotes, and whether the quotes are well-formed.
func unquoteField(field string) (string, bool) {
	inner := field
	if len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
		inner = field[1 : len(field)-1]
		field = strings.ReplaceAll(inner, `""`, "")
	}
	return strings.ReplaceAll(inner, `""`, `"`), !strings.Contains(field, `"`)
}

// SortedKeys returns the keys of m in ascending order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
