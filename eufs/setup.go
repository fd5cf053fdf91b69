package eufs

import (
	"cmp"
	"runtime"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Start is the way in which the first U is made. Its columns are orthonormal and not 0, because the iteration would
// never leave U = 0.
type Start int

// Each constant is a way to make the first U.
const (
	StartKMeans Start = iota // the k-means indicator, columns scaled to length 1
	StartSoft                // the polar factor of the k-means indicator plus 0.2
	StartGiven               // Setup.U
)

// GraphKind is the kind of graph over the rows.
type GraphKind int

// Each constant is a kind of graph.
const (
	GraphAuto   GraphKind = iota // GraphKNN up to 20,000 rows, GraphAnchor above
	GraphKNN                     // RBF weights between nearest rows
	GraphAnchor                  // rows that share anchors
	GraphNone                    // no graph term; used for HUFS, which has no graph
)

var namesOfGraphKinds = []string{"auto", "knn", "anchor", "none"}

// Setup has the settings of a [Problem]. All runs with different Options share these settings.
type Setup struct {
	Clusters int // k, the columns of U and V; default 10

	Start    Start
	Restarts int       // restarts of k-means, default 1
	U        []float64 // n×k row-major, for StartGiven

	Graph           GraphKind
	Neighbors       int  // neighbours of a row, default 5
	Anchors         int  // number of anchors; 0 means anchor.Count's default
	AnchorsBalanced bool // the clusters of AnchorKMeans have equal sizes
	AnchorKMeans    bool // anchors are the centres of clusters of a sample, not rows of the sample
	// Sigma is the width σ of the kNN graph's weights exp(−d²/σ²). 0 means that σ² is the mean of the squared distances d²
	// of all rows from their neighbours.
	Sigma float64

	// Scratch keeps the rows and their state; nil means memory.
	Scratch stream.Scratch
	// Stages save the progress of a run, so that a later run resumes from it; nil saves nothing.
	Stages stream.Stages
	// Reread reads the source again in every iteration. Otherwise scratch has a copy of X in the narrowest exact type.
	Reread bool

	Seed    uint64
	Threads int           // 0 means GOMAXPROCS; the result does not depend on it
	Meter   *stream.Meter // counts the passes over the source; nil counts nothing

	blockRows int // rows of a block in tests; 0 means the layout's own number
}

const (
	defaultClusters  = 10
	defaultNeighbors = 5
	// MostNeighbourRows is the largest number of rows of a kNN graph: 20,000² distances between rows of 784 features
	// cost 0.3 TFLOP. The number of rows alone decides, so that a memory limit never changes a result.
	MostNeighbourRows = 20_000
)

// Validate returns one *stream.UsageError with every fault of s for n rows and d features.
func (s Setup) Validate(n int64, d int) error {
	var faults stream.Faults
	if d < 1 || n < 1 {
		faults.Addf("there is nothing to select from in %d rows and %d features", n, d)
	}
	method.RefuseNegative(&faults, "{clusters}", s.Clusters)
	method.RefuseNegative(&faults, "restarts", s.Restarts)
	method.RefuseNegative(&faults, "{neighbors}", s.Neighbors)
	method.RefuseNegative(&faults, "{anchors}", s.Anchors)
	method.RefuseNegative(&faults, "{threads}", s.Threads)
	method.RefuseWeight(&faults, "{sigma}", s.Sigma)
	s = s.withDefaults(n)
	if s.Clusters > 0 && int64(s.Clusters) > n {
		faults.Addf("{clusters} = %d is more than the %d rows", s.Clusters, n)
	}
	if s.Start < StartKMeans || s.Start > StartGiven {
		faults.Addf("unknown start %d", s.Start)
	}
	if fromU := s.Start == StartGiven; fromU != (s.U != nil) {
		faults.Addf("a given start and its U go together")
	} else if fromU && int64(len(s.U)) != n*int64(s.Clusters) {
		faults.Addf("U has %d values, want %d×%d", len(s.U), n, s.Clusters)
	}
	switch s.Graph {
	case GraphKNN:
		if n > MostNeighbourRows {
			faults.Addf("a kNN graph of %d rows: at most %d; choose the anchor graph", n, MostNeighbourRows)
		}
	case GraphAnchor:
		if _, err := anchor.Count(s.Anchors, n, s.Neighbors); err != nil {
			faults.Addf("%v", err)
		}
	case GraphNone:
	default:
		faults.Addf("unknown graph %d", s.Graph)
	}
	return faults.Err("")
}

func (s Setup) withDefaults(n int64) Setup {
	s.Clusters = cmp.Or(s.Clusters, defaultClusters)
	s.Restarts = cmp.Or(s.Restarts, 1)
	s.Neighbors = cmp.Or(s.Neighbors, defaultNeighbors)
	s.Threads = cmp.Or(s.Threads, runtime.GOMAXPROCS(0))
	if s.Graph == GraphAuto {
		s.Graph = GraphAnchor
		if n <= MostNeighbourRows {
			s.Graph = GraphKNN
		}
	}
	if s.Scratch == nil {
		s.Scratch = stream.InMemory{}
	}
	return s
}
