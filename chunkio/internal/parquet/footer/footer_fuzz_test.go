package footer

import (
	"testing"
)

func FuzzFooter(f *testing.F) {
	f.Add([]byte{0x19, 0x1C, 0x00, 0x00})
	f.Fuzz(func(_ *testing.T, b []byte) {
		if shape, err := measureFooter(b); err == nil {
			_ = (&Metadata{RawFooter: b}).parseRawFooter(shape)
		}
	})
}
