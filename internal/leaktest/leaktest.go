// Package leaktest fails a test that leaves goroutines behind.
package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is what goroutines that end may need for it on a busy machine.
const patience = 30 * time.Second

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
			if time.Since(begin) > patience {
				t.Error(err)
				return
			}
		}
	}
}
