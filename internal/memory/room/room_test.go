package room_test

import (
	"runtime"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
)

// Garbage is collected if a new allocation does not fit next to it, and stays if both fit.
func TestMake(t *testing.T) {
	const n = 4 << 20
	roomtest.CheckCollects(t, 8*n, func() {
		if large := room.MakeSlice[float64](n); len(large) != n {
			t.Errorf("%d numbers, want %d", len(large), n)
		}
	})
}

// What is small is left to the runtime.
func TestForLittle(t *testing.T) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.NumForcedGC
	room.EnsureFree(1<<20 - 1)
	if runtime.ReadMemStats(&m); m.NumForcedGC != before {
		t.Error("a small allocation collects")
	}
}
