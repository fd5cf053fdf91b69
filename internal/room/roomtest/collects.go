// Package roomtest is for tests of who makes room before large allocations.
package roomtest

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// Collects fails unless do, which allocates so many bytes in one piece and little else, has garbage
// collected first where there is no room beside it.
func Collects(t *testing.T, bytes int64, do func()) {
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
	// The runtime starts by itself at 70 % of the way to the limit: above what is garbage now, and after the
	// next piece is there. Where it starts before, nothing is left to collect: hence some tries.
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
