package delta

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// row is an action of a checkpoint as nested values: row for groups, []any for repeated
// ones, string, int, bool, and nil for null.
type row = map[string]any

// shredder cuts rows into the columns of a schema, as the Dremel paper does.
type shredder struct {
	entries map[string]*entries // by path of the leaf
}

type entries struct {
	def, rep []int16
	values   []any
}

func (s *shredder) put(n schema.Node, value any, def, rep, depth int16) {
	switch n.RepetitionType() {
	case parquet.Repetitions.Optional:
		if value == nil {
			s.null(n, def, rep)
			return
		}
		s.inner(n, value, def+1, rep, depth)
	case parquet.Repetitions.Repeated:
		list, _ := value.([]any)
		if len(list) == 0 {
			s.null(n, def, rep)
		}
		for i, v := range list {
			if i > 0 {
				rep = depth + 1
			}
			s.inner(n, v, def+1, rep, depth+1)
		}
	default:
		s.inner(n, value, def, rep, depth)
	}
}

func (s *shredder) inner(n schema.Node, value any, def, rep, depth int16) {
	if g, ok := n.(*schema.GroupNode); ok {
		for i := range g.NumFields() {
			s.put(g.Field(i), value.(row)[g.Field(i).Name()], def, rep, depth)
		}
		return
	}
	e := s.leaf(n)
	e.def, e.rep, e.values = append(e.def, def), append(e.rep, rep), append(e.values, value)
}

func (s *shredder) null(n schema.Node, def, rep int16) {
	if g, ok := n.(*schema.GroupNode); ok {
		for i := range g.NumFields() {
			s.null(g.Field(i), def, rep)
		}
		return
	}
	e := s.leaf(n)
	e.def, e.rep = append(e.def, def), append(e.rep, rep)
}

func (s *shredder) leaf(n schema.Node) *entries {
	e := s.entries[n.Path()]
	if e == nil {
		e = new(entries)
		s.entries[n.Path()] = e
	}
	return e
}

// writeRows writes rows as a Parquet file of row groups of at most height rows.
func writeRows(t testing.TB, fields schema.FieldList, rows []row, height int) []byte {
	t.Helper()
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	leaves := schema.NewSchema(root)
	groups := make([]*shredder, 0, len(rows)/height+1)
	for from := 0; from < len(rows); from += height {
		s := &shredder{map[string]*entries{}}
		for _, r := range rows[from:min(from+height, len(rows))] {
			for i := range root.NumFields() {
				s.put(root.Field(i), r[root.Field(i).Name()], 0, 0, 0)
			}
		}
		groups = append(groups, s)
	}
	return formattest.WriteFile(t, fields, len(groups), func(g, c int, w pqfile.ColumnChunkWriter) error {
		return writeEntries(w, groups[g].entries[leaves.Column(c).Path()])
	}, parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageSize(4<<10))
}

func writeEntries(w pqfile.ColumnChunkWriter, e *entries) (err error) {
	def, rep := e.def, e.rep
	if w.Descr().MaxDefinitionLevel() == 0 {
		def = nil
	}
	if w.Descr().MaxRepetitionLevel() == 0 {
		rep = nil
	}
	switch w := w.(type) {
	case *pqfile.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(e, func(v any) parquet.ByteArray { return parquet.ByteArray(v.(string)) }), def, rep)
	case *pqfile.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(e, func(v any) int32 { return int32(v.(int)) }), def, rep)
	case *pqfile.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(e, func(v any) int64 { return int64(v.(int)) }), def, rep)
	case *pqfile.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(e, func(v any) bool { return v.(bool) }), def, rep)
	default:
		err = fmt.Errorf("no test writes %T", w)
	}
	return err
}

func valuesAs[T any](e *entries, convert func(any) T) []T {
	values := make([]T, len(e.values))
	for i, v := range e.values {
		values[i] = convert(v)
	}
	return values
}

// The nodes of a checkpoint's schema. All are optional, as Spark writes them, but keys of
// maps.
var opt = parquet.Repetitions.Optional

func leafNode(name string, typ parquet.Type) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNode(name, opt, typ, -1, -1))
}

func texts(names string) (fields schema.FieldList) {
	for _, name := range strings.Fields(names) {
		fields = append(fields, leafNode(name, parquet.Types.ByteArray))
	}
	return fields
}

func longs(names string) (fields schema.FieldList) {
	for _, name := range strings.Fields(names) {
		fields = append(fields, leafNode(name, parquet.Types.Int64))
	}
	return fields
}

func groupNode(name string, parts ...schema.FieldList) schema.Node {
	var fields schema.FieldList
	for _, p := range parts {
		fields = append(fields, p...)
	}
	return schema.MustGroup(schema.NewGroupNode(name, opt, fields, -1))
}

func mapNode(name string) schema.Node {
	key := schema.MustPrimitive(schema.NewPrimitiveNode("key", parquet.Repetitions.Required, parquet.Types.ByteArray, -1, -1))
	pair := schema.MustGroup(schema.NewGroupNode("key_value", parquet.Repetitions.Repeated, schema.FieldList{key, texts("value")[0]}, -1))
	return schema.MustGroup(schema.NewGroupNodeLogical(name, opt, schema.FieldList{pair}, schema.MapLogicalType{}, -1))
}

func listNode(name string) schema.Node {
	list := schema.MustGroup(schema.NewGroupNode("list", parquet.Repetitions.Repeated, texts("element"), -1))
	return schema.MustGroup(schema.NewGroupNodeLogical(name, opt, schema.FieldList{list}, schema.ListLogicalType{}, -1))
}

// checkpointFields is the schema of a checkpoint; parsed has statistics as columns.
func checkpointFields(parsed bool) schema.FieldList {
	stats := texts("stats")
	if parsed {
		stats = schema.FieldList{groupNode("stats_parsed", longs("numRecords"), schema.FieldList{groupNode("minValues", longs("x"))})}
	}
	ints := func(name string) schema.FieldList { return schema.FieldList{leafNode(name, parquet.Types.Int32)} }
	return schema.FieldList{
		groupNode("txn", texts("appId"), longs("version")),
		groupNode("add", texts("path"), schema.FieldList{mapNode("partitionValues")}, longs("size modificationTime"), stats,
			schema.FieldList{mapNode("tags"), groupNode("deletionVector", texts("storageType pathOrInlineDv"), ints("offset"), ints("sizeInBytes"), longs("cardinality"))}),
		groupNode("remove", texts("path"), longs("deletionTimestamp")),
		groupNode("metaData", texts("id schemaString"), schema.FieldList{groupNode("format", texts("provider")), listNode("partitionColumns"), mapNode("configuration")}),
		groupNode("protocol", ints("minReaderVersion"), schema.FieldList{listNode("readerFeatures")}),
		groupNode("checkpointMetadata", longs("version"), schema.FieldList{mapNode("tags")}),
		groupNode("sidecar", texts("path"), longs("sizeInBytes")),
	}
}

// mapValue and listValue are values of mapNode and listNode.
func mapValue(m map[string]*string) any {
	var pairs []any
	for key, value := range m {
		p := row{"key": key}
		if value != nil {
			p["value"] = *value
		}
		pairs = append(pairs, p)
	}
	return row{"key_value": pairs}
}

func listValue(list []string) any {
	var elements []any
	for _, v := range list {
		elements = append(elements, row{"element": v})
	}
	return row{"list": elements}
}
