package outofcore

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Blocks are standardized in strips near the smallest memory, and whole where it is plenty.
func TestStripPlan(t *testing.T) {
	for _, d := range []int{1500, 4863, 100_000} {
		least := StreamBytes(d, 20, 0, 0, 1000)
		if p := must.Get(planStream(d, 20, 0, least, 0, 1000))(t); p.strip != scan.StripFeatures {
			t.Errorf("%d features in %d bytes: %d at a time", d, least, p.strip)
		}
		if p := must.Get(planStream(d, 20, 0, 10*least, 0, 1000))(t); p.strip != d {
			t.Errorf("%d features in %d bytes: %d at a time", d, 10*least, p.strip)
		}
	}
}
