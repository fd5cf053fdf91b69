package program

import (
	"testing"
	"time"
)

// FuzzBytes: a size is a number of bytes above 0, and its text is read as itself.
func FuzzBytes(f *testing.F) {
	for _, text := range []string{"512MiB", "4GB", "1000000", "0.5 k", "8EiB", "9223372036854775807", "1e30", "-1", "NaN", "Inf GB", "1,000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n, again Bytes
		if n.Set(text) != nil {
			return
		}
		if n <= 0 {
			t.Fatalf("%d bytes", int64(n))
		}
		if err := again.Set(n.String()); err != nil || n != again {
			t.Errorf("%v: %d bytes are written %s, and read as %d", err, int64(n), n.String(), int64(again))
		}
	})
}

// FuzzMoment: a time is said again as it was read, to the nanosecond.
func FuzzMoment(f *testing.F) {
	for _, text := range []string{"2026-01-31", "2026-01-31T08:00:00Z", "2026-01-31 08:00", "2026-01-31T08:00:00.123456789+01:00", "0001-01-01", "9999-12-31T23:59:59.999999999-23:59", "2026-02-30", "26-1-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var at, again Moment
		if at.Set(text) != nil || time.Time(at).IsZero() { // which stands for no time
			return
		}
		if err := again.Set(at.String()); err != nil || !time.Time(at).Equal(time.Time(again)) {
			t.Errorf("%v: %q is %s, and read as %s", err, text, at.String(), again.String())
		}
	})
}
