package stream

// Column is one feature of a Source.
type Column struct {
	Name string // flattened: "a.b" for struct fields, "emb[3]" for list elements
	Type string // the file's own type, for reports: "uint8", "decimal(10,2)", "float"
	// Block names the input column from which this column and others were made, such as the indicators of a column of
	// categories. The columns of a block are chosen together and reported as the input column. Block is empty for a
	// column that was not made in this way.
	Block string `json:",omitempty"`
	// Position is the position in the input of this column, or of the column from which it was made. Statistics files
	// store it in a section of its own.
	Position Position `json:"-"`
}

// CategoryType is the Type of a column that is 1 in the rows of one category, and 0 elsewhere. A block of such columns
// represents a column of categories. Under any centred scale the columns of a block are scaled as in multiple
// correspondence analysis: see gram.NewStandardizer.
const CategoryType = "category"

// Chunk is a block of consecutive rows, lent by a Source until its next step: an Adder copies the data that it keeps,
// and only the Source writes to a Chunk.
//
// Values are stored by columns because files are decoded by columns, so that each decoder writes consecutive memory.
// Matrix products pack the columns they need.
//
// A chunk is dense (Data) or sparse (Sparse), never both. Missing entries (null, NaN, ±Inf in the file) are NaN with
// the bits that [MissingValue] returns; every other value is finite. NaN occurs only under [MissingKeep], and only in
// columns whose Missing count is not zero.
type Chunk struct {
	Start  int64     // global position of the block's first row, counted before any row is dropped
	Block  int       // height of the block before any row was dropped
	Rows   int       // rows present, at most Block
	Cols   int       // features
	Data   []float64 // column j is Data[j*Stride : j*Stride+Rows]; nil when Sparse is set
	Stride int       // distance between columns, at least Rows

	// Positions holds the global positions of the present rows if rows were dropped from this block; nil means Start,
	// Start+1, …
	Positions []int64
	// Weight holds one finite weight > 0 a row; nil means 1. Rows of weight 0 are dropped.
	Weight []float64
	// Class holds the class of every present row, an index into the classes of the Source (chunkio's Dataset.Classes);
	// -1 for a null label. Nil unless the Source was opened with classes.
	Class []int32
	// Target holds the label of every present row as a number, or NaN or ±Inf if the row has no label. Nil unless the
	// Source was opened with a target and its label can be a class. With TargetCodes the labels are not numbers, and
	// Target holds a code for each distinct value, see chunkio's Options.Target.
	Target      []float64
	TargetCodes bool
	// Missing counts the missing entries of each column in the file before any policy was applied, including entries of
	// dropped rows; nil means that no entry was missing.
	Missing []MissingCount
	// Sparse replaces Data for sources of index/value lists.
	Sparse *CSR
}

// Col returns column j of a dense chunk, Rows long.
func (c *Chunk) Col(j int) []float64 {
	if c.Rows == 0 { // Data is nil if all rows of the block were dropped
		return nil
	}
	return c.Data[j*c.Stride : j*c.Stride+c.Rows : j*c.Stride+c.Rows]
}

// Position returns the global position of row i.
func (c *Chunk) Position(i int) int64 {
	if c.Positions != nil {
		return c.Positions[i]
	}
	return c.Start + int64(i)
}

// CSR holds sparse rows: row i has the entries RowPtr[i]..RowPtr[i+1] of Index (strictly ascending columns) and Value
// (finite, or NaN for a missing entry under [MissingKeep]); absent entries are 0.
type CSR struct {
	RowPtr []int
	Index  []int32
	Value  []float64
}

// MissingCount counts the missing entries of one column by kind.
type MissingCount struct{ Nulls, NaNs, Infs int64 }

// Total returns the number of missing entries of any kind.
func (m MissingCount) Total() int64 { return m.Nulls + m.NaNs + m.Infs }

// Plus returns the sum of two counts.
func (m MissingCount) Plus(o MissingCount) MissingCount {
	return MissingCount{m.Nulls + o.Nulls, m.NaNs + o.NaNs, m.Infs + o.Infs}
}

// Bounds of the height of blocks. With tall blocks a narrow table does not need a fold step for every few rows, and a
// wide table needs fewer passes over the d×d sums: a block of h rows costs h/16 multiplications for every byte of the
// sums that it moves. Above 65,536 features, for which d×d sums exceed any memory, 256 rows alone would exceed
// blockByteGoal.
const (
	minBlockRows   = 256
	maxBlockRows   = 8192
	blockByteGoal  = 16 << 20
	blockByteMost  = 128 << 20
	bytesPerNumber = 8
	// sparseBlockRows is the height of blocks of sparse rows. A sparse row holds its entries and not d numbers, so a
	// block of rows with 64 entries each holds 2^18 entries. Profiling 100,000 × 100,000 with 50 entries a row spent
	// 2.5 s going through all columns once for each block of 128 rows, and 0.9 s with blocks of 512.
	sparseBlockRows = 4096
)

// BlockRows returns the height of the blocks into which a Source of d features is cut: the largest power of two from
// 256 to 8192 whose block is at most 16 MiB, or 256. Above 65,536 features the height may be less than 256, so that a
// block is at most 128 MiB. The height depends on d alone, so sums are rounded alike for any number of
// threads and any limit.
func BlockRows(d int) int {
	h, row := maxBlockRows, max(d, 1)*bytesPerNumber
	for h > minBlockRows && h*row > blockByteGoal || h > 1 && h*row > blockByteMost {
		h /= 2
	}
	return h
}

// SparseBlockRows returns the height of the blocks of a Source of sparse rows. Wide tables have taller blocks than in
// BlockRows. The height depends on d alone.
func SparseBlockRows(d int) int { return max(BlockRows(d), sparseBlockRows) }
