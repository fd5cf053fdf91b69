//go:build unix

package ufs_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// BenchmarkDeletedRows selects from a Delta table of $UFS_DELETED_ROWS rows (default 1,000,000) of which 5 % are deleted by
// vectors and, in turns with that, from the same table without vectors, and from one of only the rows that are left. It
// reports the median time of the first over those of the others, on the clock and of the processors.
//
//	UFS_DELETED_ROWS=10000000 go test ./ufs -run '^$' -bench DeletedRows -benchtime 9x -timeout 1h
func BenchmarkDeletedRows(b *testing.B) {
	const files, columns = 10, 20
	rows := 1_000_000
	if s := os.Getenv("UFS_DELETED_ROWS"); s != "" {
		rows = must.Get(strconv.Atoi(s))(b)
	}
	dir := b.TempDir()
	source := planted.New(planted.Options{Rows: int64(rows / files), Columns: columns, GroupRow: 1 << 17})
	first := filepath.Join(dir, "first.parquet")
	must.Do(b, chunkio.WriteParquet(b.Context(), first, source, chunkio.WriteOptions{}))
	deleted, random := roaring64.New(), rand.New(rand.NewPCG(1, 2))
	for i := range rows / files {
		if random.IntN(20) == 0 {
			deleted.Add(uint64(i)) //nolint:gosec // not negative
		}
	}
	tables := []string{filepath.Join(dir, "vectors"), filepath.Join(dir, "whole"), filepath.Join(dir, "left")}
	plantTable(b, tables[0], source, first, files, deleted)
	plantTable(b, tables[1], source, first, files, nil)
	left := filepath.Join(dir, "left.parquet")
	one := filepath.Join(dir, "one")
	plantTable(b, one, source, first, 1, deleted)
	must.Get(ufs.Convert(b.Context(), ufs.ConvertRequest{Input: ufs.Input{Paths: []string{one}}, Output: left}))(b)
	plantTable(b, tables[2], source, left, files, nil)
	for _, method := range []string{"variance", "greedy"} {
		b.Run(method, func(b *testing.B) {
			clock, processor := make([][]float64, len(tables)), make([][]float64, len(tables))
			for b.Loop() {
				for i, table := range tables {
					start, used := time.Now(), processorTime(b)
					s := must.Get(ufs.Select(b.Context(), ufs.Request{Input: ufs.Input{Paths: []string{table}}, Choice: ufs.Choice{K: 5, Method: method}}))(b)
					clock[i], processor[i] = append(clock[i], time.Since(start).Seconds()), append(processor[i], (processorTime(b)-used).Seconds())
					if want := int64(rows); i == 1 && s.Rows != want || i != 1 && s.Rows != want-int64(files)*int64(deleted.GetCardinality()) { //nolint:gosec // few
						b.Fatalf("%s has %d rows", table, s.Rows)
					}
				}
			}
			for i := range tables {
				slices.Sort(clock[i])
				slices.Sort(processor[i])
			}
			middle := len(clock[0]) / 2
			b.ReportMetric(clock[0][middle], "vectors-s")
			b.ReportMetric(clock[0][middle]/clock[1][middle], "x-whole")
			b.ReportMetric(clock[0][middle]/clock[2][middle], "x-left")
			b.ReportMetric(processor[0][middle]/processor[1][middle], "cpu-x-whole")
			b.ReportMetric(processor[0][middle]/processor[2][middle], "cpu-x-left")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// plantTable makes a table of n files that are all the same one, without these rows of each.
func plantTable(b *testing.B, dir string, source *planted.Table, file string, n int, deleted *roaring64.Bitmap) {
	must.Do(b, os.MkdirAll(filepath.Join(dir, "_delta_log"), 0o755))
	var fields []any
	for _, c := range source.Columns() {
		fields = append(fields, map[string]any{"name": c.Name, "type": c.Type, "nullable": true, "metadata": map[string]any{}})
	}
	schema := string(must.Get(json.Marshal(map[string]any{"type": "struct", "fields": fields}))(b))
	features := []string{"deletionVectors"}
	actions := []any{
		map[string]any{"protocol": map[string]any{"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}},
		map[string]any{"metaData": map[string]any{"id": "t", "format": map[string]any{"provider": "parquet", "options": map[string]any{}}, "schemaString": schema, "partitionColumns": []string{}, "configuration": map[string]any{}}},
	}
	var vector any
	if deleted != nil {
		bitmap := append(binary.LittleEndian.AppendUint32(nil, 1681511377), must.Get(deleted.ToBytes())(b)...)
		data := append(binary.BigEndian.AppendUint32([]byte{1}, uint32(len(bitmap))), bitmap...) //nolint:gosec // some kilobytes
		path := filepath.Join(dir, "rows.bin")
		must.Do(b, os.WriteFile(path, binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(bitmap)), 0o600))
		vector = map[string]any{"storageType": "p", "pathOrInlineDv": "file://" + path, "offset": 1, "sizeInBytes": len(bitmap), "cardinality": deleted.GetCardinality()}
	}
	for i := range n {
		name := fmt.Sprintf("%d.parquet", i)
		must.Do(b, os.Link(file, filepath.Join(dir, name)))
		size := must.Get(os.Stat(file))(b).Size()
		actions = append(actions, map[string]any{"add": map[string]any{"path": name, "partitionValues": map[string]any{}, "size": size, "modificationTime": 1, "dataChange": true, "deletionVector": vector}})
	}
	var log strings.Builder
	for _, action := range actions {
		log.Write(append(must.Get(json.Marshal(action))(b), '\n'))
	}
	must.Do(b, os.WriteFile(filepath.Join(dir, "_delta_log", "00000000000000000000.json"), []byte(log.String()), 0o600))
}
