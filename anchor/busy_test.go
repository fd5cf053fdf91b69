package anchor

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestBusy: the times of converting, of the search and of adding are measured, also for statistics made by Another;
// there is no Gram matrix here.
func TestBusy(t *testing.T) {
	dense, sparse := clusters(300, 6, 1).thinned(2)
	for _, tab := range []table{dense, sparse} {
		var busy stream.Busy
		s := tab.statistics(t, dense.random(t, 20, gram.ScaleNone), Options{Busy: &busy}, 64)
		p := busy.Parts()
		if p.Convert <= 0 || p.Search <= 0 || p.Scatter <= 0 || p != (stream.TimingParts{Convert: p.Convert, Search: p.Search, Scatter: p.Scatter}) {
			t.Errorf("busy times %+v, want converting, search and scatter only", p)
		}
		another, err := s.Another()
		if err != nil {
			t.Fatalf("making another: %v", err)
		}
		tab.AddRows(t, another, 0, tab.N(), 64)
		if more := busy.Parts().Since(p); more.Search <= 0 {
			t.Errorf("another: %+v", more)
		}
	}
}
