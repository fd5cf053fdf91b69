package chunkiotest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	pqfooter "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
)

// LogicalField returns the field of a SchemaElement that gives it the logical type with number id, in Thrift's compact
// protocol. The bytes `of` are the encoded parameters of the type.
func LogicalField(id byte, of ...byte) []byte {
	return slices.Concat([]byte{12, 10 << 1, 12, id << 1}, of, []byte{0, 0})
}

// StrangeFile writes a Parquet file with logical types that the Arrow library does not know, and returns its path: a
// geometry with the coordinate system crs, a geography in a struct, and a variant.
func StrangeFile(t *testing.T, crs ...byte) string {
	t.Helper()
	opt, req := pq.Repetitions.Optional, pq.Repetitions.Required
	bytesNode := func(name string, rep pq.Repetition) schema.Node { return schema.NewByteArrayNode(name, rep, -1) }
	group := func(name string, fields ...schema.Node) schema.Node {
		return schema.MustGroup(schema.NewGroupNode(name, opt, fields, -1))
	}
	fields := schema.FieldList{
		schema.NewInt32Node("id", req, -1), bytesNode("geo", opt), group("s", bytesNode("g", opt), schema.NewInt32Node("x", opt, -1)),
		group("v", bytesNode("metadata", req), bytesNode("value", opt)),
	}
	file := formattest.WriteFile(t, fields, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error {
		def := []int16{w.Descr().MaxDefinitionLevel(), 0, w.Descr().MaxDefinitionLevel()}
		var err error
		switch w := w.(type) {
		case *pqfile.Int32ColumnChunkWriter:
			if w.Descr().MaxDefinitionLevel() == 0 {
				_, err = w.WriteBatch([]int32{1, 2, 3}, nil, nil)
			} else {
				_, err = w.WriteBatch([]int32{1, 3}, def, nil)
			}
		case *pqfile.ByteArrayColumnChunkWriter:
			_, err = w.WriteBatch([]pq.ByteArray{[]byte("a\x00" + w.Descr().Path()), []byte("\xFFb")}, def, nil)
		}
		return err
	})
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	start := len(file) - 8 - n
	footer, err := pqfooter.Annotations{
		"geo": LogicalField(17, crs...), pqfooter.AnnotationPath("s", "g"): LogicalField(18), "v": LogicalField(16),
	}.AnnotateFooter(file[start : start+n])
	formattest.Must(t, err)
	file = binary.LittleEndian.AppendUint32(append(file[:start:start], footer...), uint32(len(footer)))
	path := filepath.Join(t.TempDir(), "in.parquet")
	formattest.Must(t, os.WriteFile(path, append(file, parquet.Magic...), 0o600))
	return path
}

// TypesOf returns a text that lists the columns of a file with their types, and the reasons why they are not features.
func TypesOf(t *testing.T, path string) string {
	t.Helper()
	ds, err := dataset.OpenInputs(t.Context(), []string{path}, settings.Options{})
	formattest.Must(t, err)
	var words []string
	for f := range ds.Fields() {
		words = append(words, strings.TrimSpace(f.Name+" "+f.Type+" "+f.Why))
	}
	return strings.Join(words, ", ")
}
