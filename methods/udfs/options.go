package udfs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the objective and the conditions for stopping. A zero field means its default.
type Options struct {
	Neighbors int     // k: number of neighbours in a patch; default 5, at most all other rows
	Lambda    float64 // λ: ridge added to a patch's scatter; default 1000
	Gamma     float64 // γ: weight of ‖W‖₂,₁; default 0.1, negative means 0
	Clusters  int     // c: number of columns of W; default 10, at most the number of features
	MaxIter   int     // number of updates of W; default 50
	Tol       float64 // relative change of the objective at which to stop; default 1e-6, negative never stops early

	Threads  int // 0 means GOMAXPROCS; the answer does not depend on it
	Progress func(iteration int, objective float64)
	// Stages saves the state of a run, so that it can be restarted; nil saves nothing.
	Stages stream.Stages
}

// Defaults of the options; see the package comment for their sources.
const (
	defaultNeighbors = 5
	defaultLambda    = 1000
	defaultGamma     = 0.1
	defaultClusters  = 10
	defaultMaxIter   = 50
	defaultTol       = 1e-6
)

// Validate reports every fault of o in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseNegative(&faults, "{neighbors}", o.Neighbors)
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	if !(o.Lambda >= 0) || o.Lambda-o.Lambda != 0 {
		faults.Addf("{alpha} = %v is not a finite number above 0", o.Lambda)
	}
	method.RefuseInfinite(&faults, "{gamma}", o.Gamma)
	method.RefuseInfinite(&faults, "{tol}", o.Tol)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults for n rows of d features.
func (o Options) WithDefaults(n int64, d int) Options {
	o.Neighbors = int(min(int64(cmp.Or(o.Neighbors, defaultNeighbors)), max(n-1, 0)))
	o.Lambda = cmp.Or(o.Lambda, defaultLambda)
	o.Gamma = max(cmp.Or(o.Gamma, defaultGamma), 0)
	o.Clusters = min(cmp.Or(o.Clusters, defaultClusters), d)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
