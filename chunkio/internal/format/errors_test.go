package format

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// TestGuard: a panic of a library becomes an error. The text of Go's runtime reaches no message, and is not lost.
func TestGuard(t *testing.T) {
	err := Guard(func() error {
		var nothing []int
		_ = nothing[cap(nothing)]
		return nil
	})
	var cause runtime.Error
	if err == nil || strings.Contains(err.Error(), "index") || !strings.Contains(err.Error(), "damaged or forged") || !errors.As(err, &cause) {
		t.Errorf("an index out of range gives %v, want an error about a damaged file", err)
	}
	if err := Guard(func() error { panic(io.ErrNoProgress) }); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a panic with an error gives %v, want it wrapped", err)
	}
	if err := Guard(func() error { panic("no such page") }); err == nil || !strings.Contains(err.Error(), "no such page") {
		t.Errorf("a panic with a text gives %v, want the text", err)
	}
	if err := Guard(func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Errorf("an error without a panic gives %v, want it unchanged", err)
	}
}
