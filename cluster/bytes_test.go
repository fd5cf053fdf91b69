package cluster

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestBytes: k-means allocates no more than Bytes, for any number of threads. Garbage counts too, so moves are few, and
// there is one centre without a store, which leaves garbage for every further one.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		n, k, clusters, restarts int
		spherical                bool
	}{
		{300, 5, 3, 1, false}, {2000, 300, 10, 1, false}, {5000, 40, 64, 1, false}, {4000, 30, 200, 1, false}, {2000, 300, 40, 3, false},
		{2000, 300, 1, 1, true}, {5000, 20, 1, 2, true},
	} {
		x, _ := blobs(1, c.n, c.k, 10, 1)
		for _, threads := range []int{1, 8, 32} {
			opt := Options{Clusters: c.clusters, Restarts: min(c.restarts, threads), MaxIter: 3, Threads: threads, Spherical: c.spherical}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			mustKMeans(t, x, opt)
			runtime.ReadMemStats(&after)
			if took, most := int64(after.TotalAlloc-before.TotalAlloc), opt.Bytes(c.n, c.k); took > most {
				t.Errorf("%+v, %d threads: %d bytes, Bytes gives %d", c, threads, took, most)
			} else {
				t.Logf("%+v, %d threads: %d of %d KiB", c, threads, took>>10, most>>10)
			}
		}
	}
}

// TestLayout: the store, the choice of centres, and the moves of a descent take the memory of their layouts, and no more.
func TestLayout(t *testing.T) {
	for _, shape := range [][3]int{{20000, 20, 10}, {3000, 300, 40}, {9000, 33, 100}} {
		n, k, c := shape[0], shape[1], shape[2]
		x, _ := blobs(1, n, k, c, 1)
		st, team := newStore(1, x), kernel.NewTeam(1)
		workers, centers := []*worker{newWorker(st)}, compact(take(x, sequence(c)))
		for _, part := range []struct {
			name   string
			layOut func(l *room.Layout)
			do     func()
		}{
			{"store", func(l *room.Layout) { layOutStore(l, n, k) }, func() { newStore(1, x) }},
			{"seeds", func(l *room.Layout) {
				layOutSeeder(l, n, k, c)
				st.layOutScreen(l, trialsPerCenter(c))
			}, func() { must.Get(seedCenters(t.Context(), team, x, nil, st, workers, c, rand.NewPCG(1, 1)))(t) }},
			{"descent", func(l *room.Layout) {
				new(descent).layOut(l, st, c)
				l.Add(4 * int64(n)) // labels
			}, func() {
				d := newDescent(st, team, workers, centers, nil)
				for range 3 {
					d.assignRows()
					d.exactInertia(centers, d.labels)
				}
			}},
		} {
			roomtest.CheckLayout(t, part.name, room.Measure(part.layOut), part.do)
		}
	}
}
