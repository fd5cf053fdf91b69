package sogfs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the objective and the conditions for stopping. A zero field means its default.
type Options struct {
	Gamma      float64 // γ, the weight of ‖W‖₂,₁; default 0.01, negative means 0
	Neighbors  int     // k, the largest number of entries in a row of S; default 5, at most all other rows
	Clusters   int     // c, the number of clusters; default 10, at most the number of rows
	Dimensions int     // m, the number of columns of W; default c, at most the number of features
	MaxIter    int     // number of rounds; default 50
	Tol        float64 // relative change of the objective at which to stop; default 1e-4, negative never stops early
	Threads    int     // 0 means GOMAXPROCS; the answer does not depend on it
	Progress   func(iteration int, objective float64)
	// Stages saves the state of a run, so that it can be restarted; nil saves nothing.
	Stages stream.Stages
}

const (
	defaultGamma     = 0.01
	defaultNeighbors = 5
	defaultClusters  = 10
	defaultMaxIter   = 50
	defaultTol       = 1e-4
)

// Validate reports every fault of o in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseInfinite(&faults, "{gamma}", o.Gamma)
	method.RefuseInfinite(&faults, "{tol}", o.Tol)
	method.RefuseNegative(&faults, "{neighbors}", o.Neighbors)
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "{dimensions}", o.Dimensions)
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults for n rows of d features.
func (o Options) WithDefaults(n int64, d int) Options {
	o.Gamma = max(cmp.Or(o.Gamma, defaultGamma), 0)
	o.Neighbors = int(min(int64(cmp.Or(o.Neighbors, defaultNeighbors)), max(n-1, 0)))
	o.Clusters = cmp.Or(o.Clusters, defaultClusters)
	o.Dimensions = min(cmp.Or(o.Dimensions, o.Clusters), d)
	o.Clusters = int(min(int64(o.Clusters), n))
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
