package room_test

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
)

type buffers struct {
	numbers []float64
	small   []int32
	first   []byte
	second  []byte
}

func (b *buffers) layOut(l *room.Layout, n int) {
	b.numbers = room.Slice[float64](l, n)
	l.Phase(func() { b.first = room.Slice[byte](l, 7*n) })
	l.Phase(func() { b.second = room.Slice[byte](l, 5*n) })
	b.small = room.Slice[int32](l, n)
	l.Add(3)
}

// TestLayout: one declaration allocates all buffers, and measures them with the phases sharing their memory.
func TestLayout(t *testing.T) {
	const n = 1000
	var b buffers
	if got := room.Measure(func(l *room.Layout) { b.layOut(l, n) }); got != 15*n || b.numbers != nil {
		t.Errorf("%d bytes and %d numbers, want %d bytes and no number", got, len(b.numbers), 15*n)
	}
	b.layOut(nil, n)
	if len(b.numbers) != n || len(b.small) != n || len(b.first) != 7*n || len(b.second) != 5*n {
		t.Errorf("buffers of %d, %d, %d, %d elements, want %d, %d, %d, %d", len(b.numbers), len(b.small), len(b.first), len(b.second), n, n, 7*n, 5*n)
	}
}

// TestLayoutTooLarge: sums that exceed an int64 are bounds that no limit allows.
func TestLayoutTooLarge(t *testing.T) {
	got := room.Measure(func(l *room.Layout) {
		room.Slice[float64](l, math.MaxInt/8)
		room.Slice[float64](l, math.MaxInt/8)
	})
	if again := room.Measure(func(l *room.Layout) { room.Slice[float64](l, math.MaxInt) }); got != math.MaxInt64 || again != math.MaxInt64 {
		t.Errorf("%d and %d bytes, want %d for both", got, again, int64(math.MaxInt64))
	}
}

// TestCheckLayout: an operation that allocates beside its layout fails, and so does a layout of more than is used.
func TestCheckLayout(t *testing.T) {
	const declared = 1 << 20
	for _, allocated := range []int{declared / 2, declared, declared * 2} {
		probe := &recorder{TB: t}
		roomtest.CheckLayout(probe, "a slice", declared, func() { keep = make([]byte, allocated) })
		if want := allocated != declared; probe.failed != want {
			t.Errorf("%d bytes allocated of %d declared: failed is %v, want %v", allocated, declared, probe.failed, want)
		}
	}
}

var keep []byte

type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
