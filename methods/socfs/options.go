package socfs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the objective and the conditions for stopping. A zero field means its default.
type Options struct {
	Lambda   method.Weight // λ; default 0.1 of the λ above which W = 0 would be best at the start
	Gamma    float64       // γ; default 100
	Clusters int           // c, the number of clusters; default 10, at most the number of anchors
	MaxIter  int           // number of rounds; default 50
	Inner    int           // number of turns of step 1 (E and F) in a round; default 10
	Tol      float64       // relative change that ends rounds and turns; default 1e-5, negative never ends early
	Threads  int           // 0 means GOMAXPROCS; the answer does not depend on it
	Progress func(iteration int, objective float64)
}

const (
	defaultShare    = 0.1
	defaultGamma    = 100
	defaultClusters = 10
	defaultMaxIter  = 50
	defaultInner    = 10
	defaultTol      = 1e-5
)

// Validate reports every fault of o in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseWeight(&faults, "{alpha}", o.Lambda.Value)
	method.RefuseWeight(&faults, "{gamma}", o.Gamma)
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "turns", o.Inner)
	method.RefuseInfinite(&faults, "{tol}", o.Tol)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults.
func (o Options) WithDefaults() Options {
	if o.Lambda == (method.Weight{}) {
		o.Lambda = method.Weight{Value: defaultShare, Share: true}
	}
	o.Gamma = cmp.Or(o.Gamma, defaultGamma)
	o.Clusters = cmp.Or(o.Clusters, defaultClusters)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Inner = cmp.Or(o.Inner, defaultInner)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}

// Bytes bounds the memory of Select in addition to the Graph of m anchors and d features. rank is the number of rows of
// G if it is a factor, otherwise 0.
func Bytes(m, d, rank int, opt Options) int64 {
	opt = opt.WithDefaults()
	c, wide := min(opt.Clusters, m), max(m, d)
	return room.Measure(func(l *room.Layout) {
		l.Add(kernel.TeamBytes(wide, wide))
		l.Add(8 * int64(m) * int64(c)) // the points of initialIndicators, then its result
		l.Phase(func() {
			l.Add(spectral.EmbedBytes(m, c) + cluster.Options{Clusters: c, Restarts: kmeansRestarts, Threads: opt.Threads}.Bytes(m, c))
		})
		ridge.LayOut(l, d, rank, c)
		new(solver).layOut(l, m, d, rank, c)
		l.Add(8 * (int64(rank)*int64(m) + 2*int64(d))) // B_g, and the norms of two rounds
		l.Phase(func() { l.Add(linalg.PolarBytes(c, 1, m)) })
		l.Add(8*int64(rank)*int64(c) + kernel.TeamBytes(c, d)) // of gram.Matrix.AddProduct
	})
}
