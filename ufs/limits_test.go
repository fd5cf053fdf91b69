package ufs

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestLimitIsBesideWhatTheCallerHolds: a run has the memory that it was given also in a process that holds
// as much already; what the caller has dropped before is not counted, and its own limit comes back.
func TestLimitIsBesideWhatTheCallerHolds(t *testing.T) {
	const ballast, memory, peak = 96 << 20, 128 << 20, 60 << 20
	limits := func() (request, plan int64) {
		process.collected = time.Time{} // long ago
		end, err := (&Request{Memory: memory, Threads: 2}).begin()
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		request = debug.SetMemoryLimit(-1)
		Budget{Peak: peak}.enforce(false)
		return request, debug.SetMemoryLimit(-1)
	}
	before := debug.SetMemoryLimit(-1)
	request, plan := limits()
	held := make([]byte, ballast)
	requestHeld, planHeld := limits()
	runtime.KeepAlive(held)
	requestAfter, planAfter := limits()
	// The rest of the heap moves by a few MiB between two runs.
	for _, c := range []struct {
		what                 string
		bare, holding, freed int64
	}{{"request", request, requestHeld, requestAfter}, {"plan", plan, planHeld, planAfter}} {
		if more := c.holding - c.bare; more < ballast-16<<20 || more > ballast+16<<20 {
			t.Errorf("%s: the limit is %d bytes higher beside %d that the caller holds", c.what, more, ballast)
		}
		if more := c.freed - c.bare; more > 16<<20 {
			t.Errorf("%s: the limit is %d bytes higher beside what the caller has dropped", c.what, more)
		}
	}
	// A run that follows at once takes the figure as it was: collecting before each of many would take longer than they do.
	process.collected, process.collecting, process.last = time.Now(), time.Hour, 5<<20
	again := make([]byte, ballast)
	if held := heldBefore(); held != 5<<20 {
		t.Errorf("%d bytes held a moment after 5 MiB were", held)
	}
	runtime.KeepAlive(again)
	process.collecting = 0
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("the caller's limit was %d and is %d", before, after)
	}
}
