package planfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// readWithin reads everything in a plan with so much memory.
func readWithin(ctx context.Context, b []byte, memory int64) error {
	r, err := OpenWithin(ctx, bytes.NewReader(b), memory)
	for err == nil {
		_, err = r.Next()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// TestLargePlans: plans whose header, or a file in them, would take more than the memory are refused within it. One
// of many files is none of them.
func TestLargePlans(t *testing.T) {
	const memory = 16 << 20
	h, files := planned(2)
	large := map[string]func(*Header, []File){
		"leaves":   func(h *Header, _ []File) { h.Catalog.Leaves = slices.Repeat(h.Catalog.Leaves, 300_000) },
		"orders":   func(h *Header, _ []File) { h.Catalog.Orders = make([][]int32, 1_000_000) },
		"warnings": func(h *Header, _ []File) { h.Warnings = slices.Repeat([]string{"w"}, 450_000) },
		"roots":    func(h *Header, _ []File) { h.Roots = slices.Repeat([]string{"/"}, 10_000_000) },
		"options":  func(h *Header, _ []File) { h.Options = map[string]string{"columns": strings.Repeat("a,", 10_000_000)} },
		"keys":     func(_ *Header, f []File) { f[0].Keys = slices.Repeat([]string{"k"}, 1_000_000) },
		"groups":   func(_ *Header, f []File) { f[1].Groups = make([][2]int64, 1_000_000) },
	}
	for name, change := range large {
		h, files := planned(2)
		change(&h, files)
		_, b := write(t, h, files)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := readWithin(t.Context(), b, memory)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; !errors.As(err, new(*stream.MemoryError)) || took > memory {
			t.Errorf("%s of %d bytes: %v after %d bytes, want an error of the memory within %d", name, len(b), err, took, memory)
		}
	}
	_, b := write(t, h, files)
	if err := readWithin(t.Context(), b, 1); err != nil {
		t.Errorf("a small plan: %v", err)
	}
	many, all := planned(200_000)
	_, b = write(t, many, all)
	if err := readWithin(t.Context(), b, memory); err != nil {
		t.Errorf("a plan of %d files, %d bytes: %v", len(all), len(b), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := readWithin(ctx, b, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a plan that is read when the context has ended: %v, want %v", err, context.Canceled)
	}
}
