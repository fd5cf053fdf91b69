package stream

// Column is one feature of a Source.
type Column struct {
	Name string // struct fields are joined by dots, as in "a.b", and list elements are numbered, as in "emb[3]"
	Type string // the file's own name of the type, for reports: "uint8", "decimal(10,2)", "float"
	// Block is the name of the input column from which this column and others were made together, such as the
	// indicators of a column of categories. The columns with the same Block are chosen together and reported as the
	// input column. Block is empty for all other columns.
	Block string `json:",omitempty"`
	// Position is the position in the input of this column, or of the column from which it was made. Statistics files
	// store it separately from the other fields.
	Position Position `json:"-"`
}

// CategoryType is the Type of a column that is 1 in the rows of one category, and 0 elsewhere. A column of categories
// becomes one such column for each category. Any scale that centres columns scales them as in multiple correspondence
// analysis: see gram.NewStandardizer.
const CategoryType = "category"

// Chunk is a block of consecutive rows. It is valid until the Source that made it makes the next one, so an Adder must
// copy all data that it keeps. Only the Source writes to a Chunk.
//
// Values are stored by columns, so that the decoders of files, which decode column by column, write consecutive memory.
// Matrix products copy the columns that they need to a layout of their own.
//
// A chunk is either dense (Data) or sparse (Sparse). An entry is missing if it is null, NaN or ±Inf in the file.
// Missing entries are NaN, with the bits that [MissingValue] returns, and every other value is finite. NaN occurs only
// under [MissingKeep], and only in columns whose Missing count is not zero.
type Chunk struct {
	Start  int64     // global position of the block's first row, which may have been dropped
	Block  int       // number of rows of the block, including rows that were dropped
	Rows   int       // number of rows in this chunk, at most Block
	Cols   int       // number of features
	Data   []float64 // column j is Data[j*Stride : j*Stride+Rows]; nil when Sparse is set
	Stride int       // distance between columns, at least Rows

	// Positions holds the rows' global positions if rows of this block were dropped. Nil means Start, Start+1, …
	Positions []int64
	// Weight holds one finite weight > 0 a row; nil means 1. Rows of weight 0 are dropped.
	Weight []float64
	// Class holds the class of every row, as an index into the classes of the Source (chunkio's Dataset.Classes), or -1
	// for a null label. It is nil unless the Source was opened with classes.
	Class []int32
	// Target holds the label of every row as a number. It is NaN or ±Inf if the row has no label. Target is nil unless
	// the Source was opened with a target whose labels may be classes. If TargetCodes is set, the labels are not
	// numbers, and Target holds a code for each distinct label, see chunkio's Options.Target.
	Target      []float64
	TargetCodes bool
	// Missing counts the missing entries of each column in the file, before rows were dropped or entries replaced. Nil
	// means that no entry was missing.
	Missing []MissingCount
	// Sparse replaces Data if the rows of the Source are lists of indices and values.
	Sparse *CSR
}

// Col returns column j of a dense chunk, a slice of Rows values.
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

// CSR holds sparse rows: row i has the entries [RowPtr[i], RowPtr[i+1]) of Index (strictly ascending columns) and Value
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

// Bounds of the height of blocks, i.e. the number of rows in a block. With taller blocks, a narrow table is added in
// fewer steps. For a wide table of d features, the d×d sums of products are read and written less often: a block of h
// rows needs h/16 multiplications for every byte of these sums that it reads or writes. Above 65,536 features, for
// which d×d sums exceed any memory, a block of 256 rows alone would exceed blockByteGoal.
const (
	minBlockRows   = 256
	maxBlockRows   = 8192
	blockByteGoal  = 16 << 20
	blockByteMost  = 128 << 20
	bytesPerNumber = 8
	// sparseBlockRows is the height of blocks of sparse rows. A block of 4096 sparse rows with 64 entries each holds
	// only 2^18 entries. A pass over 100,000 rows and columns with 50 entries per row spent 2.5 s going through all
	// columns once for each block of 128 rows, and 0.9 s with blocks of 512 rows.
	sparseBlockRows = 4096
)

// BlockRows returns the height of the blocks of a Source of d features. It is the largest power of two from 256 to 8192
// for which a block is at most 16 MiB, or 256 if no such power exists. Above 65,536 features it may be less than 256,
// so that a block is at most 128 MiB. The height depends on d alone, so sums are rounded in the same way for any number
// of threads and any memory limit.
func BlockRows(d int) int {
	h, row := maxBlockRows, max(d, 1)*bytesPerNumber
	for h > minBlockRows && h*row > blockByteGoal || h > 1 && h*row > blockByteMost {
		h /= 2
	}
	return h
}

// SparseBlockRows returns the height of the blocks of a Source of sparse rows, which is larger than BlockRows for wide
// tables. It depends on d alone.
func SparseBlockRows(d int) int { return max(BlockRows(d), sparseBlockRows) }
