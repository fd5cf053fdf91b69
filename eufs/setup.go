package eufs

import (
	"fmt"
	"runtime"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Start says where U comes from. Its columns are orthonormal and none is 0: with U = 0
// the iteration would never leave it.
type Start int

// The starts.
const (
	StartKMeans Start = iota // the k-means indicator, columns scaled to length 1
	StartSoft                // the polar factor of the indicator + 0.2
	StartGiven               // Setup.U
)

// GraphKind says which graph the rows have.
type GraphKind int

// The graphs.
const (
	GraphAuto   GraphKind = iota // GraphKNN up to 20,000 rows, GraphAnchor above
	GraphKNN                     // RBF weights between nearest rows
	GraphAnchor                  // rows that share anchors
	GraphNone                    // no graph term; HUFS takes this, having none
)

// Setup says how to make a [Problem], which all settings of Options share.
type Setup struct {
	Clusters int // k, the columns of U and V; default 10

	Start    Start
	Restarts int       // of k-means, default 1
	U        []float64 // n×k row-major, for StartGiven

	Graph        GraphKind
	Neighbors    int  // of a row: default 5
	Anchors      int  // 0 means what anchor.Count says
	AnchorKMeans bool // anchors are centres of clusters of a sample, not rows

	// Scratch keeps the rows and their state; nil means memory.
	Scratch stream.Scratch
	// Reread reads the source anew in every iteration instead of keeping a copy of X in
	// scratch, the narrowest that is exact.
	Reread bool

	Seed    uint64
	Threads int           // 0 means GOMAXPROCS; the result does not depend on it
	Meter   *stream.Meter // counts the passes over the source; nil counts nothing

	blockRows int // of a test; 0 is what layout says
}

const (
	defaultClusters  = 10
	defaultNeighbors = 5
	// MostNeighbourRows bounds the rows of a kNN graph: 20,000² distances are 0.3 TFLOP at 784
	// features. Rows alone decide, so that a memory limit never changes a result.
	MostNeighbourRows = 20_000
)

// Validate names every fault of s for n rows and d features in one *stream.UsageError.
func (s Setup) Validate(n int64, d int) error {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if d < 1 || n < 1 {
		fault("there is nothing to select from in %d rows and %d features", n, d)
	}
	negative := func(name string, v int) {
		if v < 0 {
			fault("%s = %d is negative", name, v)
		}
	}
	negative("clusters", s.Clusters)
	negative("restarts", s.Restarts)
	negative("neighbors", s.Neighbors)
	negative("anchors", s.Anchors)
	negative("workers", s.Threads)
	s = s.withDefaults(n)
	if s.Clusters > 0 && int64(s.Clusters) > n {
		fault("clusters = %d is more than the %d rows", s.Clusters, n)
	}
	if s.Start < StartKMeans || s.Start > StartGiven {
		fault("start %d is not one there is", s.Start)
	}
	if fromU := s.Start == StartGiven; fromU != (s.U != nil) {
		fault("a given start and its U go together")
	} else if fromU && int64(len(s.U)) != n*int64(s.Clusters) {
		fault("U has %d values, want %d×%d", len(s.U), n, s.Clusters)
	}
	switch s.Graph {
	case GraphKNN:
		if n > MostNeighbourRows {
			fault("a kNN graph of %d rows: at most %d; choose the anchor graph", n, MostNeighbourRows)
		}
	case GraphAnchor:
		if _, err := anchor.Count(s.Anchors, n, s.Neighbors); err != nil {
			faults = append(faults, err.Error())
		}
	case GraphNone:
	default:
		fault("graph %d is not one there is", s.Graph)
	}
	return usage(faults)
}

// withDefaults fills in the zero fields for n rows.
func (s Setup) withDefaults(n int64) Setup {
	if s.Clusters == 0 {
		s.Clusters = defaultClusters
	}
	if s.Restarts == 0 {
		s.Restarts = 1
	}
	if s.Neighbors == 0 {
		s.Neighbors = defaultNeighbors
	}
	if s.Graph == GraphAuto {
		s.Graph = GraphAnchor
		if n <= MostNeighbourRows {
			s.Graph = GraphKNN
		}
	}
	if s.Scratch == nil {
		s.Scratch = stream.InMemory{}
	}
	if s.Threads == 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	return s
}
