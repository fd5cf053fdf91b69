package method

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Shape describes the input of a run as far as it is known before the input is read.
type Shape struct {
	Columns []stream.Column  // features; there may be fewer
	LeftOut []stream.LeftOut // columns that are not features
	Rows    int64            // upper bound of the used rows; -1 unknown
	Source  stream.Source    // the rows that the method will read; nil if it does not read rows
	K       int              // upper bound of the number of features to choose
	Blocks  int              // features of the largest candidate block; 0 if features are chosen one by one
	Anchors int              // number of anchors m, for FromGraph
	Threads int
	Sample  int // number of rows of the sample, for methods that use one

	Sparse   bool // rows are lists of their entries
	Thin     bool // Sparse, and the graph holds C by its columns: see anchor.Columns
	HasNulls bool // the metadata records missing entries
	FillMean bool // missing entries become means
	Drops    bool // rows with missing entries are dropped

	RowEntries int64 // planned entries of a sparse row

	// Rank is the number of rows of a Gram matrix given as a factor, or 0 if the matrix is stored in full.
	Rank int
	// Sketch is the number of rows of a sketch that estimates the Gram matrix, including held-out rows; 0 if the matrix
	// is exact. Reads is the largest allowed number of passes over the input, including the one for the sketch.
	Sketch, Reads int
	// OutOfCore requests the cost of FromGram methods that read the rows instead of a Gram matrix.
	OutOfCore bool
	// Memory is the memory that the method may use; 0 means no limit.
	Memory int64
}

// Names returns the names of the features.
func (s Shape) Names() []string { return columnNames(s.Columns) }

// Unaffordable exceeds any limit. It is the cost of a way of computing that a method does not have.
const Unaffordable = math.MaxInt64 / 4

// Cost is the cost of a run, in addition to the memory of its evidence and of the source's chunks.
type Cost struct {
	Bytes   int64 // peak memory, at most Shape.Memory if that is enough
	Least   int64 // the smallest Shape.Memory that works; 0 means Bytes
	Scratch int64 // bytes in scratch files
	// Rewritten is the part of Scratch that each iteration rewrites. A checkpoint stores this part twice.
	Rewritten int64
	Shared    int64 // the part of Bytes, or of Scratch if Scratch is not 0, that settings solved in parallel share
	Gram      bool  // a FromRows method needs the Gram matrix of the centred columns
	Cramped   bool  // with more memory the run would need fewer passes
	Passes    Passes
	// Iterations bounds the iterations of one setting; 0 for a direct method.
	Iterations int
}

// Passes is the range and the reason of the number of passes over the input.
type Passes struct {
	Least, Most int
	Why         stream.Text // may be empty
}
