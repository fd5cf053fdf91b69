package program

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestInterruptible: an interruptible reader gives the bytes and the error of the reader
// beneath, whatever their number.
func TestInterruptible(t *testing.T) {
	for _, n := range []int{0, 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 18} {
		text := strings.Repeat("x", n)
		got, err := io.ReadAll(InterruptibleReader(context.Background(), strings.NewReader(text)))
		if err != nil || string(got) != text {
			t.Errorf("%d bytes: read %d, %v", n, len(got), err)
		}
	}
}
