package text_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// ParseInstant inverts the writers of times, in every unit and far out of the years that have a text.
func TestParseInstantIsTheInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		units := int64(rng.Uint64()) >> rng.IntN(64)
		for _, perSecond := range []int64{1, 1e3, 1e6, 1e9} {
			for _, utc := range []bool{false, true} {
				written := text.AppendTime(nil, units, perSecond, utc)
				if got, ok := text.ParseInstant(written, perSecond); !ok || got != text.InstantOf(units, perSecond) {
					t.Fatalf("%d at %d a second is %q: %v, %v", units, perSecond, written, got, ok)
				}
			}
			clock := (units%(86400*perSecond) + 86400*perSecond) % (86400 * perSecond)
			written := text.AppendClock(nil, clock, perSecond)
			if got, ok := text.ParseInstant(written, perSecond); !ok || got != text.InstantOf(clock, perSecond) {
				t.Fatalf("clock %d at %d a second is %q: %v, %v", clock, perSecond, written, got, ok)
			}
		}
		days := int64(int32(units))
		written := text.AppendDate(nil, days)
		if got, ok := text.ParseInstant(written, 0); !ok || got != text.InstantOfDays(days) {
			t.Fatalf("day %d is %q: %v, %v", days, written, got, ok)
		}
	}
}

func TestInstantsInOrder(t *testing.T) {
	const perSecond = 1000
	for a := int64(-2100); a < 2100; a += 7 {
		for b := int64(-2100); b < 2100; b += 11 {
			if got := text.InstantOf(a, perSecond).Compare(text.InstantOf(b, perSecond)); got != sign(a-b) {
				t.Fatalf("%d ms against %d ms: %d", a, b, got)
			}
		}
	}
}

func sign(x int64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}
