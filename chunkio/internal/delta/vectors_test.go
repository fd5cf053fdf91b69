package delta

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

const vectorsProtocol = `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"]}}`

// vectorData is the data of a deletion vector of these rows.
func vectorData(t testing.TB, rows ...uint64) []byte {
	t.Helper()
	b, err := roaring64.BitmapOf(rows...).ToBytes()
	formattest.Must(t, err)
	return append(binary.LittleEndian.AppendUint32(nil, 1681511377), b...)
}

// appendVector appends data to a file of deletion vectors, which it begins if it is empty. It returns the place of data.
func appendVector(file, data []byte) (longer []byte, offset int) {
	if len(file) == 0 {
		file = []byte{1}
	}
	offset = len(file)
	file = append(binary.BigEndian.AppendUint32(file, uint32(len(data))), data...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(data)), offset
}

// encodeZ85 is a twin of decodeZ85, by the arithmetic of long numbers. It pads data with zeros.
func encodeZ85(data []byte) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	var text strings.Builder
	for at := 0; at < len(data); at += 4 {
		word := make([]byte, 4)
		copy(word, data[at:])
		n, base, block := new(big.Int).SetBytes(word), big.NewInt(85), make([]byte, 5)
		for i := range block {
			digit := new(big.Int)
			n.DivMod(n, base, digit)
			block[4-i] = digits[digit.Int64()]
		}
		text.Write(block)
	}
	return text.String()
}

func withVector(line string, v map[string]any) string {
	b, _ := json.Marshal(v)
	return strings.Replace(line, `"path"`, `"deletionVector":`+string(b)+`,"path"`, 1)
}

func inlineVector(data []byte, rows int) map[string]any {
	return map[string]any{"storageType": "i", "pathOrInlineDv": encodeZ85(data), "sizeInBytes": len(data), "cardinality": rows}
}

