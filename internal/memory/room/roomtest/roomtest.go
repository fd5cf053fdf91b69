// Package roomtest tests that code collects garbage before large allocations, and allocates only what it declares.
package roomtest

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// CheckCollects fails the test unless do collects garbage before it allocates, under a limit that requires it. do must
// allocate the given number of bytes at once, and little else.
func CheckCollects(t *testing.T, bytes int64, do func()) {
	t.Helper()
	if bytes < 8<<20 {
		t.Fatalf("%d bytes are too few to tell from what else is allocated", bytes)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	before := readMemStats()
	do()
	after := readMemStats()
	if after.NumGC != before.NumGC {
		t.Fatal("garbage is collected although there is room")
	}
	// The runtime collects by itself at 70 % of the way to the limit. This is more than the present garbage, so such a
	// collection happens only after the next allocation. If the runtime has collected earlier, EnsureFree finds no
	// garbage; therefore try several times.
	limit := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(limit)
	for range 5 {
		debug.SetMemoryLimit(int64(after.Sys-after.HeapIdle) + bytes*3/4)
		if do(); readMemStats().NumForcedGC > after.NumForcedGC {
			return
		}
		debug.SetMemoryLimit(limit)
		do()
		after = readMemStats()
	}
	t.Errorf("garbage stays while %d bytes more are allocated, for which there is no room", bytes)
}

func readMemStats() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	return m
}

// layoutSlack is the number of bytes that CheckLayout ignores: headers of slices, closures, and goroutines.
const layoutSlack = 32 << 10

// CheckLayout fails the test unless do allocates the declared number of bytes, with a deviation of 5 % and 32 KiB. The
// declaration is the result of [room.Measure] for the same shapes, without phases that share their memory. So an
// allocation outside the layout fails, and so does a layout of memory that do doesn't use. CheckLayout calls do twice
// and measures the second call, so scratch memory that a team keeps between calls is not counted.
func CheckLayout(t testing.TB, name string, declared int64, do func()) {
	t.Helper()
	do()
	before := readMemStats().TotalAlloc
	do()
	allocated := int64(readMemStats().TotalAlloc - before)
	if slack := declared/20 + layoutSlack; allocated < declared-slack || allocated > declared+slack {
		t.Errorf("%s allocates %d bytes, its layout declares %d", name, allocated, declared)
	}
}
