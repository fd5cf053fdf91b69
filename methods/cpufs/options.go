package cpufs

import (
	"cmp"
	"math"
	"runtime"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// GraphKind is the kind of graph that joins rows.
type GraphKind int

// Each constant is a kind of graph.
const (
	GraphAuto    GraphKind = iota // neighbours up to 20,000 rows, anchors above; only the number of rows decides, never memory
	GraphKNN                      // normalized Laplacian of the nearest neighbours: the paper
	GraphAnchors                  // I − BBᵀ of the anchor graph: rows that share anchors
)

func (k GraphKind) String() string { return [...]string{"auto", "knn", "anchor"}[k] }

// Start is the way in which C starts, whose columns are orthonormal. F starts as C with its negative entries set to 0.
type Start int

// Each constant is a way to start C.
const (
	StartKMeans Start = iota // the indicator of clusters found by k-means, with columns scaled to length 1
	StartSoft                // the polar factor of that indicator plus 0.2 in every entry
	StartRandom              // the polar factor of normal random numbers, with which the authors' program starts
)

const (
	defaultClusters = 10
	defaultNu       = 1
	defaultAlpha    = 1
	defaultBeta     = 1
	defaultEta      = 1e5 // the paper's value; F becomes C with its negative entries set to about 0
	defaultSteps    = 2   // Φ₂
	defaultMaxIter  = 500 // Φ₁
	defaultTol      = 1e-6
	// defaultNeighbors and defaultSigma are the paper's values, for data in [0, 1].
	defaultNeighbors = 5
	defaultSigma     = 1
	defaultMemory    = 1 << 30
	// maxKNNRows is the largest number n of rows for which nearest neighbours are found, at the cost of n²·d flops: 0.3
	// TFLOP for 20,000 rows of 784 pixels.
	maxKNNRows = 20000
)

// Options are the settings of the iteration. The zero value is CPUFS with ν = α = β = 1, η = 10⁵ and 10 clusters.
type Options struct {
	Nonnegative bool // CPUFSnn: U₁, U₂, … ≥ 0

	Clusters int // c, the number of components; 0 means 10, or the number of rows if that is smaller
	Start    Start

	Nu    float64 // ν, weight of the graph; 0 means 1
	Alpha float64 // α, weight of the fit of XW to F; 0 means 1
	Beta  float64 // β, weight of the row norms of W; 0 means 1
	Eta   float64 // η, weight of F's distance from C; 0 means 1e5

	Steps   int // number of gradient steps of each U in an iteration, the paper's Φ₂; 0 means 2
	MaxIter int // largest number of iterations, the paper's Φ₁; 0 means 500
	// Tol ends the iteration once the objective falls by no more than this share of itself; 0 means 1e-6.
	Tol float64
	// Iterations, if positive, is the exact number of iterations. Tol and MaxIter are then not used.
	Iterations int

	// Scaling maps values to [0, 1], see [MinMax]; nil leaves them unchanged. Scaled values must not be negative.
	Scaling *Scaling

	Graph     GraphKind
	Neighbors int     // K, number of neighbours in either graph; 0 means 5
	Sigma     float64 // for GraphKNN: an edge weighs exp(−‖x−y‖²/σ²); 0 means 1

	Anchors         int           // m, number of anchors for GraphAnchors; 0 means anchor.Count's default
	AnchorsBalanced bool          // the clusters of AnchorKMeans have equal sizes
	AnchorKMeans    bool          // anchors are centres of clusters of a sample, not rows of it
	AnchorRows      *stream.Chunk // the anchors themselves, as unscaled rows of the source's columns; nil means that they are sampled

	Seed    uint64 // seed of the start
	Threads int    // 0 means GOMAXPROCS; the answer does not depend on it

	// Memory bounds the bytes held in addition to the source's chunks, see [Options.Plan]; 0 means 1 GiB.
	Memory int64
	// Scratch keeps the state of the rows if it does not fit in memory. Scratch may be nil if the state fits.
	Scratch stream.Scratch
	// Stages save the progress of a run, so that a later run resumes from it; nil saves nothing.
	Stages stream.Stages

	Meter *stream.Meter // counts all passes; nil counts nothing
	// Pass is called as each pass over the source begins, with its number, counted from 1, and its purpose. It may be nil.
	Pass func(pass int, what string)
	// Progress is called after each iteration. It may be nil.
	Progress func(iteration int, objective float64)

	// The following fields replace parts of a run in tests.
	givenStart   *startFactors  // in place of the seeded start
	givenRate    float64        // a fixed length of the steps in place of backtracking
	givenGraph   *rows.Graph    // in place of the graph of the rows
	givenWeights *kernel.Sparse // Z, in place of the anchors
	noGram       bool           // as if G did not fit
	rowsOnDisk   bool           // as if the rows did not fit
	stateOnDisk  bool           // as if their state did not fit
	watch        func(first int, c, f []float64)
}

// startFactors is a given start of C, n×c, which is also the start of F, and of A and U of each side, n_s×c and c×n_s, all
// row-major, see the package comment.
type startFactors struct {
	c    []float64
	a, u [][]float64
}

// Validate returns one *stream.UsageError with every fault of o.
func (o Options) Validate() error {
	var faults stream.Faults
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "steps", o.Steps)
	method.RefuseNegative(&faults, "{max-iter}", o.MaxIter)
	method.RefuseNegative(&faults, "iterations", o.Iterations)
	method.RefuseNegative(&faults, "{neighbors}", o.Neighbors)
	method.RefuseNegative(&faults, "{anchors}", o.Anchors)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	for _, w := range []struct {
		name  string
		value float64
	}{{"{nu}", o.Nu}, {"{alpha}", o.Alpha}, {"{beta}", o.Beta}, {"{eta}", o.Eta}} {
		if w.value != 0 && !(w.value >= minWeight && w.value <= maxWeight) {
			faults.Addf(w.name+" = %v is not between %g and %g", w.value, minWeight, maxWeight)
		}
	}
	if o.Sigma != 0 && !(o.Sigma > 0 && o.Sigma <= math.MaxFloat64 && 1/o.Sigma <= math.MaxFloat64) {
		faults.Addf("sigma = %v is not positive and finite", o.Sigma)
	}
	if !(o.Tol >= 0 && o.Tol < 1) {
		faults.Addf("{tol} = %v is not a share between 0 and 1", o.Tol)
	}
	if o.Memory < 0 {
		faults.Addf("memory = %d is negative", o.Memory)
	}
	if o.Start < StartKMeans || o.Start > StartRandom {
		faults.Addf("unknown start %d", o.Start)
	}
	switch o.Graph {
	case GraphAuto, GraphKNN, GraphAnchors:
	default:
		faults.Addf("graph %d is neither knn nor anchor", int(o.Graph))
	}
	return faults.Err("")
}

