package leaktest

import (
	"os"
	"testing"
)

// told records the failure of a test instead of failing.
type told struct {
	testing.TB
	failed bool
}

func (t *told) Helper()               {}
func (t *told) Error(...any)          { t.failed = true }
func (t *told) Errorf(string, ...any) { t.failed = true }

// A goroutine that was there before, and one that ends in time, are none that stay.
func TestGoroutines(t *testing.T) {
	before, during := make(chan bool), make(chan bool)
	go func() { <-before }()
	told := &told{TB: t}
	check := CheckGoroutines(told)
	go func() { <-during }()
	close(during)
	if check(); told.failed {
		t.Error("it fails without a reason")
	}
	close(before)
}

// A file that stays open is reported, and one that is closed is not.
func TestFiles(t *testing.T) {
	if OpenFiles() == 0 {
		t.Skip("no /proc/self/fd: this system does not list the open files of a process")
	}
	for _, stays := range []bool{false, true} {
		told := &told{TB: t}
		check := CheckFiles(told)
		f, err := os.Open(t.TempDir())
		if err != nil {
			t.Fatalf("opening a file: %v", err)
		}
		if !stays {
			f.Close()
		}
		if check(); told.failed != stays {
			t.Errorf("a file that stays %v: told %v", stays, told.failed)
		}
		f.Close()
	}
}
