package ufs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// BenchmarkParts merges $UFS_PARTS parts (default 64) of one plan, of $UFS_PARTS_COLUMNS columns
// each (default 1,000), within $UFS_PARTS_MEMORY bytes (default: the program's). The parts are made
// first, in $UFS_PARTS_DIR, where they stay for another run or for ufs-stream merge, or in a
// temporary folder. 10,000 of 1,000 columns are 11 GB:
//
//	UFS_PARTS=10000 UFS_PARTS_DIR=/tmp/parts go test ./ufs -run '^$' -bench Parts -benchtime 1x -timeout 1h
//	/usr/bin/time -v ufs-stream merge /tmp/parts/ -o /tmp/all.ufs
func BenchmarkParts(b *testing.B) {
	number := func(name string, otherwise int) int {
		if s := os.Getenv(name); s != "" {
			return must.Get(strconv.Atoi(s))(b)
		}
		return otherwise
	}
	parts, columns := number("UFS_PARTS", 64), number("UFS_PARTS_COLUMNS", 1000)
	dir := os.Getenv("UFS_PARTS_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	size := makeParts(b, dir, parts, columns)
	m := ufs.MergeRequest{Files: []string{dir + "/"}, Output: filepath.Join(b.TempDir(), "all.ufs"), Memory: int64(number("UFS_PARTS_MEMORY", 0))}
	start, runs := time.Now(), 0
	for b.Loop() {
		sum := must.Get(ufs.Merge(b.Context(), m))(b)
		if want := int64(parts) * rowsOfPart; sum.Rows != want || sum.RowsUsed != want || sum.Merged != parts {
			b.Fatalf("%+v", sum)
		}
		runs++
	}
	each := time.Since(start).Seconds() / float64(runs*parts)
	b.ReportMetric(1/each, "parts/s")
	b.ReportMetric(1000*each, "ms/part")
	b.ReportMetric(float64(size)/float64(parts)/each/1e6, "MB/s") // of files
}

// rowsOfPart is few: what a merge does depends on columns alone.
const rowsOfPart = 256

// makeParts makes the parts of a plan in dir and returns their size, but leaves those of another run there. Their states are real: of
// numbers below 16, four fifths of them 0, as coarse images have. There are 32 different ones; the headers are all
// different.
func makeParts(b *testing.B, dir string, parts, columns int) (size int64) {
	const kinds = 32
	made := make([][]byte, kinds)
	for i := range parts {
		path := filepath.Join(dir, fmt.Sprintf("part-%05d-of-%05d.ufs", i+1, parts))
		if fi, err := os.Stat(path); err == nil {
			size += fi.Size()
			continue
		}
		h := partHeader(i, parts, columns)
		if made[i%kinds] == nil {
			moments, spread := partStates(b, i%kinds, columns)
			var file bytes.Buffer
			must.Do(b, chunkio.WriteStatsTo(&file, h, chunkio.Section{Name: "profile", Body: &moments.Profile},
				chunkio.Section{Name: "moments", Body: moments}, chunkio.Section{Name: "histograms", Body: spread}))
			made[i%kinds] = file.Bytes()
		}
		file := withHeader(b, made[i%kinds], h)
		must.Do(b, os.WriteFile(path, file, 0o600))
		size += int64(len(file))
	}
	return size
}

// partHeader is the header of a part that is one file of its own.
func partHeader(i, parts, columns int) chunkio.StatsHeader {
	h := chunkio.StatsHeader{
		Kind: "gram", Version: ufs.Release, Options: map[string]string{"missing": "error"},
		Part: &stream.Part{
			Plan: "0123456789abcdef", Of: parts, Shards: []stream.ShardRange{{From: i + 1, To: i + 1}},
			Whole: &stream.WholeOfParts{Files: parts, Rows: int64(parts) * rowsOfPart},
		},
		Inputs: []stream.Input{{Path: fmt.Sprintf("/lake/day=%05d/part.parquet", i), Rows: rowsOfPart, Bytes: 1 << 20, Fingerprint: fmt.Sprintf("%032x", i)}},
		Ranges: []stream.Range{{From: 0, To: rowsOfPart}},
	}
	for j := range columns {
		h.Columns = append(h.Columns, stream.Column{Name: fmt.Sprintf("pixel%05d", j), Type: "uint8"})
	}
	return h
}

// partStates are the states of rows of bytes.
func partStates(b *testing.B, seed, columns int) (*gram.Moments, *gram.Histograms) {
	c := &stream.Chunk{Rows: rowsOfPart, Block: rowsOfPart, Cols: columns, Stride: rowsOfPart, Data: make([]float64, rowsOfPart*columns)}
	values := planted.NewSeries(1, uint64(seed))
	for i := range c.Data {
		if bits := values.Bits(int64(i)); bits%5 == 0 {
			c.Data[i] = float64(bits >> 60)
		}
	}
	moments, spread := gram.NewMoments(columns, gram.Options{}), gram.NewHistograms(columns, 0)
	must.Do(b, moments.Add(c))
	must.Do(b, spread.Add(c))
	return moments, spread
}

// withHeader is a statistics file with another header: see the container's layout in package
// chunkio.
func withHeader(b *testing.B, file []byte, h chunkio.StatsHeader) []byte {
	const magicAndVersion = 12
	header := must.Get(json.Marshal(h))(b)
	old := magicAndVersion + 4 + int(binary.LittleEndian.Uint32(file[magicAndVersion:])) + 8
	out := append([]byte(nil), file[:magicAndVersion]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	out = append(out, header...)
	out = binary.LittleEndian.AppendUint64(out, xxhash.Sum64(header))
	out = append(out, file[old:len(file)-8]...)
	return binary.LittleEndian.AppendUint64(out, xxhash.Sum64(out))
}
