package parquet

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet/schema"
)

// Annotations are the logical types of nodes that the library has no name for, as their fields stand in a
// SchemaElement, by [AnnotationPath].
type Annotations map[string][]byte

// AnnotationPath names a node by the fields that lead to it from the top level down.
func AnnotationPath(path ...string) string { return strings.Join(path, "\x00") }

// Annotations are those of a node of the schema and of all below it, for a copy of that name at the
// top level; nil for none.
func (f *File) Annotations(n schema.Node, name string) Annotations {
	if len(f.foot.strange) == 0 {
		return nil
	}
	found := Annotations{}
	var visit func(n schema.Node, path []string)
	visit = func(n schema.Node, path []string) {
		if strange := f.foot.strange[n]; strange != nil {
			found[AnnotationPath(path...)] = strange.annotation
		}
		if g, ok := n.(*schema.GroupNode); ok {
			for i := range g.NumFields() {
				visit(g.Field(i), append(path[:len(path):len(path)], g.Field(i).Name()))
			}
		}
	}
	visit(n, []string{name})
	return found
}

// Annotate adds annotations to a footer that the library has written without them.
func (a Annotations) Annotate(footer []byte) ([]byte, error) {
	if len(a) == 0 {
		return footer, nil
	}
	c := compact{b: footer}
	var out []byte
	copied := 0
	c.record(nil, func(id int64, typ byte) bool {
		if id != 2 || typ != thriftList {
			return false
		}
		var path []string
		var left []int64 // children still to come, of the root and of each node of the path
		_, n := c.list()
		for range n {
			e := c.schemaElement()
			if c.err != nil {
				return true
			}
			if len(left) > 0 {
				left[len(left)-1]--
				path = append(path[:len(left)-1], e.name)
				if fields, ok := a[AnnotationPath(path...)]; ok {
					end := c.pos - 1 // in front of the element's last byte
					out = slices.Concat(out, footer[copied:end], fields)
					copied = end
				}
			}
			if e.fields[fieldChildren] > 0 {
				left = append(left, e.fields[fieldChildren])
			}
			for len(left) > 0 && left[len(left)-1] == 0 {
				left = left[:len(left)-1]
			}
		}
		return true
	})
	return append(out, footer[copied:]...), c.err
}
