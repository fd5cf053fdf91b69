package method

import (
	"math"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Shape is the input of a run as far as it is known before anything is read.
type Shape struct {
	Columns []stream.Column  // features, at most
	LeftOut []stream.LeftOut // columns that are none
	Rows    int64            // that take part, at most; -1 unknown
	Source  stream.Source    // what the method will read; nil where it reads nothing
	K       int              // features wanted, at most
	Blocks  int              // the largest block of those to choose from; 0 where features are chosen one by one
	Anchors int              // m, for FromGraph
	Threads int
	Sample  int // rows of the sample, for methods that take one

	Sparse   bool // rows are lists of their entries
	Thin     bool // and the graph has C by its columns: see anchor.Columns
	HasNulls bool // the metadata tells of missing entries
	FillMean bool // missing entries become means
	Drops    bool // rows with missing entries are dropped

	RowEntries int64 // that a sparse row is planned with

	// Rank is the number of rows of a Gram matrix that is a factor; 0 where it is in full.
	Rank int
	// Sketch is the number of rows of a sketch that the Gram matrix is estimated by, those held back
	// included; 0 where it is exact. Reads is how often the input may be read, for that once.
	Sketch, Reads int
	// OutOfCore asks about FromGram methods without the matrix: they read the rows.
	OutOfCore bool
	// Memory is what the method may hold; 0 means all it wants.
	Memory int64
}

// Names are the names of the features.
func (s Shape) Names() []string { return names(s.Columns) }

// Unaffordable is more bytes than any limit: the cost of a form that a method does not have.
const Unaffordable = math.MaxInt64 / 4

// Cost is what a run takes, in bytes, beside what it works from and the source's chunks.
type Cost struct {
	Bytes   int64 // held at most within Shape.Memory
	Least   int64 // the smallest Shape.Memory that works; 0 means Bytes
	Scratch int64 // in scratch files
	// Rewritten is what each iteration writes anew of Scratch: a checkpoint keeps it twice.
	Rewritten int64
	Shared    int64 // of Bytes, or of Scratch where that is not 0, what settings solved side by side share
	Gram      bool  // a FromRows method wants the Gram matrix of the centred columns
	Cramped   bool  // more memory would save passes
	Passes    Passes
	// Iterations bounds the iterations of one setting; 0 for a method that does not iterate.
	Iterations int
}

// Passes is the range in which the number of passes over the input will be.
type Passes struct {
	Least, Most int
	Why         stream.Text // the zero Text says nothing
}
