package storage

import (
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Ranges hold every extent, in order, join across small gaps only, and are cut into parts that
// make them up.
func TestCoalesce(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		const size = 1000
		gap := int64(rng.IntN(20))
		var extents []format.Extent
		covered := make([]bool, size)
		for range rng.IntN(12) {
			e := format.Extent{At: int64(rng.IntN(size+20)) - 10, Size: int64(rng.IntN(60)) - 5}
			extents = append(extents, e)
			if e.At >= 0 && e.Size > 0 && e.At+e.Size <= size {
				for i := e.At; i < e.At+e.Size; i++ {
					covered[i] = true
				}
			}
		}
		fetched := make([]bool, size)
		end := int64(-1)
		for _, r := range MergeExtents(extents, size, gap) {
			if end >= 0 && r.At <= end+gap {
				t.Fatalf("a range at %d after one that ends at %d with gaps of %d", r.At, end, gap)
			}
			end = r.At
			for _, part := range splitRangeForRequests(r, 1+int64(rng.IntN(50))) {
				if part.At != end || part.Size < 1 {
					t.Fatalf("part %+v of %+v after %d", part, r, end)
				}
				for i := part.At; i < part.At+part.Size; i++ {
					fetched[i] = true
				}
				end += part.Size
			}
			if end != r.At+r.Size {
				t.Fatalf("parts end at %d of %+v", end, r)
			}
		}
		run := int64(0)
		for i := range fetched {
			if covered[i] && !fetched[i] {
				t.Fatalf("byte %d is not fetched", i)
			}
			if run++; covered[i] || !fetched[i] {
				run = 0
			}
			if run > gap {
				t.Fatalf("%d bytes fetched for nothing, gaps of %d", run, gap)
			}
		}
	}
}
