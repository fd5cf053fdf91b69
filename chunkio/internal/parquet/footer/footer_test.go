package footer

import (
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

func TestCheckTree(t *testing.T) {
	for _, good := range [][]int64{{0}, {2, 0, 0}, {1, 1, 1, 0}, {2, 2, 0, 0, 1, 0}} {
		if err := checkTree(good); err != nil {
			t.Errorf("%v: a good tree is refused: %v", good, err)
		}
	}
	deep := make([]int64, 1000)
	for i := range deep[:999] {
		deep[i] = 1
	}
	for _, bad := range [][]int64{{}, {1}, {0, 0}, {2, 0}, {1, 0, 0}, {-1}, {1 << 40, 0}, deep} {
		if err := checkTree(bad); err == nil {
			t.Errorf("%v is taken for a tree", bad[:min(len(bad), 5)])
		}
	}
}

// TestAnnotatedGroups: no converted type of the root or of a group makes the schema's library panic or the file unreadable,
// and a group that is neither a list nor a map is strange.
func TestAnnotatedGroups(t *testing.T) {
	group := func(name string, converted int64) schemaElement {
		e := schemaElement{name: name, set: 1<<fieldChildren | 1<<fieldConverted}
		e.fields[fieldChildren], e.fields[fieldConverted] = 1, converted
		return e
	}
	leaf := schemaElement{name: "a", set: 1 << fieldType}
	leaf.fields[fieldType] = int64(parquet.Types.Double)
	for converted := int64(-2); converted < 30; converted++ {
		s, strange, err := parseSchema([]schemaElement{group("root", converted), group("g", converted), leaf})
		if err != nil {
			t.Errorf("converted type %d: %v", converted, err)
			continue
		}
		c := schema.ConvertedType(converted)
		nested := c == schema.ConvertedTypes.None || c == schema.ConvertedTypes.List || c == schema.ConvertedTypes.Map || c == schema.ConvertedTypes.MapKeyValue
		if got := strange[s.Root().Field(0)] != nil; got == nested || s.NumColumns() != 1 {
			t.Errorf("converted type %s: strange is %v, with %d columns", c, got, s.NumColumns())
		}
	}
}
