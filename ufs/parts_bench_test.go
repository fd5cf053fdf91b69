package ufs_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
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
	m := ufs.MergeRequest{Files: []string{dir + "/"}, Output: filepath.Join(b.TempDir(), "all.ufs"), Limits: ufs.Limits{Memory: int64(number("UFS_PARTS_MEMORY", 0))}}
	start, runs := time.Now(), 0
	for b.Loop() {
		sum := must.Get(ufs.Merge(b.Context(), m))(b)
		if want := int64(parts) * rowsOfPart; sum.Rows != want || sum.RowsUsed != want || sum.Merged != parts {
			b.Fatalf("merged: %+v, want %d rows of %d parts", sum, want, parts)
		}
		runs++
	}
	each := time.Since(start).Seconds() / float64(runs*parts)
	b.ReportMetric(1/each, "parts/s")
	b.ReportMetric(1000*each, "ms/part")
	b.ReportMetric(float64(size)/float64(parts)/each/1e6, "MB/s") // of files
}
