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

// TestBytes: one restart allocates no more than Bytes. Garbage counts too, so moves are few.
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
