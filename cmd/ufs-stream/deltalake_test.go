package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// lake is a Delta table over files of doubles that another wrote, with column mapping by name and deleted rows.
type lake struct {
	dir     string
	version int
	vectors []any // of files, in the first version
}

// plantLake makes a table of the files of a folder. A column that files call x000 is y000 in the table. Of each file of
// rows rows, those whose number i has isDeleted(i) are deleted; files that follow each other share a file of vectors.
func plantLake(t *testing.T, dir string, files []string, physical []string, rows, filesOfVector int, isDeleted func(i int) bool) *lake {
	t.Helper()
	l := &lake{dir: dir, version: -1}
	mustbe.Do(t, os.MkdirAll(filepath.Join(dir, "_delta_log"), 0o755))
	features := []string{"columnMapping", "deletionVectors"}
	actions := []any{map[string]any{"protocol": map[string]any{"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}}}
	actions = append(actions, schemaOfLake(t, physical, tableNames(physical)))
	var adds []any
	for part := range slices.Chunk(files, filesOfVector) {
		vectors := writeVectors(t, dir, byte(len(adds)/filesOfVector), len(part), rows, isDeleted)
		l.vectors = append(l.vectors, vectors...)
		for i, name := range part {
			adds = append(adds, addOfLake(t, dir, name, vectors[i]))
		}
	}
	l.commit(t, append(actions, adds...)...)
	return l
}

// tableNames returns the names that the columns of a planted table have in the beginning.
func tableNames(physical []string) []string {
	var names []string
	for _, name := range physical {
		names = append(names, "y"+strings.TrimPrefix(name, "x"))
	}
	return names
}

// commit adds a version of the table.
func (l *lake) commit(t *testing.T, actions ...any) {
	t.Helper()
	l.version++
	text := ""
	for _, action := range actions {
		text += string(mustbe.Get(json.Marshal(action))(t)) + "\n"
	}
	write(t, filepath.Join(l.dir, "_delta_log", fmt.Sprintf("%020d.json", l.version)), text)
}

func schemaOfLake(t *testing.T, physical, names []string) any {
	t.Helper()
	var fields []any
	for i, name := range physical {
		fields = append(fields, map[string]any{"name": names[i], "type": "double", "nullable": true,
			"metadata": map[string]any{"delta.columnMapping.id": i + 1, "delta.columnMapping.physicalName": name}})
	}
	schema := string(mustbe.Get(json.Marshal(map[string]any{"type": "struct", "fields": fields}))(t))
	return map[string]any{"metaData": map[string]any{"id": "lake", "format": map[string]any{"provider": "parquet", "options": map[string]any{}},
		"schemaString": schema, "partitionColumns": []string{}, "configuration": map[string]any{"delta.columnMapping.mode": "name"}}}
}

func addOfLake(t *testing.T, dir, name string, vector any) any {
	t.Helper()
	size := mustbe.Get(os.Stat(filepath.Join(dir, name)))(t).Size()
	return map[string]any{"add": map[string]any{"path": name, "partitionValues": map[string]any{}, "size": size, "modificationTime": 1, "dataChange": true, "deletionVector": vector}}
}

// writeVectors writes a file of equal vectors, one after another, and returns what the log has of each.
func writeVectors(t *testing.T, dir string, number byte, count, rows int, isDeleted func(i int) bool) (vectors []any) {
	t.Helper()
	deleted := roaring64.New()
	for i := range rows {
		if isDeleted(i) {
			deleted.Add(uint64(i)) //nolint:gosec // not negative
		}
	}
	bitmap := append(binary.LittleEndian.AppendUint32(nil, 1681511377), mustbe.Get(deleted.ToBytes())(t)...)
	data := []byte{1}
	for range count {
		vectors = append(vectors, map[string]any{"storageType": "u", "pathOrInlineDv": strings.Repeat("0", 15) + encodeZ85(uint32(number)),
			"offset": len(data), "sizeInBytes": len(bitmap), "cardinality": deleted.GetCardinality()})
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(bitmap))), bitmap...) //nolint:gosec // a few bytes
		data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(bitmap))
	}
	mustbe.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("deletion_vector_00000000-0000-0000-0000-0000%08x.bin", number)), data, 0o600))
	return vectors
}

