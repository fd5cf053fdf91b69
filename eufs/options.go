package eufs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Method is the method of one of the two papers.
type Method int

// Each constant is a method, with the penalties of its objective.
const (
	EUFS Method = iota // α‖V‖₂,₁ + β Tr(UᵀLU)
	HUFS               // β‖V‖₂,₁ + α Σ‖v_G‖ over the groups of a tree
)

// Weight is the weight of a penalty: a number, or a share of α_max, the weight of the row sparsity from which on V
// becomes 0 and stays 0 (see [Problem.AlphaMax]).
type Weight = method.Weight

// Options are the settings of the iteration. A zero field means its default, except for the weights of the penalties,
// which have no default: their zero means 0.
type Options struct {
	Method Method
	// Alpha is the weight of the row sparsity in EUFS, and of the tree in HUFS. Beta is the weight of the graph in EUFS,
	// and of the row sparsity in HUFS. These are the papers' letters.
	Alpha, Beta Weight
	Tree        *Tree // HUFS only; nil is a tree without groups

	Mu    float64 // μ₀, default 1
	Rho   float64 // factor by which μ grows after every iteration, default 1.1
	MuMax float64 // bound of μ, default 1e10, or μ₀ if that is larger

	MaxIter int     // default 100
	Tol     float64 // bound on the relative change of eq. (14) in each of five iterations; default 1e-4, negative never ends early
	Float32 bool    // keep M in float32: it needs half the bytes, and the last digits of results differ

	Threads int // 0 means GOMAXPROCS; the result does not depend on it
	// Progress is called when the objective of an iteration is complete. It may be nil.
	Progress func(iteration int, objective float64)
}

const (
	defaultMu      = 1
	defaultRho     = 1.1
	defaultMuMax   = 1e10
	defaultMaxIter = 100
	// On COIL20 (20 clusters, μ₀ = 1, α a tenth of α_max) the relative change of eq. (14) was 4e-3, 5e-4 and 1e-4 in
	// iterations 10, 100 and 200. A tolerance far below 1e-4 does not change rankings.
	defaultTolerance = 1e-4
)

// Validate returns one *stream.UsageError with every fault of o.
func (o Options) Validate() error {
	var faults stream.Faults
	if o.Method != EUFS && o.Method != HUFS {
		faults.Addf("method %d is neither EUFS nor HUFS", o.Method)
	}
	method.RefuseWeight(&faults, "{alpha}", o.Alpha.Value)
	method.RefuseWeight(&faults, "{beta}", o.Beta.Value)
	if o.Tree != nil && o.Method != HUFS {
		faults.Addf("a tree belongs to HUFS")
	}
	if o.Mu != 0 && !(o.Mu > 0) || o.Mu-o.Mu != 0 {
		faults.Addf("{mu} = %v is not a finite positive number", o.Mu)
	}
	if o.Rho != 0 && !(o.Rho >= 1) || o.Rho-o.Rho != 0 {
		faults.Addf("rho = %v is not a finite number of at least 1", o.Rho)
	}
	if o.MuMax != 0 && !(o.MuMax > 0) || o.MuMax-o.MuMax != 0 {
		faults.Addf("the largest mu, %v, is not a finite positive number", o.MuMax)
	} else if done := o.WithDefaults(); done.Mu > done.MuMax {
		faults.Addf("{mu} = %v is above its bound %v", done.Mu, done.MuMax)
	}
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseInfinite(&faults, "{tol}", o.Tol)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// WithDefaults fills in the zero fields.
func (o Options) WithDefaults() Options {
	o.Mu = cmp.Or(o.Mu, defaultMu)
	o.Rho = cmp.Or(o.Rho, defaultRho)
	o.MuMax = cmp.Or(o.MuMax, max(defaultMuMax, o.Mu))
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Tol = cmp.Or(o.Tol, defaultTolerance)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}
