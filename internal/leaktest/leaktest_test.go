package leaktest

import "testing"

// told keeps what a test would fail with.
type told struct {
	testing.TB
	failed bool
}

func (t *told) Helper()      {}
func (t *told) Error(...any) { t.failed = true }

// A goroutine that was there before, and one that ends in time, are none that stay.
func TestGoroutines(t *testing.T) {
	before, during := make(chan bool), make(chan bool)
	go func() { <-before }()
	told := &told{TB: t}
	check := Goroutines(told)
	go func() { <-during }()
	close(during)
	if check(); told.failed {
		t.Error("it fails without a reason")
	}
	close(before)
}
