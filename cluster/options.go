package cluster

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// defaultMaxIter is rarely reached. For mnist70k and 10 clusters, one start converged after 44 moves.
	defaultMaxIter = 300
	// defaultTolerance ends an iteration in which only rounding still changes the inertia, a sum of up to 10⁷ terms. It
	// is far below any difference between two restarts.
	defaultTolerance = 1e-10
)

// Options sets the number of clusters and the effort. A zero field means its default. Results do not depend on threads.
type Options struct {
	Clusters int // c, at least 1; Refine uses the number of its centres
	Restarts int // number of starts of KMeans, of which the best counts; default 1

	// RandomStarts begins each start from c rows that are drawn uniformly, no row twice, as most papers do. The default is
	// greedy k-means++ (Arthur and Vassilvitskii 2007, section 5), which finds lower inertias.
	RandomStarts bool

	// Balanced makes clusters whose sizes differ by rounding only, by balanced 2-means that part groups of rows again and
	// again (BKHK; see balanced.go), with one start from two random rows. A row need not belong to the nearest centre
	// then, Trace is nil, and Tol is ignored. It costs about 4·n·k·log₂(c) flops for each of the few moves of a
	// group's centres.
	Balanced bool

	// MaxIter is the largest number of moves of the centres; default 300.
	MaxIter int
	// Tol ends the iteration when a move of the centres lowers the inertia by at most this share; default 1e-10. The
	// iteration also ends when no centre moves.
	Tol float64

	// Spherical uses only the directions of rows. Each row is divided by its length, and a centre is the direction of
	// the sum of its rows. Inertia is then 2·Σ(1 − cosine). Rows of zeros have no direction: their distance from every
	// centre is 1, they belong to the first cluster, and they add nothing to a centre.
	Spherical bool

	Seed    uint64
	Threads int // 0 means GOMAXPROCS
}

// Bytes bounds the memory of [KMeans] with these options in addition to its n×k rows. It counts a narrow copy of the
// rows. For each parallel restart it counts choosing centres, a descent or a pass, and allows for labels, moved rows, and
// three more sets of centres. Every thread adds its working memory.
func (o Options) Bytes(n, k int) int64 {
	o = o.withDefaults()
	parallel := min(o.Restarts, o.Threads)
	return room.Measure(func(l *room.Layout) {
		if o.Balanced {
			layOutHalving(l, n, k, o.Clusters)
			return
		}
		var t *store
		if !o.Spherical {
			t = layOutStore(l, n, k)
		}
		for restart := range parallel {
			o.layOutRestart(l, t, n, k, (o.Threads+restart)/parallel)
		}
	})
}

func (o Options) layOutRestart(l *room.Layout, t *store, n, k, workers int) {
	layOutSeeder(l, n, k, o.Clusters)
	l.Add(48*int64(n) + 8*3*int64(o.Clusters)*int64(k) + 1<<20)
	if t != nil {
		t.layOutScreen(l, trialsPerCenter(o.Clusters))
		l.Add(int64(min(workers, (n+batchRows-1)/batchRows)) * t.workerBytes(o.Clusters))
		if isDescentFaster(o.Clusters, k) {
			new(descent).layOut(l, t, o.Clusters)
			return
		}
	}
	l.Add(passBytes(workers, o.Clusters, k, o.Spherical))
}

// Validate returns one *stream.UsageError with every fault of o for KMeans of the given numbers of rows and columns.
func (o Options) Validate(rows, cols int) error {
	faults := o.faultsOfIteration()
	if cols < 1 {
		faults.Addf("there are no columns to cluster by")
	}
	if o.Clusters < 1 {
		faults.Addf("clusters = %d is not positive", o.Clusters)
	}
	if o.Clusters > rows {
		faults.Addf("clusters = %d is more than the %d rows", o.Clusters, rows)
	}
	if o.Restarts < 0 {
		faults.Addf("restarts = %d is negative", o.Restarts)
	}
	if o.Balanced && (o.Spherical || o.RandomStarts || o.Restarts > 1) {
		faults.Addf("balanced clusters have one start, and no directions of rows")
	}
	return faults.Err("")
}

func (o Options) faultsOfIteration() (faults stream.Faults) {
	if o.MaxIter < 0 {
		faults.Addf("max-iter = %d is negative", o.MaxIter)
	}
	if !(o.Tol >= 0 && o.Tol < 1) {
		faults.Addf("tol = %v is not a share of at least 0 and below 1", o.Tol)
	}
	if o.Threads < 0 {
		faults.Addf("threads = %d is negative", o.Threads)
	}
	return faults
}

func (o Options) withDefaults() Options {
	o.Restarts = cmp.Or(o.Restarts, 1)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTolerance)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
