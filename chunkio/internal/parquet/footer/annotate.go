package footer

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// Annotations maps the [AnnotationPath] of each schema node whose logical type the library does not know to the encoded
// SchemaElement fields of that type.
type Annotations map[string][]byte

// AnnotationPath names a node by the field names that lead to it from the top level down.
func AnnotationPath(path ...string) string { return strings.Join(path, "\x00") }

// VisitPaths calls f with a node, all nodes below it, and their paths. The path of the node itself is name.
func VisitPaths(n schema.Node, name string, f func(path string, n schema.Node)) {
	f(name, n)
	if g, ok := n.(*schema.GroupNode); ok {
		for i := range g.NumFields() {
			VisitPaths(g.Field(i), AnnotationPath(name, g.Field(i).Name()), f)
		}
	}
}

// SharedPath finds an annotated path that belongs to several nodes among the given top-level nodes and all nodes below
// them: an annotation for one of these nodes would apply to the other nodes too.
func (a Annotations) SharedPath(fields schema.FieldList) (path []string, found bool) {
	if len(a) == 0 {
		return nil, false
	}
	seen := map[string]bool{}
	for _, n := range fields {
		VisitPaths(n, n.Name(), func(at string, _ schema.Node) {
			if _, annotated := a[at]; annotated && seen[at] {
				path, found = strings.Split(at, "\x00"), true
			}
			seen[at] = true
		})
	}
	return path, found
}

// AnnotateFooter adds the annotations to a footer that the library has written without them.
func (a Annotations) AnnotateFooter(raw []byte) ([]byte, error) {
	if len(a) == 0 {
		return raw, nil
	}
	c := thrift.Reader{Bytes: raw}
	var out []byte
	copied := 0
	c.ReadStruct(nil, func(id int64, typ byte) bool {
		if id != 2 || typ != thrift.List {
			return false
		}
		var path []string
		var left []int64 // children not read yet, of the root and of each node of the path
		_, n := c.ReadListHeader()
		for range n {
			e := parseSchemaElement(&c)
			if c.Err != nil {
				return true
			}
			if len(left) > 0 {
				left[len(left)-1]--
				path = append(path[:len(left)-1], e.name)
				if fields, ok := a[AnnotationPath(path...)]; ok {
					end := c.Pos - 1 // before the element's last byte
					out = slices.Concat(out, raw[copied:end], fields)
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
	return append(out, raw[copied:]...), c.Err
}
