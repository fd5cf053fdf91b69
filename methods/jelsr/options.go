package jelsr

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Method is the method of one of the two papers.
type Method int

// Methods of the two papers; the comments give the form in which clusters are found.
const (
	JELSR Method = iota // an orthonormal embedding
	NDFS                // nonnegative labels
)

func (m Method) String() string {
	if m == NDFS {
		return "ndfs"
	}
	return "jelsr"
}

const (
	// Both papers search α and β on a grid around 1, using labels: JELSR from 10⁻⁵ to 10⁵, NDFS from 10⁻⁶ to 10⁶. We
	// use the middle of these grids.
	defaultAlpha = 1
	defaultBeta  = 1
	// defaultGamma is NDFS's value, "large enough to ensure orthogonality".
	defaultGamma    = 1e8
	defaultClusters = 10
	defaultMaxIter  = 100
	defaultTol      = 1e-4
	// defaultTolNDFS ends the iteration after 30 to 70 iterations on ORL, COIL20, Isolet and USPS; warpPIE10P needs
	// more than 100. While labels overlap, γ slowly separates them, so that the objective falls like 1/t for thousands
	// of iterations t. This does not improve the selection. After 20, 50 and 400 iterations the NMI was 67.7, 69.1,
	// 68.4 on ORL with 20 features, and 73.9, 73.4, 74.1 with 51. On Isolet it was 73.9, 72.3, 71.3 with 31 features,
	// and 75.3, 75.3, 75.6 with 62.
	defaultTolNDFS = 1e-2
)

// Options sets the objective and the conditions for stopping. The zero value is JELSR with α = β = 1.
type Options struct {
	Method Method

	// Alpha is α: for JELSR the weight of the row norms relative to the regression's error, for NDFS the weight of the
	// regression, with its row norms, relative to the graph; 0 means 1.
	Alpha float64
	// Beta is β: for JELSR the weight of the regression, with its row norms, relative to the graph, for NDFS the weight
	// of the row norms relative to the regression's error; 0 means 1.
	Beta float64
	// Gamma is γ, the weight of NDFS's constraint FᵀF = I; 0 means 1e8. JELSR does not use it.
	Gamma float64
	// Clusters is c, the number of columns of the embedding and of W; 0 means 10.
	Clusters int

	// Tol ends the iteration when the objective falls by less than this share; 0 means 1e-4, or 1e-2 for NDFS.
	Tol float64
	// MaxIter bounds the number of iterations; 0 means 100.
	MaxIter int
	// Iterations, if positive, is the exact number of iterations. Tol and MaxIter are then ignored, and NDFS keeps the
	// result of every update, as in its paper, even if the objective rises.
	Iterations int

	Seed    uint64 // seed of NDFS's start
	Threads int    // 0 means GOMAXPROCS; the answer does not depend on it
	// Progress is called after each iteration, counted from 1. Nil does nothing.
	Progress func(iteration int, objective float64)
}

// Validate reports every fault of o for d features in one *stream.UsageError.
func (o Options) Validate(d int) error {
	var faults stream.Faults
	if d < 1 {
		faults.Addf("there are no features to choose from")
	}
	if o.Method != JELSR && o.Method != NDFS {
		faults.Addf("method %d is neither jelsr nor ndfs", int(o.Method))
	}
	checkWeight(&faults, "{alpha}", o.Alpha)
	checkWeight(&faults, "{beta}", o.Beta)
	checkWeight(&faults, "{gamma}", o.Gamma)
	if o.Method == JELSR && o.Gamma != 0 {
		faults.Addf("jelsr has no {gamma}")
	}
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	if !(o.Tol >= 0 && o.Tol < 1) {
		faults.Addf("{tol} = %v is not a share between 0 and 1", o.Tol)
	}
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "iterations", o.Iterations)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// leastWeight and largestWeight are bounds of α, β and γ. Between them, squares of weights and their products with
// squares of data are within the range of float64.
const (
	leastWeight   = 1e-12
	largestWeight = 1e12
)

func checkWeight(faults *stream.Faults, option string, weight float64) {
	if weight != 0 && !(weight >= leastWeight && weight <= largestWeight) {
		faults.Addf(option+" = %v is not between %g and %g", weight, leastWeight, largestWeight)
	}
}

func (o Options) withDefaults() Options {
	o.Alpha = cmp.Or(o.Alpha, defaultAlpha)
	o.Beta = cmp.Or(o.Beta, defaultBeta)
	if o.Method == NDFS {
		o.Gamma = cmp.Or(o.Gamma, defaultGamma)
		o.Tol = cmp.Or(o.Tol, defaultTolNDFS)
	}
	o.Clusters = cmp.Or(o.Clusters, defaultClusters)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}

func (o Options) maxUpdates() int { return cmp.Or(o.Iterations, o.MaxIter) }

func (o Options) sparsityWeight() (name string, weight float64) {
	if o.Method == NDFS {
		return "beta", o.Beta
	}
	return "alpha", o.Alpha
}
