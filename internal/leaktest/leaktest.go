// Package leaktest fails a test that leaks goroutines or open files.
package leaktest

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leakTimeout is the time that ending goroutines may take on a busy machine.
const leakTimeout = 30 * time.Second

// CheckGoroutines returns a function that fails the test, and names the goroutine, if one runs then that
// does not run now:
//
//	defer leaktest.Goroutines(t)()
func CheckGoroutines(t testing.TB) func() {
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

// CheckFiles returns a function that fails the test if more files are open than now. Until then no garbage is collected,
// because that would close forgotten files. If the system does not list the files of a process, none are counted.
func CheckFiles(t testing.TB) func() {
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

// OpenFiles counts the files that this process has open.
func OpenFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}
