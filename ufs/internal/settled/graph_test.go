package settled

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestGraphMemoryIsNotOfRows: planned and kept memory grows with anchors and features, never with the rows,
// once there are enough for all anchors; and no result depends on the limit.
func TestGraphMemoryIsNotOfRows(t *testing.T) {
	for _, drawn := range []string{"random", "kmeans"} {
		var rows [2]int
		for i, limit := range []int64{64 << 20, 8 << 30} {
			r, err := NewRun(t.Context(), request.Request{Input: request.Input{Paths: []string{"x"}}, Limits: request.Limits{Memory: limit}, Choice: request.Choice{Method: "sfufs", Options: method.Settings{"anchor-method": drawn}}})
			if err != nil {
				t.Fatalf("settling with %s anchors and %d bytes: %v", drawn, limit, err)
			}
			if few, many := r.ExpectedAnchors(100_000), r.ExpectedAnchors(100_000_000); few != many || few != anchor.MostAnchors {
				t.Errorf("%d and %d anchors", few, many)
			}
			rows[i] = r.AnchorSampleRows(r.ExpectedAnchors(1e6), 5_000)
		}
		if rows[0] != rows[1] {
			t.Errorf("%s: samples of %d and %d rows", drawn, rows[0], rows[1])
		}
	}
}
