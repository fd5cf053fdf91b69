package program

import "testing"

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
