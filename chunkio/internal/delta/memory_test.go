package delta

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/stream"
)

// manyFiles is a table of n live files in two commits, in few or many partitions.
func manyFiles(n, partitions int) *memoryFolder {
	m := newFolder()
	meta := strings.Replace(metaLine, `"partitionColumns":[]`, `"partitionColumns":["p"]`, 1)
	for half := range 2 {
		var b strings.Builder
		if half == 0 {
			b.WriteString(protocolLine + "\n" + meta + "\n")
		}
		for i := half * n / 2; i < (half+1)*n/2; i++ {
			fmt.Fprintf(&b, `{"add":{"path":"p=%d/part-00000-%036d-c000.snappy.parquet","partitionValues":{"p":"%d"},"size":%d,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":%d,\"minValues\":{\"x\":1}}"}}`+"\n",
				i%partitions, i, i%partitions, i, i)
		}
		m.files[commitFileName(int64(half))] = []byte(b.String())
	}
	return m
}

func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// The memory counted against the limit is at least the memory held, and not many times as much.
func TestCountedMemoryIsHeld(t *testing.T) {
	const n = 60_000
	for _, partitions := range []int{10, n} {
		m := manyFiles(n, partitions)
		table := &table{folder: m, name: "shop/orders", budget: budget{limit: 1 << 40}}
		before := heap()
		if err := table.listLogFiles(t.Context()); err != nil {
			t.Fatalf("listing the log: %v", err)
		}
		part, err := table.segmentOfVersion(1)
		if err != nil {
			t.Fatalf("finding the segment: %v", err)
		}
		s := newReplayState(&table.budget, true)
		if err := replaySegment(t.Context(), table, part, s); err != nil {
			t.Fatalf("replaying the log: %v", err)
		}
		held, counted := heap()-before, table.budget.used
		files, err := liveFiles(table, s)
		if err != nil || len(files) != n {
			t.Fatalf("%d files, %v", len(files), err)
		}
		after := heap() - before
		t.Logf("%d partitions: %d bytes a file counted, %d held in replay, %d by the list", partitions, counted/n, held/n, after/n)
		// The list is made while the state is there: both count.
		if list := int64(n) * int64(unsafe.Sizeof(File{})); held+list > counted || 4*(held+list) < counted {
			t.Errorf("%d partitions: %d bytes held and %d of the list, %d counted", partitions, held, list, counted)
		}
		runtime.KeepAlive(files)
		runtime.KeepAlive(m)
	}
}

// What is removed is given back: a table that only churns needs no more for its history.
func TestBudgetIsGivenBack(t *testing.T) {
	for seed := range uint64(20) {
		h := newHistory(300+seed, 15)
		m := newFolder()
		h.write(m, 0, h.rng)
		h.checkpoint(t, m, 5, int(seed)%shapes)
		table := &table{folder: m, name: "shop/orders", budget: budget{limit: 1 << 40}}
		if err := table.listLogFiles(t.Context()); err != nil {
			t.Fatalf("seed %d: listing the log: %v", 300+seed, err)
		}
		part, err := table.segmentOfVersion(14)
		if err != nil {
			t.Fatalf("seed %d: finding the segment: %v", 300+seed, err)
		}
		listed := table.budget.used
		s := newReplayState(&table.budget, true)
		if err := replaySegment(t.Context(), table, part, s); err != nil {
			t.Fatalf("seed %d: replaying the log: %v", 300+seed, err)
		}
		// Remove the remaining files: nothing may stay but sidecars, which are listed files.
		s.beginVersion(99)
		for path := range h.versions[14].live {
			if err := s.removeFile("", escape(path), ""); err != nil {
				t.Fatalf("seed %d: removing %s: %v", 300+seed, path, err)
			}
		}
		s.beginVersion(100)
		if left := table.budget.used - listed; left < 0 || left > 3*checkpointFileBytes || len(s.liveFiles) != 0 || len(s.partitions) != 0 {
			t.Errorf("seed %d: %d bytes left, %d files, %d partitions", seed, left, len(s.liveFiles), len(s.partitions))
		}
	}
}

// With any limit there is the answer, or a MemoryError that asks for more than there is.
func TestAnyLimit(t *testing.T) {
	h := newHistory(21, 8)
	m := newFolder()
	h.write(m, 0, h.rng)
	h.checkpoint(t, m, 4, shapeUUIDSidecars)
	for limit := int64(1); ; limit = limit*3/2 + 1 {
		got, err := Read(t.Context(), m, "shop/orders", Options{Memory: limit})
		if err == nil {
			same(t, "", got, err, h.want(7))
			return
		}
		e, ok := errors.AsType[*stream.MemoryError](err)
		if !ok || e.Need <= limit || e.Limit > limit || limit > 1<<30 {
			t.Fatalf("limit %d: %v", limit, err)
		}
	}
}

// One commit that removes very many files does not slow the later commits: its map is not kept, because clearing a
// map takes time proportional to its largest size. A small one is kept.
func TestChurnIsLinear(t *testing.T) {
	for removals, kept := range map[int]bool{1: true, 300_000: false} {
		s := newReplayState(&budget{limit: 1 << 40}, true)
		s.beginVersion(0)
		for i := range removals {
			if err := s.removeFile("", fmt.Sprint(i), ""); err != nil {
				t.Fatalf("removing file %d of %d: %v", i, removals, err)
			}
		}
		before := reflect.ValueOf(s.removed).Pointer()
		s.beginVersion(1)
		if same := reflect.ValueOf(s.removed).Pointer() == before; same != kept || len(s.removed) > 0 {
			t.Errorf("%d removals: the same map: %t, %d in it", removals, same, len(s.removed))
		}
	}
}

// A commit that is too long to be read whole is read in parts, with the same answer.
func TestLongCommit(t *testing.T) {
	m := manyFiles(40_000, 7)
	if size := len(m.files[commitFileName(0)]); size <= maxWholeFile {
		t.Fatalf("%d bytes are not long", size)
	}
	got, err := read(t, m, -1)
	if err != nil || len(got.Files) != 40_000 {
		t.Fatalf("reading a long commit gives %d files, error %v, want 40,000", len(got.Files), err)
	}
	for i, f := range got.Files {
		if i > 0 && f.Path <= got.Files[i-1].Path {
			t.Fatalf("%s behind %s", f.Path, got.Files[i-1].Path)
		}
		if want := fmt.Sprintf("p=%d/part-00000-%036d-c000.snappy.parquet", f.Size%7, f.Size); f.Path != want || f.Rows != f.Size || *f.Values[0] != fmt.Sprint(f.Size%7) {
			t.Fatalf("%+v, want %s", f, want)
		}
	}
	// A line that the limit has no room for is a matter of the limit.
	m = newFolder()
	m.commit(0, protocolLine, metaLine, addLine(strings.Repeat("x", 1<<20)))
	if _, err := Read(t.Context(), m, "shop/orders", Options{Memory: 3 << 20}); err == nil || !strings.Contains(err.Error(), "memory-limit") {
		t.Errorf("a long line: %v", err)
	}
}
