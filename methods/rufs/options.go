package rufs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the objective and the conditions for stopping. A zero field means its default.
type Options struct {
	Nu, Alpha, Beta float64 // ν, α and β; default 1, negative means 0 (for β almost 0)
	Neighbors       int     // number of neighbours that predict a row; default 5, at most all other rows
	Clusters        int     // c, the number of clusters; default 10, at most the number of rows
	MaxIter         int     // number of rounds; default 30
	Tol             float64 // relative change of the objective at which to stop; default 1e-4, negative never stops early
	Seed            uint64  // seed of k-means
	Threads         int     // 0 means GOMAXPROCS; the answer does not depend on it
	Progress        func(iteration int, objective float64)
	// Stages saves the state of a run, so that it can be restarted; nil saves nothing.
	Stages stream.Stages
}

const (
	defaultWeight    = 1
	defaultNeighbors = 5
	defaultClusters  = 10
	defaultMaxIter   = 30
	defaultTol       = 1e-4
	// leastBeta replaces β = 0, as a share of α, because least squares with dependent features have no unique solution.
	leastBeta = 1e-9
)

// Validate reports every fault of o in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseInfinite(&faults, "{nu}", o.Nu)
	method.RefuseInfinite(&faults, "{alpha}", o.Alpha)
	method.RefuseInfinite(&faults, "{beta}", o.Beta)
	method.RefuseInfinite(&faults, "{tol}", o.Tol)
	method.RefuseNegative(&faults, "{neighbors}", o.Neighbors)
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults for n rows.
func (o Options) WithDefaults(n int64) Options {
	weight := func(v float64) float64 { return max(cmp.Or(v, defaultWeight), 0) }
	o.Nu, o.Alpha, o.Beta = weight(o.Nu), weight(o.Alpha), weight(o.Beta)
	o.Neighbors = int(min(int64(cmp.Or(o.Neighbors, defaultNeighbors)), max(n-1, 0)))
	o.Clusters = int(min(int64(cmp.Or(o.Clusters, defaultClusters)), n))
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
