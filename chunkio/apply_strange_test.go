package chunkio

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

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// logicalField is the field of a SchemaElement that makes it one of logical type number id, in Thrift's compact protocol.
func logicalField(id byte, of ...byte) []byte {
	return slices.Concat([]byte{12, 10 << 1, 12, id << 1}, of, []byte{0, 0})
}

// strangeFile has numbers, a geometry of some coordinate system, alone and in a struct, and a variant.
func strangeFile(t *testing.T, crs ...byte) string {
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
	footer, err := parquet.Annotations{
		"geo": logicalField(17, crs...), parquet.AnnotationPath("s", "g"): logicalField(18), "v": logicalField(16),
	}.AnnotateFooter(file[start : start+n])
	formattest.Must(t, err)
	file = binary.LittleEndian.AppendUint32(append(file[:start:start], footer...), uint32(len(footer)))
	path := filepath.Join(t.TempDir(), "in.parquet")
	formattest.Must(t, os.WriteFile(path, append(file, parquet.Magic...), 0o600))
	return path
}

// typesOf lists the columns of a file with their types and reasons.
func typesOf(t *testing.T, path string) string {
	t.Helper()
	ds, err := Open(t.Context(), []string{path}, Options{})
	formattest.Must(t, err)
	var words []string
	for f := range ds.Fields() {
		words = append(words, strings.TrimSpace(f.Name+" "+f.Type+" "+f.Why))
	}
	return strings.Join(words, ", ")
}

// TestApplyStrangeTypes: columns of logical types that the library does not know leave the others, and are copied with
// their types and bytes.
func TestApplyStrangeTypes(t *testing.T) {
	in, dir := strangeFile(t, 0x18, 1, 'X'), t.TempDir()
	if got := typesOf(t, in); got != "id int32, geo geometry geometry, s.g geography geography, s.x int32, v variant variant" {
		t.Errorf("read as %s", got)
	}
	flat, whole := filepath.Join(dir, "flat.parquet"), filepath.Join(dir, "whole.parquet")
	mustApply(t, []string{in}, flat, ApplyOptions{Columns: []string{"s.x"}, Also: []string{"v", "geo", "s.g"}})
	if got := typesOf(t, flat); got != "s.x int32, v variant variant, geo geometry geometry, s.g geography geography" {
		t.Errorf("flat: %s", got)
	}
	_, err := Convert(t.Context(), []string{in}, whole, ApplyOptions{})
	formattest.Must(t, err)
	if got := typesOf(t, whole); got != typesOf(t, in) {
		t.Errorf("whole: %s", got)
	}
	open := func(path string) *parquet.File {
		opened, err := openFile(t.Context(), path)
		formattest.Must(t, err)
		f, err := parquet.Open(opened, 1<<30)
		formattest.Must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(in), open(whole)
	for i := range a.Schema().NumColumns() {
		var read [2]formattest.Leaf
		for k, f := range []*parquet.File{a, b} {
			r, done, err := f.ColumnReader(0, i)
			formattest.Must(t, err)
			formattest.Must(t, formattest.ReadChunk(r, &read[k]))
			done()
		}
		if !slices.Equal(read[0].Values, read[1].Values) || !slices.Equal(read[0].Def, read[1].Def) || len(read[0].Values) < 2 {
			t.Errorf("column %d: %v, want %v", i, read[1], read[0])
		}
	}
	if bounds := b.Bounds(0, 1); bounds.Min.Known || bounds.Max.Known {
		t.Errorf("a geometry has bounds: %+v", bounds)
	}
	// Geometries of different coordinate systems are not one column.
	other := strangeFile(t, 0x18, 1, 'Y')
	opt := ApplyOptions{Columns: []string{"id"}, Also: []string{"geo"}}
	if _, err := Apply(t.Context(), []string{in, other}, filepath.Join(dir, "both.parquet"), opt); !isData(err) || !strings.Contains(err.Error(), "logical type") {
		t.Errorf("two coordinate systems: %v", err)
	}
	mustApply(t, []string{in, strangeFile(t, 0x18, 1, 'X')}, filepath.Join(dir, "twice.parquet"), opt)
	// Elsewhere they are bytes.
	opt.Form = FormArrow
	mustApply(t, []string{in}, filepath.Join(dir, "out.arrow"), opt)
}
