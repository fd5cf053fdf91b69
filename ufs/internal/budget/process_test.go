package budget

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestLimitIsBesideWhatTheCallerHolds: a run has its memory limit also in a process that already holds as much;
// garbage of the caller is not counted, and the caller's own limit comes back.
func TestLimitIsBesideWhatTheCallerHolds(t *testing.T) {
	const ballast, memory, peak = 96 << 20, 128 << 20, 60 << 20
	limits := func() (asked, plan int64) {
		process.collected = time.Time{} // long ago
		end, err := ApplyLimits(t.Context(), &request.Request{Limits: request.Limits{Memory: memory, Threads: 2}})
		if err != nil {
			t.Fatalf("applying the limits: %v", err)
		}
		defer end()
		asked = debug.SetMemoryLimit(-1)
		Budget{Peak: peak}.EnforcePeak(false)
		return asked, debug.SetMemoryLimit(-1)
	}
	before := debug.SetMemoryLimit(-1)
	asked, plan := limits()
	held := make([]byte, ballast)
	requestHeld, planHeld := limits()
	runtime.KeepAlive(held)
	requestAfter, planAfter := limits()
	// The rest of the heap moves by a few MiB between two runs.
	for _, c := range []struct {
		what                 string
		bare, holding, freed int64
	}{{"request", asked, requestHeld, requestAfter}, {"plan", plan, planHeld, planAfter}} {
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
	if held := memoryBeforeRun(); held != 5<<20 {
		t.Errorf("%d bytes held a moment after 5 MiB were", held)
	}
	runtime.KeepAlive(again)
	process.collecting = 0
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("the caller's limit was %d and is %d", before, after)
	}
}

// TestPaceOfTheCollector: a run collects at its own pace, or at the one in GOGC, and the caller's pace comes back.
func TestPaceOfTheCollector(t *testing.T) {
	pace := func() int {
		percent := debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
		return percent
	}
	before := pace()
	for gogc, want := range map[string]int{"": collectPercent, "off": collectPercent, "70": 70} {
		t.Setenv("GOGC", gogc)
		end := must.Get(ApplyLimits(t.Context(), &request.Request{Limits: request.Limits{Memory: 1 << 30, Threads: 2}}))(t)
		if got := pace(); got != want {
			t.Errorf("GOGC=%s: a run collects at %d %%, want %d", gogc, got, want)
		}
		end()
		if after := pace(); after != before {
			t.Errorf("GOGC=%s: the caller's pace was %d %% and is %d", gogc, before, after)
		}
	}
}
