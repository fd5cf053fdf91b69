package chunkio

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// neighbours are whole numbers of which a float64 holds the first two as one.
var neighbours = []string{"9007199254740992", "9007199254740993", "9223372036854775807", "9007199254740992"}

// rowsOfNeighbours is a table of them and of a feature, in every format of rows.
func rowsOfNeighbours() map[string][]byte {
	const npy = "{'descr': [('id', '<u8'), ('x', '<i8')], 'fortran_order': False, 'shape': (4,), }\n"
	const schema = `{"type":"record","name":"R","fields":[{"name":"id","type":"long"},{"name":"x","type":"long"}]}`
	ids := []uint64{1 << 53, 1<<53 + 1, 1<<63 - 1, 1 << 53}
	csv, lines, array, block := "id,x\n", "", []byte("\x93NUMPY\x01\x00"), []byte{}
	array = append(append(array, byte(len(npy)), 0), npy...)
	for i, id := range ids {
		csv += neighbours[i] + ",1\n"
		lines += `{"id":` + neighbours[i] + `,"x":1}` + "\n"
		array = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(array, id), 1)
		block = binary.AppendVarint(binary.AppendVarint(block, int64(id)), 1)
	}
	text := func(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }
	const mark = "0123456789abcdef"
	avro := text(text(binary.AppendVarint([]byte("Obj\x01"), 1), "avro.schema"), schema)
	avro = append(append(avro, 0), mark...)
	avro = append(text(binary.AppendVarint(avro, int64(len(ids))), string(block)), mark...)
	return map[string][]byte{
		"t.csv": []byte(csv), "t.tsv": []byte(strings.ReplaceAll(csv, ",", "\t")), "t.ndjson": []byte(lines), "t.npy": array, "t.avro": avro,
	}
}

// Whole numbers that a float64 cannot tell apart are different classes, and different categories, in every
// format of rows as in Parquet; as features they are numbers like others.
func TestWholeNumbersAsClasses(t *testing.T) {
	dir := t.TempDir()
	for name, data := range rowsOfNeighbours() {
		path := filepath.Join(dir, name)
		formattest.Must(t, os.WriteFile(path, data, 0o644))
		copied := path + ".parquet"
		_, err := Convert(t.Context(), []string{path}, copied, ApplyOptions{})
		formattest.Must(t, err)
		for _, input := range []string{path, copied, "-"} {
			opt := Options{Label: "id", Classes: true, Stdin: bytes.NewReader(data)}
			ds, err := Open(t.Context(), []string{input}, opt)
			formattest.Must(t, err)
			if names, _, err := labelled(ds, stream.Range{}); err != nil || !slices.Equal(names, neighbours) {
				t.Errorf("%s of %s: classes %v, %v", input, name, names, err)
			}
			formattest.Must(t, ds.Close())

			opt = Options{Categories: []Category{{Column: "id", Why: "not read yet"}}, Stdin: bytes.NewReader(data)}
			ds, err = Open(t.Context(), []string{input}, opt)
			formattest.Must(t, err)
			found, err := ds.Categories(t.Context(), []string{"id"}, 8)
			if err != nil || !slices.Equal(found[0].Values, neighbours[:3]) {
				t.Errorf("%s of %s: categories %v, %v", input, name, found, err)
			}
			formattest.Must(t, ds.Close())
		}
		ds, err := Open(t.Context(), []string{path}, Options{})
		formattest.Must(t, err)
		if columns := ds.Columns(); columns[0].Type != "double" {
			t.Errorf("%s: as features %v", name, columns)
		}
		formattest.Must(t, ds.Close())
	}
}

// A label with a fraction far down a column of whole numbers is read again, as numbers; on standard input that is an
// error.
func TestFractionsBehindWholeClasses(t *testing.T) {
	data := []byte("id,x\n" + strings.Repeat("1,2\n", 300_000) + "0.5,2\n")
	path := filepath.Join(t.TempDir(), "t.csv")
	formattest.Must(t, os.WriteFile(path, data, 0o644))
	ds, err := Open(t.Context(), []string{path}, Options{Label: "id", Classes: true})
	formattest.Must(t, err)
	defer ds.Close()
	if _, _, err := labelled(ds, stream.Range{}); err != nil || !slices.Equal(ds.Classes(), []string{"1", "0.5"}) {
		t.Errorf("classes %v, %v", ds.Classes(), err)
	}
	_, err = Open(t.Context(), []string{"-"}, Options{Label: "id", Classes: true, Stdin: bytes.NewReader(data)})
	if err == nil || !strings.Contains(err.Error(), "line 300002") {
		t.Errorf("on standard input: %v", err)
	}
}
