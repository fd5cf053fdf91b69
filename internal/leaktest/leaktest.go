// Package leaktest fails a test that leaves goroutines behind.
package leaktest

import (
	"runtime"
	"testing"
	"time"
)

// patience is what goroutines that end may need for it on a busy machine.
const patience = 30 * time.Second

// Goroutines returns a function that fails the test if there are more goroutines than at this
// moment, and says which there are:
//
//	defer leaktest.Goroutines(t)()
func Goroutines(t testing.TB) func() {
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		for begin := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Since(begin) > patience {
				stacks := make([]byte, 1<<16)
				t.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
				return
			}
		}
	}
}
