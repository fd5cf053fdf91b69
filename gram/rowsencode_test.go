package gram

import (
	"bytes"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestRowsGoOn: rows written halfway and read into others made alike take the rest like the first, bit by bit, in any
// storage; cut off, with too little room or of other columns they are an error.
func TestRowsGoOn(t *testing.T) {
	for _, missing := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			for _, narrow := range []bool{false, true} {
				tab := sample(1, 61, missing, weighted)
				if narrow {
					tab = tab.singlesOf()
				}
				empty := func(d, room int) *Rows { return NewRows(d, int64(room), 2, narrow) }
				form := func(r *Rows) []byte {
					var b bytes.Buffer
					must.Get(r.WriteTo(&b))(t)
					return b.Bytes()
				}
				d, n, half := len(tab.Cols), tab.N(), 30
				want, begun, got := empty(d, n), empty(d, n), empty(d, n)
				tab.AddRows(t, want, 0, n, 5)
				tab.AddRows(t, begun, 0, half, 5)
				saved := form(begun)
				if read := must.Get(got.ReadFrom(bytes.NewReader(saved)))(t); read != int64(len(saved)) {
					t.Fatalf("read %d of %d bytes", read, len(saved))
				}
				tab.AddRows(t, got, half, n, 5)
				if !bytes.Equal(form(got), form(want)) {
					t.Errorf("missing %v, weighted %v, narrow %v: other rows", missing, weighted, narrow)
				}
				for name, r := range map[string]*Rows{"too little room": empty(d, half-1), "other columns": empty(d+1, n)} {
					if _, err := r.ReadFrom(bytes.NewReader(saved)); err == nil {
						t.Errorf("%s: no error", name)
					}
				}
				for _, at := range []int{0, 7, 8, 100, len(saved) / 2, len(saved) - 1} {
					if _, err := empty(d, n).ReadFrom(bytes.NewReader(saved[:at])); err == nil {
						t.Errorf("cut off at %d: no error", at)
					}
				}
			}
		}
	}
}
