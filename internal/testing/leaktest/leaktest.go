// Package leaktest fails a test that leaks goroutines or open files.
package leaktest

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// leakTimeout is the longest time to wait for goroutines to end. It is enough even on a busy machine.
const leakTimeout = 30 * time.Second

// CheckGoroutines returns a function to call at the end of a test. It fails the test, and names the goroutine, if a
// goroutine is running that did not run at the time of this call:
//
//	defer leaktest.CheckGoroutines(t)()
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

// CheckFiles returns a function that fails the test if more files are open than at the time of this call. Between the
// calls the garbage collector is off, because it would close forgotten files. It checks only systems with /proc.
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
