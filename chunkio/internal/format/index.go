package format

import (
	"encoding/json"
	"iter"
	"strings"
)

// PandasKey is the metadata key under which pandas describes the columns that it wrote.
const PandasKey = "pandas"

// MarkIndex marks the leaves that are the index of a data frame: the leaves that the metadata of pandas name as such,
// and leaves with the names that pandas gives to an index without a name. These names are kept even if another tool has
// written the file again.
func MarkIndex(leaves iter.Seq[*Leaf], pandas string) {
	var metadata struct {
		Columns []json.RawMessage `json:"index_columns"` // names, and objects for an index that is not a column
	}
	names := map[string]bool{}
	if err := json.Unmarshal([]byte(pandas), &metadata); err == nil {
		for _, v := range metadata.Columns {
			var name string
			if json.Unmarshal(v, &name) == nil {
				names[name] = true
			}
		}
	}
	for l := range leaves {
		l.Index = l.Path == nil && (isIndexName(l.Name) || names[l.Name])
	}
}

func isIndexName(name string) bool {
	number, ok := strings.CutPrefix(name, "__index_level_")
	number, end := strings.CutSuffix(number, "__")
	return ok && end && number != "" && strings.Trim(number, "0123456789") == ""
}