// encodeZ85 encodes four bytes as https://rfc.zeromq.org/spec/32/ does.
func encodeZ85(word uint32) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	text := make([]byte, 5)
	for i := range text {
		text[len(text)-1-i] = digits[word%85]
		word /= 85
	}
	return string(text)
}

// TestDeltaRequests: of a table of 1,000 files with deletion vectors in a store, each data file takes at most two requests
// for its footer and its columns, and a plan one. Each of the four files of vectors takes two, and the log, its listing and
// looks for a file of this name ten. The same table is read as here.
func TestDeltaRequests(t *testing.T) {
	const rows = 20
	files := long.CountCases(100, 1000)
	filesOfVector := files / 4
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	dir := filepath.Join(s.Dir, "lake")
	mustbe.Do(t, os.MkdirAll(dir, 0o755))
	physical := []string{"x000", "x001", "x002"}
	var paths []string
	for i := range files {
		path := fmt.Sprintf("part-%04d.parquet", i)
		if paths = append(paths, path); i >= 10 { // the others are copies
			mustbe.Do(t, os.Link(filepath.Join(dir, paths[i%10]), filepath.Join(dir, path)))
			continue
		}
		values := make([][]float64, len(physical))
		for j := range values {
			for row := range rows {
				values[j] = append(values[j], math.Sin(float64((j+2)*(row+rows*i))))
			}
		}
		columnsFile(t, filepath.Join(dir, path), physical, values...)
	}
	plantLake(t, dir, paths, physical, rows, filesOfVector, func(i int) bool { return i%6 == 1 })

	var mu sync.Mutex
	counts := map[string]int{}
	proxy.OnAnswer(func(r *http.Request, _ *http.Response) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.HasSuffix(r.URL.Path, ".parquet"):
			counts["data"]++
		case strings.HasSuffix(r.URL.Path, ".bin"):
			counts["vectors"]++
		default:
			counts["log"]++
		}
	})
	url := s.URLAt(proxy.URL, "lake")
	for _, verb := range [][]string{{"scan", url, "-o", "REMOTE.ufs"}, {"select", url, "--method", "variance", "-k", "2", "-o", "REMOTE.json"}, {"plan", url, "-o", "REMOTE.plan.json"}} {
		clear(counts)
		at := folder(t)
		verb[len(verb)-1] = at(verb[len(verb)-1])
		must(t, verb...)
		dataFiles := 2 * files
		if verb[0] == "plan" {
			dataFiles = files
		}
		if counts["data"] > dataFiles || counts["vectors"] > 2*files/filesOfVector || counts["log"] > 10 {
			t.Errorf("%s: %v requests, want at most %d of data, %d of vectors, 10 of the log", verb[0], counts, dataFiles, 2*files/filesOfVector)
		}
		t.Logf("%s: %v", verb[0], counts)
	}
	near, far := selection(t, dir, "--method", "greedy", "-k", "2"), selection(t, url, "--method", "greedy", "-k", "2")
	if want := int64(files * (rows - 4)); near.Rows != want || far.Rows != want || !slices.Equal(names(near), names(far)) || !strings.HasPrefix(names(near)[0], "y") {
		t.Errorf("%d rows and %v here, %d and %v there; want %d rows", near.Rows, names(near), far.Rows, names(far), want)
	}
	last := filepath.Join(dir, paths[files-1])
	size := len(read(t, last))
	mustbe.Do(t, os.Remove(last))
	ends(t, exit.Data, "the log of its table says that this file is live, and it is not there", "scan", url, "-o", filepath.Join(t.TempDir(), "s.ufs"))
	write(t, last, strings.Repeat("x", size+1))
	ends(t, exit.Data, fmt.Sprintf("says that this file has %d bytes, and it has %d", size, size+1), "scan", url, "-o", filepath.Join(t.TempDir(), "s.ufs"))
}

