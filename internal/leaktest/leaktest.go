// Package leaktest fails a test that leaves goroutines or open files behind.
package leaktest

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leakTimeout is what goroutines that end may need for it on a busy machine.
const leakTimeout = 30 * time.Second

// Goroutines returns a function that fails the test where a goroutine runs that does not at this
// moment, and says which:
//
//	defer leaktest.Goroutines(t)()
func Goroutines(t testing.TB) func() {
	before := goleak.IgnoreCurrent()
	return func() {
		t.Helper()
		for begin := time.Now(); ; {
			err := goleak.Find(before)
			if err == nil {
				return
			}
			if time.Since(begin) > leakTimeout {
				t.Error(err)
				return
			}
		}
	}
}

// Files returns a function that fails the test where more files are open than at this moment. Until then no
// garbage is collected, which would close those that nobody closes. Where the system does not list the files
// of a process, none are counted.
func Files(t testing.TB) func() {
	percent := debug.SetGCPercent(-1)
	before := OpenFiles()
	return func() {
		t.Helper()
		if after := OpenFiles(); after > before {
			t.Errorf("%d files are open, and %d were before", after, before)
		}
		debug.SetGCPercent(percent)
	}
}

// OpenFiles counts the files that are open.
func OpenFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}
