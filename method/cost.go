package method

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Shape describes the input of a run as far as it is known before the input is read.
type Shape struct {
	Columns []stream.Column  // possible features; the run may leave out some of these columns
	LeftOut []stream.LeftOut // columns that are not features
	Rows    int64            // upper bound of the number of used rows; -1 if unknown
	Source  stream.Source    // the rows that the method will read; nil if it does not read rows
	K       int              // upper bound of the number of features to choose
	Blocks  int              // number of features in the largest candidate block; 0 if features are chosen one by one
	Explain int              // number of features to explain; 0 means all
	Anchors int              // number of anchors m, for FromGraph
	Threads int
	Sample  int // number of sampled rows, for methods that use a sample

	Sparse   bool // rows are stored as lists of entries
	Thin     bool // rows are sparse, and the anchor graph stores its m×d matrix C by columns (anchor.Columns)
	HasNulls bool // the metadata records missing entries
	FillMean bool // missing entries become means
	Drops    bool // rows with missing entries are dropped

	RowEntries int64 // number of entries that the planned memory assumes in a sparse row

	// Rank is the number of rows of the factor R if the Gram matrix is given as RᵀR, or 0 if it is stored in full.
	Rank int
	// Sketch is the number of rows of a sketch that estimates the Gram matrix, including held-out rows; 0 if the matrix
	// is exact. Reads is the largest allowed number of passes over the input, including the one for the sketch.
	Sketch, Reads int
	// OutOfCore requests the cost of a run that reads the rows again instead of using a Gram matrix.
	OutOfCore bool
	// Memory is the memory that the method may use; 0 means no limit.
	Memory int64
}

// Names returns the names of the features.
func (s Shape) Names() []string { return namesOfColumns(s.Columns) }

// Unaffordable is a cost above any limit. Methods return it for a way of computing that they do not support.
const Unaffordable = math.MaxInt64 / 4

// Cost is the cost of a run, in addition to the memory of its evidence and of the source's chunks.
type Cost struct {
	Bytes   int64 // peak memory in bytes; at most Shape.Memory if the method can work within that
	Least   int64 // the smallest Shape.Memory that works; 0 means that Bytes is the smallest
	Scratch int64 // bytes in scratch files
	// Rewritten is the part of Scratch that each iteration rewrites. A checkpoint stores this part twice.
	Rewritten int64
	Shared    int64 // the part of Bytes, or of Scratch if Scratch is not 0, that settings solved in parallel share
	Gram      bool  // a FromRows method needs the Gram matrix of the centred columns
	Cramped   bool  // with more memory the run would need fewer passes
	Passes    Passes
	// Iterations is the greatest number of iterations for one setting, or 0 if the method does not iterate.
	Iterations int
}

// Passes holds the least and the greatest number of passes over the input, and the reason for them.
type Passes struct {
	Least, Most int
	Why         stream.Text // may be empty
}
