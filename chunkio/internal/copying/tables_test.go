package copying

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	pqfooter "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
)

// MustJSON makes an Arrow array of the type typ from a JSON array, and fails the test if it cannot.
func MustJSON(t *testing.T, typ arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(text))
	formattest.Must(t, err)
	return a
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
		"geo": chunkiotest.LogicalField(17, crs...), pqfooter.AnnotationPath("s", "g"): chunkiotest.LogicalField(18), "v": chunkiotest.LogicalField(16),
	}.AnnotateFooter(file[start : start+n])
	formattest.Must(t, err)
	file = binary.LittleEndian.AppendUint32(append(file[:start:start], footer...), uint32(len(footer)))
	path := filepath.Join(t.TempDir(), "in.parquet")
	formattest.Must(t, os.WriteFile(path, append(file, parquet.Magic...), 0o600))
	return path
}

// SmallDecimals returns an Arrow IPC file with decimals of 32 or 64 bits, which the library cannot write: a column d, a
// column l of lists with two decimals each, and a struct s with a field x. Each value 0 is null in d and s.x. The file
// is derived from the library's file with decimals of 256 bits: their size is replaced, and only the first bytes of
// their values are used.
func SmallDecimals(t testing.TB, bits, precision, scale int, values []int64) []byte {
	t.Helper()
	const library = 256
	n := len(values)
	raw, valid := make([]byte, library/8*n), make([]byte, n/8+1)
	for i, v := range values {
		if v != 0 {
			valid[i/8] |= 1 << (i % 8)
		}
		if bits == 32 {
			binary.LittleEndian.PutUint32(raw[4*i:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(raw[8*i:], uint64(v))
		}
	}
	typ := &arrow.Decimal256Type{Precision: int32(precision), Scale: int32(scale)}
	flat := array.NewData(typ, n, []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(raw)}, nil, -1, 0)
	plain := array.NewData(typ, n, []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0)
	list := array.NewData(arrow.FixedSizeListOf(2, typ), n/2, []*memory.Buffer{nil}, []arrow.ArrayData{plain}, 0, 0)
	in := array.NewData(arrow.StructOf(arrow.Field{Name: "x", Type: typ, Nullable: true}), n, []*memory.Buffer{nil}, []arrow.ArrayData{flat}, 0, 0)
	columns := []arrow.Array{array.NewSlice(array.MakeFromData(flat), 0, int64(n/2)), array.MakeFromData(list), array.NewSlice(array.MakeFromData(in), 0, int64(n/2))}
	var fields []arrow.Field
	for i, name := range []string{"d", "l", "s"} {
		fields = append(fields, arrow.Field{Name: name, Type: columns[i].DataType(), Nullable: true})
	}
	file := formattest.WriteArrow(t, false, []arrow.Record{array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n/2))})
	words := func(bits int) (b []byte) {
		for _, x := range []int{bits, scale, precision} { // in the order of the table, which omits zeros
			if x != 0 {
				b = binary.LittleEndian.AppendUint32(b, uint32(x))
			}
		}
		return b
	}
	small := bytes.ReplaceAll(file, words(library), words(bits))
	if bytes.Equal(small, file) {
		t.Fatal("the library writes decimals otherwise")
	}
	return small
}
