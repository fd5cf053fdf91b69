package footer

import (
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
)

// FuzzFooter: no footer makes the parsing panic, whatever the table by whose columns it is read. A footer that is read
// has one column chunk in each row group for each column of its schema.
func FuzzFooter(f *testing.F) {
	f.Add([]byte{0x19, 0x1C, 0x00, 0x00}, "")
	opt := parquet.Repetitions.Optional
	leaf := func(name string, id int32) schema.Node { return schema.NewInt64Node(name, opt, id) }
	group := func(name string, id int32, fields ...schema.Node) schema.Node {
		return schema.MustGroup(schema.NewGroupNode(name, opt, fields, id))
	}
	list, err := schema.ListOf(group("l", 7, leaf("x", 8)), opt, 9)
	formattest.Must(f, err)
	m, err := schema.MapOf("m", schema.NewInt64Node("key", parquet.Repetitions.Required, 10), leaf("value", 11), opt, 12)
	formattest.Must(f, err)
	file := formattest.WriteFile(f, schema.FieldList{leaf("a", 1), group("s", 2, leaf("b", 3), leaf("c", 4)), list, m}, 2, func(_, _ int, w pqfile.ColumnChunkWriter) error {
		return nil
	})
	n := len(file) - 8
	raw := file[n-int(binary.LittleEndian.Uint32(file[n:])) : n]
	for _, table := range []string{
		"", `[{"name":"A","physical":"a"},{"name":"S","physical":"s","type":"struct","fields":[{"name":"C","physical":"c"}]}]`,
		`[{"name":"L","id":9,"type":"list","fields":[{"type":"struct","fields":[{"name":"X","id":8}]}]},{"name":"M","id":12,"type":"map","fields":[{},{}]}]`,
		`[{"name":"s","type":"variant"}]`,
		`[{"name":"d","type":"decimal(20,2)","default":"-1.5"},{"name":"b","type":"bool","default":"true"}]`,
	} {
		f.Add(raw, table)
	}
	f.Fuzz(func(t *testing.T, b []byte, table string) {
		shape, err := measureFooter(b)
		if err != nil {
			return
		}
		meta := &Metadata{RawFooter: b}
		elements, err := meta.parseRawFooter(shape)
		if err != nil {
			return
		}
		var fields []columns.Column
		read := json.Unmarshal([]byte(table), &fields) == nil
		if read {
			of, err := columns.NewSchema(fields)
			if err != nil {
				return
			}
			if elements, err = meta.applyTable(elements, of, nil); err != nil {
				return
			}
		}
		tree, _, err := parseSchema(elements)
		if err != nil || !read {
			return
		}
		for g, group := range meta.Groups {
			if len(group.Chunks) != tree.NumColumns() {
				t.Errorf("row group %d: got %d column chunks, and the schema has %d columns", g, len(group.Chunks), tree.NumColumns())
			}
		}
	})
}
