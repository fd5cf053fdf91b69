package ufs

import (
	"runtime"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/methods"
)

// TestManySelects: a program that selects again and again, with every method, holds no more memory, no
// more files and no more goroutines after the 200th time than after the 20th.
func TestManySelects(t *testing.T) {
	first, last := 20, long.CountCases(80, 200)
	path := faces(60, 12, 3).write(t)
	list, scratch := methods.All(), t.TempDir()
	held := func() (heap uint64, files int) {
		runtime.GC()
		runtime.GC() // what the first one's finalizers have let go
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, leaktest.OpenFiles()
	}
	var heap uint64
	var files int
	checkLeft := func() {}
	for n := 1; n <= last; n++ {
		q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: list[n%len(list)].Name, K: 3}, Limits: Limits{Threads: 2, TempDir: scratch}}
		if _, err := Select(t.Context(), q); err != nil {
			t.Fatalf("run %d, method %s: %v", n, q.Choice.Method, err)
		}
		if n == first {
			heap, files = held()
			checkLeft = leaktest.CheckGoroutines(t)
		}
	}
	checkLeft()
	heapAfter, filesAfter := held()
	t.Logf("%d bytes of heap after %d, %d after %d", heap, first, heapAfter, last)
	if float64(heapAfter) > 1.05*float64(heap) || filesAfter > files {
		t.Errorf("after %d selects %d bytes and %d files, after %d %d and %d", first, heap, files, last, heapAfter, filesAfter)
	}
}
