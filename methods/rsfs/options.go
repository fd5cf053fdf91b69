package rsfs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the objective and the conditions for stopping. A zero field means its default.
type Options struct {
	Alpha     float64       // α, the weight of the regression; default 1
	Beta      method.Weight // β, the weight of ‖W‖₂,₁, or a share of the β above which W = 0; default 0.1x
	Nu        method.Weight // ν, the weight of ‖Z‖₁ (option errors), or a share of the ν above which Z = 0; default 0.1x
	Gamma     float64       // γ, the weight of YᵀY = I; default 1e8
	Neighbors int           // k, the number of nearest rows that predict a row; default 5, at most all other rows
	Clusters  int           // c, the number of clusters; default 10, at most the number of rows
	MaxIter   int           // number of rounds; default 100
	Tol       float64       // relative change of the objective at which to stop; default 1e-4, negative never stops early
	Seed      uint64        // seed of k-means
	Threads   int           // 0 means GOMAXPROCS; the answer does not depend on it
	Progress  func(iteration int, objective float64)
	// Stages saves the state of a run, so that it can be restarted; nil saves nothing.
	Stages stream.Stages
}

const (
	defaultAlpha     = 1
	defaultShare     = 0.1 // of β and ν
	defaultGamma     = 1e8
	defaultNeighbors = 5
	defaultClusters  = 10
	defaultMaxIter   = 100
	defaultTol       = 1e-4
	// leastShare replaces β = 0, because least squares with dependent features have no unique solution.
	leastShare = 1e-9
)

// Validate reports every fault of o in one *stream.UsageError.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseWeight(&faults, "{alpha}", o.Alpha)
	method.RefuseWeight(&faults, "{beta}", o.Beta.Value)
	method.RefuseWeight(&faults, "{errors}", o.Nu.Value)
	method.RefuseWeight(&faults, "{gamma}", o.Gamma)
	method.RefuseInfinite(&faults, "{tol}", o.Tol)
	method.RefuseNegative(&faults, "{neighbors}", o.Neighbors)
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults replaces zero fields with their defaults for n rows.
func (o Options) WithDefaults(n int64) Options {
	share := method.Weight{Value: defaultShare, Share: true}
	o.Alpha, o.Gamma = cmp.Or(o.Alpha, defaultAlpha), cmp.Or(o.Gamma, defaultGamma)
	o.Beta, o.Nu = cmp.Or(o.Beta, share), cmp.Or(o.Nu, share)
	o.Neighbors = int(min(int64(cmp.Or(o.Neighbors, defaultNeighbors)), max(n-1, 0)))
	o.Clusters = int(min(int64(cmp.Or(o.Clusters, defaultClusters)), n))
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
