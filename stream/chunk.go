package stream

// Column is one feature of a Source.
type Column struct {
	Name string // flattened: "a.b" for struct fields, "emb[3]" for list elements
	Type string // the file's own type, for reports: "uint8", "decimal(10,2)", "float"
	// Block is the input's column that this one was made of, together with others, such as the
	// indicators of a column of categories: they are chosen together and reported as that one.
	// Empty for a column that stands for itself.
	Block string `json:",omitempty"`
	// Position is that of the input's column that this one is, or is made of. Statistics files have it in a section.
	Position Position `json:"-"`
}

// CategoryType is the Type of a column that is 1 in rows of one category, and else 0. A block of them
// is a column of categories, and their scaling under a centred scale is that of multiple
// correspondence analysis, whatever the scale: see gram.NewStandardizer.
const CategoryType = "category"

// Chunk is a block of consecutive rows, lent by a Source until its next step:
// an Adder that keeps anything copies it, and nobody but the Source writes to it.
//
// Values are column-major because files decode column by column, so each decoder
// writes one contiguous run; products pack what they need.
//
// A chunk is dense (Data) or sparse (Sparse), never both. Missing entries of a
// chunk (null, NaN, ±Inf in the file) are NaN, as [Missed] makes them, and only
// there: every other value is finite. They occur only under [MissingKeep], and only in
// columns whose Missing count is not zero.
type Chunk struct {
	Start  int64     // global position of the block's first row, counted before any row is dropped
	Block  int       // height of the block before any row was dropped
	Rows   int       // rows present, at most Block
	Cols   int       // features
	Data   []float64 // column j is Data[j*Stride : j*Stride+Rows]; nil when Sparse is set
	Stride int       // distance between columns, at least Rows

	// Positions holds the global position of every row present where rows were
	// dropped from this block; nil means Start, Start+1, …
	Positions []int64
	// Weight holds one finite weight > 0 a row; nil means 1. Rows of weight 0 are dropped.
	Weight []float64
	// Class holds the class of every row present, an index into the classes of the
	// Source (chunkio's Dataset.Classes); -1 where the label is null. Nil unless the
	// Source was asked for classes.
	Class []int32
	// Target holds the number that the label has in every row present, NaN or ±Inf where it has
	// none. Nil unless the Source was asked for it, and has a label that can be a class. With TargetCodes
	// the label is no number, and each of its values has a code in place of it, see chunkio's Options.Target.
	Target      []float64
	TargetCodes bool
	// Missing counts what the block's rows held before any policy acted, dropped
	// rows included, by column; nil means nothing was missing.
	Missing []MissingCount
	// Sparse replaces Data for sources of index/value lists.
	Sparse *CSR
}

// Col returns column j of a dense chunk, Rows long.
func (c *Chunk) Col(j int) []float64 {
	if c.Rows == 0 { // a block whose rows were all dropped has no Data
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

// CSR holds sparse rows: row i has the entries RowPtr[i]..RowPtr[i+1] of Index
// (strictly ascending columns) and Value (finite, or NaN for a missing entry under [MissingKeep]);
// absent entries are 0.
type CSR struct {
	RowPtr []int
	Index  []int32
	Value  []float64
}

// MissingCount counts the missing entries of one column by kind.
type MissingCount struct{ Nulls, NaNs, Infs int64 }

// Total is the number of missing entries of any kind.
func (m MissingCount) Total() int64 { return m.Nulls + m.NaNs + m.Infs }

// Plus returns the sum of two counts.
func (m MissingCount) Plus(o MissingCount) MissingCount {
	return MissingCount{m.Nulls + o.Nulls, m.NaNs + o.NaNs, m.Infs + o.Infs}
}

// Block heights are bounded so that narrow tables do not pay a fold step every few
// rows and wide ones still do enough arithmetic for each pass over the d×d sums
// (a block of h rows does h/16 multiplications for every byte of the sums it moves). Above
// 65,536 features, where d×d sums are larger than memories are, 256 rows alone would be.
const (
	minBlockRows   = 256
	maxBlockRows   = 8192
	blockByteGoal  = 16 << 20
	blockByteMost  = 128 << 20
	bytesPerNumber = 8
	// sparseBlockRows is the height of blocks of sparse rows, which hold their entries and not
	// d numbers a row: 2^18 entries, where a row has 64. Profiling 100,000 × 100,000 with 50 entries a row
	// spent 2.5 s going through all columns once for each block of 128 rows, and 0.9 s with blocks of 512.
	sparseBlockRows = 4096
)

// BlockRows is the height of the blocks a Source of d features is cut into: the
// largest power of two whose block stays within 16 MiB, kept between 256 and 8192, but
// above 65,536 features within 128 MiB.
// It depends on d alone, so sums are rounded alike whatever the threads and limits.
func BlockRows(d int) int {
	h, row := maxBlockRows, max(d, 1)*bytesPerNumber
	for h > minBlockRows && h*row > blockByteGoal || h > 1 && h*row > blockByteMost {
		h /= 2
	}
	return h
}

// SparseBlockRows is BlockRows for a Source of sparse rows: wide ones have taller blocks. It
// depends on d alone too.
func SparseBlockRows(d int) int { return max(BlockRows(d), sparseBlockRows) }