// wantDeleted demands that the files of the snapshot have these deleted rows: "path: rows" for each.
func wantDeleted(t *testing.T, name string, s *Snapshot, want ...string) {
	t.Helper()
	var got []string
	for _, f := range s.Files {
		line := f.Path + ":"
		if f.DeletedRows() != nil {
			rows := roaring64.New()
			formattest.Must(t, rows.UnmarshalBinary(f.DeletedRows()))
			line = fmt.Sprintf("%s: %v", f.Path, rows.ToArray())
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: deleted rows %q, want %q", name, got, want)
	}
}

// TestDeletionVectors: the vectors of live files are read from the log, from files of the table and from other files,
// and a vector makes another file of the same path.
func TestDeletionVectors(t *testing.T) {
	m := newFolder()
	id := []byte{0xd2, 0xc6, 0x39, 0xaa, 0x88, 0x16, 0x43, 0x1a, 0xaa, 0xf6, 0xd3, 0xfe, 0x25, 0x12, 0xff, 0x61}
	if encodeZ85(id) != "^-aqEH.-t@S}K{vb[*k^" { // the example of PROTOCOL.md
		t.Fatalf("the twin encodes %x as %s", id, encodeZ85(id))
	}
	far := vectorData(t, 0)
	file, first := appendVector(nil, vectorData(t, 3, 4, 7, 11, 18, 29))
	file, second := appendVector(file, far)
	file = append(file, make([]byte, maxVectorGap)...) // more than the gap that is read over
	file, third := appendVector(file, vectorData(t, 1<<32+5))
	m.files["ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"] = file
	alone, _ := appendVector(nil, vectorData(t, 9))
	m.files["deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"] = alone
	m.files["s3://mytable/dv%20x.bin"] = alone
	relative := func(offset int, data []byte, rows int) map[string]any {
		return map[string]any{"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": offset, "sizeInBytes": len(data), "cardinality": rows}
	}
	// The rows of the example in PROTOCOL.md, whose bytes have an older format that no reader takes today.
	inline := map[string]any{"storageType": "i", "pathOrInlineDv": "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", "sizeInBytes": 44, "cardinality": 6}
	m.commit(0, vectorsProtocol, metaLine, addLine("b"), addLine("a"), addLine("c"), addLine("d"), addLine("e"), addLine("f"))
	m.commit(1, withVector(addLine("b"), inline), removeLine("b"),
		withVector(addLine("c"), relative(second, far, 1)), removeLine("c"),
		withVector(addLine("d"), relative(third, vectorData(t, 1<<32+5), 1)), removeLine("d"),
		withVector(addLine("e"), map[string]any{"storageType": "u", "pathOrInlineDv": "^-aqEH.-t@S}K{vb[*k^", "offset": 1, "sizeInBytes": len(vectorData(t, 9)), "cardinality": 1}), removeLine("e"),
		withVector(addLine("f"), map[string]any{"storageType": "p", "pathOrInlineDv": "s3://mytable/dv%20x.bin", "offset": 1, "sizeInBytes": len(vectorData(t, 9)), "cardinality": 1}), removeLine("f"))
	m.commit(2, withVector(addLine("b"), relative(first, vectorData(t, 3, 4, 7, 11, 18, 29), 6)), withVector(removeLine("b"), inline), removeLine("c")) // c without a vector is no live file
	m.commit(3, withVector(addLine("b"), inlineVector(vectorData(t), 0)), withVector(removeLine("b"), relative(first, nil, 6)), withVector(removeLine("c"), relative(second, far, 1)))
	const rest = "d: [4294967301]"
	for version, want := range [][]string{
		{"a:", "b:", "c:", "d:", "e:", "f:"},
		{"a:", "b: [3 4 7 11 18 29]", "c: [0]", rest, "e: [9]", "f: [9]"},
		{"a:", "b: [3 4 7 11 18 29]", "c: [0]", rest, "e: [9]", "f: [9]"},
		{"a:", "b:", rest, "e: [9]", "f: [9]"},
	} {
		clear(m.reads)
		got, err := read(t, m, int64(version))
		if err != nil {
			t.Errorf("version %d: %v", version, err)
			continue
		}
		wantDeleted(t, fmt.Sprint("version ", version), got, want...)
		for name, n := range m.reads {
			if n != 1 {
				t.Errorf("version %d opens %s %d times", version, name, n)
			}
		}
	}

	// The same in a checkpoint.
	rows := append(newHistory(12, 1).otherRows(0), row{"add": row{"path": "b", "size": 1, "deletionVector": row{
		"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": first, "sizeInBytes": len(vectorData(t, 3, 4, 7, 11, 18, 29)), "cardinality": 6}}})
	m.files[fmt.Sprintf(logFolder+"%020d.checkpoint.parquet", 7)] = writeRows(t, checkpointFields(false), rows, 10)
	got, err := read(t, m, 7)
	formattest.Must(t, err)
	wantDeleted(t, "checkpoint", got, "b: [3 4 7 11 18 29]")
	// Older checkpoints lack the columns of vectors.
	fields := checkpointFields(false)
	fields[1] = groupNode("add", texts("path"), schema.FieldList{mapNode("partitionValues")}, longs("size modificationTime"), texts("stats"))
	delete(rows[len(rows)-1]["add"].(row), "deletionVector")
	m.files[fmt.Sprintf(logFolder+"%020d.checkpoint.parquet", 7)] = writeRows(t, fields, rows, 10)
	got, err = read(t, m, 7)
	formattest.Must(t, err)
	wantDeleted(t, "checkpoint without vectors", got, "b:")
}

// TestDamagedVectors: a vector that is damaged, or differs from the log, is an error that names its data file.
func TestDamagedVectors(t *testing.T) {
	data := vectorData(t, 1, 2, 3)
	file, offset := appendVector(nil, data)
	ending := append(slices.Clone(data), 0, 0, 0, 0)
	otherFormat := slices.Clone(data)
	otherFormat[0]++
	unsorted := slices.Clone(data)
	unsorted[len(unsorted)-1] = 9 // the last row is followed by none
	for _, c := range []struct {
		name   string
		change func(v map[string]any, file []byte) []byte
		words  string
	}{
		{"a missing file", func(map[string]any, []byte) []byte { return nil }, "is missing"},
		{"a false checksum", func(_ map[string]any, f []byte) []byte { f[offset+6]++; return f }, "checksum"},
		{"another size in the file", func(_ map[string]any, f []byte) []byte { f[offset+3]++; return f }, "the log says"},
		{"another size in the log", func(v map[string]any, f []byte) []byte { v["sizeInBytes"] = len(data) - 1; return f }, "the log says"},
		{"another number of rows", func(v map[string]any, f []byte) []byte { v["cardinality"] = 4; return f }, "deletes 3 rows, and the log says 4"},
		{"a place after the end", func(v map[string]any, f []byte) []byte { v["offset"] = len(f); return f }, "ends at byte"},
		{"a place far after the end", func(v map[string]any, f []byte) []byte { v["offset"] = 1 << 40; return f }, "ends at byte"},
		{"a place beyond all numbers", func(v map[string]any, f []byte) []byte { v["offset"] = int64(1<<63 - 1); return f }, "offset"},
		{"a negative place", func(v map[string]any, f []byte) []byte { v["offset"] = -1; return f }, "offset"},
		{"a negative size", func(v map[string]any, f []byte) []byte { v["sizeInBytes"] = -1; return f }, "size"},
		{"a size of 4 GiB", func(v map[string]any, f []byte) []byte { v["sizeInBytes"] = 1 << 32; return f }, "size"},
		{"another version of the file", func(_ map[string]any, f []byte) []byte { f[0] = 2; return f }, "version 2"},
		{"an unknown storage", func(v map[string]any, f []byte) []byte { v["storageType"] = "x"; return f }, `"x"`},
		{"no UUID", func(v map[string]any, f []byte) []byte { v["pathOrInlineDv"] = "ab"; return f }, "no UUID"},
		{"no Z85", func(v map[string]any, f []byte) []byte { v["pathOrInlineDv"] = "^-aqEH.-t@S}K{vb[*k~"; return f }, "Z85"},
		{"Z85 above 32 bits", func(v map[string]any, f []byte) []byte { v["pathOrInlineDv"] = "#####" + "^-aqEH.-t@S}K{v"; return f }, "32 bits"},
		{"a prefix that leads out", func(v map[string]any, f []byte) []byte { v["pathOrInlineDv"] = "..^-aqEH.-t@S}K{vb[*k^"; return f }, "no name of a folder"},
		{"a prefix of two folders", func(v map[string]any, f []byte) []byte { v["pathOrInlineDv"] = "../..^-aqEH.-t@S}K{vb[*k^"; return f }, "no name of a folder"},
		{"a path that is not absolute", func(v map[string]any, f []byte) []byte {
			v["storageType"], v["pathOrInlineDv"] = "p", "x.bin"
			return f
		}, "not absolute"},
		{"an inline vector that is too short", func(v map[string]any, f []byte) []byte {
			v["storageType"], v["pathOrInlineDv"], v["sizeInBytes"] = "i", "00000", 5
			delete(v, "offset")
			return f
		}, "has 4 bytes, and claims 5"},
		{"bytes after the bitmap", func(v map[string]any, _ []byte) []byte {
			f, _ := appendVector(nil, ending)
			v["sizeInBytes"] = len(ending)
			return f
		}, "4 bytes before"},
		{"another format", func(map[string]any, []byte) []byte { f, _ := appendVector(nil, otherFormat); return f }, "no bitmap of the format"},
		{"no data", func(v map[string]any, _ []byte) []byte {
			f, _ := appendVector(nil, nil)
			v["sizeInBytes"] = 0
			return f
		}, "no bitmap of the format"},
		{"a bitmap that is cut off", func(v map[string]any, _ []byte) []byte {
			f, _ := appendVector(nil, data[:len(data)-1])
			v["sizeInBytes"] = len(data) - 1
			return f
		}, "damaged"},
	} {
		m, v := newFolder(), map[string]any{"storageType": "u", "pathOrInlineDv": "^-aqEH.-t@S}K{vb[*k^", "offset": offset, "sizeInBytes": len(data), "cardinality": 3}
		at := "b"
		const name = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
		if b := c.change(v, slices.Clone(file)); b != nil {
			m.files[name] = b
		} else {
			at = name
		}
		m.commit(0, vectorsProtocol, metaLine, withVector(addLine("b"), v))
		_, err := read(t, m, -1)
		wantData(t, c.name, err, at, c.words)
	}
	m := newFolder()
	m.commit(0, vectorsProtocol, metaLine, addLine("b"), withVector(addLine("b"), inlineVector(data, 3)))
	_, err := read(t, m, -1)
	wantData(t, "a file with two vectors", err, logFolder, "twice")
}

// FuzzVector reads a file of deletion vectors with any bytes.
func FuzzVector(f *testing.F) {
	for _, rows := range [][]uint64{{1, 2, 3}, {1 << 20}, {5, 1 << 33}} {
		f.Add(vectorData(f, rows...), len(rows))
	}
	dense := make([]uint64, 9000)
	for i := range dense {
		dense[i] = uint64(2 * i)
	}
	f.Add(vectorData(f, dense...), len(dense))
	runs := roaring64.New()
	runs.AddRange(10, 1<<17)
	runs.RunOptimize()
	b, err := runs.ToBytes()
	formattest.Must(f, err)
	f.Add(append(binary.LittleEndian.AppendUint32(nil, vectorMagic), b...), 1<<17-10)
	f.Fuzz(func(t *testing.T, data []byte, rows int) {
		m := newFolder()
		m.commit(0, vectorsProtocol, metaLine, withVector(addLine("b"), inlineVector(data, rows)))
		judge(t, m)
		if s, err := read(t, m, -1); err == nil && s.Files[0].DeletedRows() != nil {
			if _, err := base64.StdEncoding.DecodeString(base64.StdEncoding.EncodeToString(s.Files[0].DeletedRows())); err != nil {
				t.Errorf("the deleted rows cannot be written to a plan: %v", err)
			}
		}
	})
}