// With weights between these bounds, squares in the objective stay finite, and rounding does not erase the term η‖C −
// F‖² of eq. (2).
const minWeight, maxWeight = 1e-12, 1e12

// WithDefaults fills in the zero fields of valid options for a number of rows.
func (o Options) WithDefaults(rows int64) Options {
	o.Clusters = cmp.Or(o.Clusters, int(min(defaultClusters, max(rows, 1))))
	o.Nu = cmp.Or(o.Nu, defaultNu)
	o.Alpha = cmp.Or(o.Alpha, defaultAlpha)
	o.Beta = cmp.Or(o.Beta, defaultBeta)
	o.Eta = cmp.Or(o.Eta, defaultEta)
	o.Tol = cmp.Or(o.Tol, defaultTol)
	o.Sigma = cmp.Or(o.Sigma, defaultSigma)
	o.Steps = cmp.Or(o.Steps, defaultSteps)
	o.MaxIter = cmp.Or(o.MaxIter, defaultMaxIter)
	o.Neighbors = cmp.Or(o.Neighbors, defaultNeighbors)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	if o.Graph == GraphAuto {
		if o.Graph = GraphKNN; rows > maxKNNRows {
			o.Graph = GraphAnchors
		}
	}
	return o
}

func (o Options) maxIterations() int { return cmp.Or(o.Iterations, o.MaxIter) }
