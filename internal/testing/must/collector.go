package must

import (
	"os"
	"runtime/debug"
)

// The heap may grow five-fold between two collections, also during a run under a memory limit. The heaps of tests are
// small, and the collector took a quarter of their time. GOGC overrides it.
var _ = widenPace()

func widenPace() struct{} {
	if os.Getenv("GOGC") == "" {
		os.Setenv("GOGC", "400")
		debug.SetGCPercent(400)
	}
	return struct{}{}
}
