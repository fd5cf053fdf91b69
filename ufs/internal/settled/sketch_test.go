package settled

import (
	"errors"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// FuzzSketchRows: a size of a sketch is a number of rows, or is refused as a usage error.
func FuzzSketchRows(f *testing.F) {
	for _, text := range []string{"2/8", "2%", "1e-1%", "0.1%", "99.9%", "NaN%", "2048", "9223372036854775807"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ParseSketchRows(text)
		if err != nil && !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("got %T: %v, want a usage error or none", err, err)
		}
		if err == nil && rows < 1 {
			t.Errorf("a sketch of %d rows", rows)
		}
	})
}
