package budget

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ProfileColumnBytes is the memory that one column needs in a profile and in the report.
const ProfileColumnBytes = 512

// Budget is the plan of a run's memory, in bytes. It is made from the footers before the run, and each part of the run
// stays within its share. Results do not depend on the budget. G is the Gram matrix.
type Budget struct {
	Limit      int64 `json:"limit_bytes"`
	Program    int64 `json:"program_bytes"`
	Reading    int64 `json:"reading_bytes"`
	Statistics int64 `json:"statistics_bytes"`
	Anchors    int64 `json:"anchors_bytes"` // part of Statistics for the anchor graph: rows joined to a few anchor rows
	Solver     int64 `json:"solver_bytes"`
	Kept       int64 `json:"kept_bytes"`                      // upper bound on decoded data kept for later passes
	KeptGroups int   `json:"kept_row_groups"`                 // number of row groups that surely fit into Kept
	Groups     int   `json:"row_groups"`                      // total number of row groups
	Slack      int64 `json:"slack_bytes"`                     // free memory for garbage while decoded data are kept
	Peak       int64 `json:"peak_bytes"`                      // sum of the parts that are in memory at the same time
	Smallest   int64 `json:"smallest_bytes"`                  // the smallest limit that works
	InMemory   int64 `json:"smallest_in_memory_bytes"`        // the smallest limit that needs no additional passes
	AutoK      int64 `json:"smallest_auto_k_bytes,omitempty"` // the smallest limit for finding the number of features
	Sketch     int64 `json:"sketch_rows"`                     // rows of the sketch that estimates G; 0 if G is exact
	Factor     int64 `json:"factor_rows"`                     // rows of a factor F, G = FᵀF; 0 if G is full or not made
	OutOfCore  bool  `json:"out_of_core"`                     // further passes replace G, or rows are in scratch files

	Scratch          int64 `json:"-"` // bytes in scratch files
	RewrittenScratch int64 `json:"-"` // the part of scratch that each iteration rewrites; a checkpoint keeps this part twice
	FreedStatistics  int64 `json:"-"` // bytes of statistics that are freed before the solver begins
	JudgesAtOnce     bool  `json:"-"` // memory suffices to judge the anchors' graph and its permuted copy at the same time
	HasSizeRules     bool  `json:"-"` // memory suffices for the rules that find the number of features
	SpoolBytes       int64 `json:"-"` // scratch bytes for row groups of objects that do not fit into Reading
	Iterations       int   `json:"-"` // greatest number of iterations of the method for one setting; 0 if none
	ParallelSettings int   `json:"-"` // number of settings of the method that ufs.Path solves in parallel
	GathersMoments   bool  `json:"-"` // a method over rows: moments are gathered before the iterations
	PackingBytes     int64 `json:"-"` // the part of Solver for packing drawn rows into a block
	SideStatistics   int64 `json:"-"` // part of the statistics' memory for histograms and similar tables
	ThinColumnBytes  int64 `json:"-"` // planned bytes of the graph's matrix C if only its nonzero entries are stored; else 0

	JudgingStatistics int64         `json:"-"` // memory for making and judging anchors if JudgesAtOnce is set
	MethodPasses      method.Passes `json:"-"` // passes over the input after the statistics are made
	DefaultSize       stream.Text   `json:"-"` // why the plan is for the default number of features, although the data may determine it; or empty
}

func CapAtTableRows(wantedRows int, ds *chunkio.Dataset) int {
	if n := ds.Rows(); n >= 0 {
		return int(min(int64(wantedRows), n))
	}
	return wantedRows
}

// ErrOverLimit returns the error that the run needs more memory than its limit.
func (b Budget) ErrOverLimit() error {
	return &stream.MemoryError{What: "this run", Need: b.Smallest, Limit: b.Limit}
}

// EnforcePeak sets the memory limit of the Go runtime to the planned peak, so that garbage does not fill the memory that
// the plan left free. If mayGrow is true, statistics may need more memory than planned, and the limit stays as it is.
func (b Budget) EnforcePeak(mayGrow bool) {
	if !mayGrow {
		process.Lock()
		defer process.Unlock()
		newRuntimeSettings(b.Peak, 0).applyAll()
	}
}

// StatisticsRoom returns the memory that the statistics may use. They may use more than planned, because columns with
// missing values need more memory, and footers do not show every missing value.
func (b Budget) StatisticsRoom() int64 {
	return b.Limit - b.Program - b.Anchors - b.SideStatistics - max(b.Reading, b.Solver)
}

// ErrForLimit restates a memory error about one part of the budget in terms of the whole limit. Such an error occurs if
// the footers did not show how many columns have missing values.
func (b Budget) ErrForLimit(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	whole := *m
	whole.Need, whole.Limit = m.Need-m.Limit+b.Limit, b.Limit
	return &whole
}

// GraphBytes returns the memory of an anchor graph and of the graphs of its hash shards.
func GraphBytes(anchors, columns, neighbors, threads, shards int) int64 {
	return anchor.SharedBytes(anchors, columns, neighbors, threads, shards+1)
}

// ThinRoom returns the memory that is left, after reading and profiles of columns, for a graph stored by its entries.
func (b Budget) ThinRoom(columns int) int64 {
	return b.Limit - b.Program - b.Reading - ProfileColumnBytes*int64(columns)
}
