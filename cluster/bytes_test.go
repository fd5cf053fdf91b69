package cluster

import (
	"runtime"
	"testing"
)

// TestBytes: one restart allocates no more than Bytes. Garbage counts too, so clusters are
// few: each of many seeds leaves a screen of its trials.
func TestBytes(t *testing.T) {
	for _, c := range []struct{ n, k, clusters int }{{300, 5, 3}, {2000, 300, 10}, {5000, 40, 64}} {
		x, _ := blobs(1, c.n, c.k, 10, 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		mustKMeans(t, x, Options{Clusters: c.clusters, MaxIter: 3, Threads: 1})
		runtime.ReadMemStats(&after)
		if took, most := int64(after.TotalAlloc-before.TotalAlloc), Bytes(c.n, c.k, c.clusters, 1); took > most {
			t.Errorf("%d×%d in %d clusters: %d bytes, Bytes says %d", c.n, c.k, c.clusters, took, most)
		}
	}
}
