package gram

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// TestBusy: converting and the products are measured, for dense rows and sparse ones, and with
// missing entries; there is no search.
func TestBusy(t *testing.T) {
	for _, missing := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			if missing && sparse {
				continue
			}
			tab := wide(65, stripRows+3, missing)
			tab.Sparse = sparse
			var busy stream.Busy
			tab.moments(t, Options{Busy: &busy}, 64)
			p := busy.Parts()
			if p.Convert <= 0 || p.Gram <= 0 || p != (stream.TimingParts{Convert: p.Convert, Gram: p.Gram}) {
				t.Errorf("missing %v, sparse %v: %+v", missing, sparse, p)
			}
		}
	}
}
