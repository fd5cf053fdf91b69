package format

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// TestGuard: a panic of a library is an error. What Go's runtime says of it reaches no message, and is not lost.
func TestGuard(t *testing.T) {
	err := Guard(func() error {
		var nothing []int
		_ = nothing[cap(nothing)]
		return nil
	})
	var cause runtime.Error
	if err == nil || strings.Contains(err.Error(), "index") || !strings.Contains(err.Error(), "damaged or forged") || !errors.As(err, &cause) {
		t.Error(err)
	}
	if err := Guard(func() error { panic(io.ErrNoProgress) }); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	if err := Guard(func() error { panic("no such page") }); err == nil || !strings.Contains(err.Error(), "no such page") {
		t.Error(err)
	}
	if err := Guard(func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