// TestLakeChangesBetweenRuns: after a commit that renames columns or deletes more rows, a run goes on neither from the
// state nor from the output of one that was interrupted before it. That of the older version goes on to the same bits.
func TestLakeChangesBetweenRuns(t *testing.T) {
	for name, change := range map[string]func(l *lake, physical, files, chosen []string){
		"two columns exchange their names": func(l *lake, physical, files, chosen []string) {
			renamed := slices.Clone(physical) // the order of names stays
			i, j := slices.Index(tableNames(physical), chosen[0]), slices.Index(tableNames(physical), chosen[1])
			renamed[i], renamed[j] = renamed[j], renamed[i]
			l.commit(t, schemaOfLake(t, renamed, tableNames(physical)))
		},
		"more rows are deleted": func(l *lake, physical, files, chosen []string) {
			vector := writeVectors(t, l.dir, 9, 1, 1000, func(i int) bool { return i%5 == 1 || i == 3 })[0]
			removed := map[string]any{"remove": map[string]any{"path": files[0], "dataChange": true, "deletionVector": l.vectors[0]}}
			l.commit(t, removed, addOfLake(t, l.dir, files[0], vector))
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, paths := plant(t, 3000, 3)
			files := convert.Each(paths, filepath.Base)
			physical := plantedColumns(t, in)
			l := plantLake(t, in, files, physical, 1000, 2, func(i int) bool { return i%5 == 1 })
			at := folder(t)
			must(t, "select", in, "--method", "greedy", "-k", "4", "-o", at("sel.json"))
			scan := []string{"scan", in, "--missing", "error"}
			must(t, append(scan, "-o", at("old.ufs"))...)
			must(t, "apply", in, "--selection", at("sel.json"), "-o", at("old"))
			resumed := slices.Concat(scan, []string{"-o", at("got.ufs"), "--checkpoint", at("state"), "--checkpoint-every", "1ns"})
			apply := []string{"apply", in, "--selection", at("sel.json"), "-o", at("out")}
			interruptMidway(t, 10, 5, resumed...)
			interruptMidway(t, 3, 1, apply...)
			change(l, physical, files, names(selectionIn(t, at("sel.json"))))
			if r := invoke(resumed...); r.code != exit.Usage || !strings.Contains(r.err, "checkpoint of another run") && !strings.Contains(r.err, "has changed") {
				t.Errorf("it goes on from the state of another version: exit code %d: %s", r.code, r.err)
			}
			must(t, append(resumed, "--version", "0")...)
			sameFile(t, at("got.ufs"), at("old.ufs"))
			must(t, apply...)
			must(t, "apply", in, "--selection", at("sel.json"), "-o", at("new"))
			differ := false
			for _, file := range files {
				sameFile(t, at("out/"+file), at("new/"+file))
				differ = differ || read(t, at("new/"+file)) != read(t, at("old/"+file))
			}
			if !differ {
				t.Error("the commit changes no output")
			}
		})
	}
}

// plantWhole makes a table of all planted files in a folder, of which every fifth row is deleted.
func plantWhole(t *testing.T, in string, paths []string, rows int) {
	t.Helper()
	plantLake(t, in, convert.Each(paths, filepath.Base), plantedColumns(t, in), rows, len(paths), func(i int) bool { return i%5 == 1 })
}

// plantedColumns returns the names of the columns of planted files, before a table is made of them.
func plantedColumns(t *testing.T, in string) (physical []string) {
	t.Helper()
	var listed struct{ Columns []struct{ Name string } }
	mustbe.Do(t, json.Unmarshal([]byte(must(t, "inspect", in, "--format", "json")), &listed))
	for _, c := range listed.Columns {
		physical = append(physical, c.Name)
	}
	return physical
}
