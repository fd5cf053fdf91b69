package gram

import (
	"fmt"
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Profile contains the mergeable O(d) statistics of a table, for scaling and for finding the usable columns. Sums are
// of the differences of a column's n values from its pilot, usually its first value, so that a mean of 1e8 costs no
// digits. The centred sum of squares is the sum of squares about the pilot minus n·(mean-pilot)². As the pilot is one
// of these values, the subtracted number is at most n times, and usually about 2 times, the result.
type Profile struct {
	Rows    int64   // rows used
	Seen    int64   // rows read, including dropped ones
	Weight  float64 // Σw over the used rows; equal to Rows without weights
	Columns []ColumnProfile

	// Entries is the number of entries of sparse rows added so far. Files do not contain it.
	Entries int64
	// Present is the number of entries of each column in sparse rows, missing ones included. It is nil before sparse rows
	// are added.
	Present []int64

	block []sparseSums // sums of the current sparse block; zeros between blocks
}

// ColumnProfile contains the statistics of one column of a Profile. All fields but Missing describe the observed (not
// missing) entries of used rows.
type ColumnProfile struct {
	Pilot    float64             // s: the first observed value; 0 for sparse chunks
	Weight   float64             // Σw
	Sum      float64             // Σw(x-s)
	Squares  float64             // Σw(x-s)²
	Min, Max float64             // meaningful if Observed > 0
	Observed int64               // number of observed entries
	Missing  stream.MissingCount // numbers of missing entries in all rows, including dropped ones
	Rising   bool                // the values are integers that rise from row to row, from Min to Max, none missing
}

// columnBytes bounds the memory of one column outside the matrices. It includes 88 bytes of profile, the same again
// while sparse rows are added or a file is read, and about 200 bytes in a Standardizer.
const columnBytes = 512

// NewProfile returns an empty profile of d columns.
func NewProfile(d int) *Profile {
	p := newProfile(d)
	return &p
}

func newProfile(columnCount int) Profile {
	p := Profile{Columns: make([]ColumnProfile, columnCount)}
	for j := range p.Columns {
		p.Columns[j].Rising = true // until a row contradicts it
	}
	return p
}

// Add adds the rows of c. If c has other columns, or if c is sparse and dense rows have already set a pilot other than
// 0, it fails, and p is unchanged.
func (p *Profile) Add(c *stream.Chunk) error {
	if err := p.checkColumnsAndPilots(c); err != nil {
		return err
	}
	p.addCounts(c)
	if c.Sparse != nil {
		p.addSparseRows(c)
		return nil
	}
	var root, centred [stripRows]float64
	for from := 0; from < c.Rows; from += stripRows {
		s := p.nextStrip(c, from, root[:0])
		for j := range p.Columns {
			p.addColumn(&s, j, centred[:s.rows])
		}
	}
	return nil
}

func (p *Profile) checkColumnsAndPilots(c *stream.Chunk) error {
	if c.Cols != len(p.Columns) {
		return fmt.Errorf("gram: chunk of %d columns, want %d", c.Cols, len(p.Columns))
	}
	if c.Sparse == nil {
		return nil
	}
	for j := range p.Columns {
		if p.Columns[j].Pilot != 0 {
			return fmt.Errorf("gram: sparse rows cannot follow dense ones (column %d); merge two states", j)
		}
	}
	return nil
}

// addCounts adds the counts of c that include dropped rows.
func (p *Profile) addCounts(c *stream.Chunk) {
	p.Rows += int64(c.Rows)
	p.Seen += int64(c.Block)
	for j, n := range c.Missing {
		p.Columns[j].Missing = p.Columns[j].Missing.Plus(n)
	}
}

// TakeCounts copies counts from o that p lost because it is a sum of shards: the rows read, the kinds of missing
// values, and whether columns rise. o must be a profile of the same rows in their order.
func (p *Profile) TakeCounts(o *Profile) {
	p.Seen = o.Seen
	for j := range p.Columns {
		p.Columns[j].Missing, p.Columns[j].Rising = o.Columns[j].Missing, o.Columns[j].Rising
	}
}

// eachColumn calls fn for every column, in parallel. A goroutine processes a run of consecutive columns. The result is
// the goroutines' total busy time.
func eachColumn(workers, d int, fn func(j int)) time.Duration {
	const run = 16
	return kernel.Each(workers, (d+run-1)/run, func(t int) {
		for j := t * run; j < min(d, (t+1)*run); j++ {
			fn(j)
		}
	})
}

func (c *ColumnProfile) addObservedSums(entryCount int64, weight, sum, squares, lowest, highest float64) {
	if entryCount == 0 {
		return
	}
	if c.Observed == 0 {
		c.Min, c.Max = lowest, highest
	}
	c.Min, c.Max = min(c.Min, lowest), max(c.Max, highest)
	c.Observed += entryCount
	c.Weight += weight
	c.Sum += sum
	c.Squares += squares
}

// Merge adds the statistics of o, whose rows follow the rows of p (the order affects only Rising). o is unchanged. On
// error p is unchanged too. Merging an empty profile changes nothing.
func (p *Profile) Merge(o *Profile) error {
	if len(p.Columns) != len(o.Columns) {
		return fmt.Errorf("gram: cannot merge %d columns with %d", len(p.Columns), len(o.Columns))
	}
	p.Rows += o.Rows
	p.Seen += o.Seen
	p.Weight += o.Weight
	p.Entries += o.Entries
	if p.Present == nil && o.Present != nil {
		p.Present = make([]int64, len(p.Columns))
	}
	for j, n := range o.Present {
		p.Present[j] += n
	}
	for j := range p.Columns {
		p.Columns[j].mergeColumnSums(&o.Columns[j])
	}
	return nil
}

func (c *ColumnProfile) mergeColumnSums(other *ColumnProfile) {
	c.Missing = c.Missing.Plus(other.Missing)
	c.Rising = c.Rising && other.Rising && (c.Observed == 0 || other.Observed == 0 || c.Max < other.Min)
	if c.Observed == 0 {
		c.Pilot = other.Pilot
	}
	t := other.Pilot - c.Pilot // x - c.Pilot = (x - o.Pilot) + t
	c.addObservedSums(other.Observed, other.Weight, other.Sum+t*other.Weight, other.Squares+2*t*other.Sum+t*t*other.Weight, other.Min, other.Max)
}

func (p *Profile) negateCounts() {
	p.Rows, p.Seen, p.Entries = -p.Rows, -p.Seen, -p.Entries
	for j := range p.Present {
		p.Present[j] = -p.Present[j]
	}
	for j := range p.Columns {
		c := &p.Columns[j]
		c.Observed = -c.Observed
		c.Missing.Nulls, c.Missing.NaNs, c.Missing.Infs = -c.Missing.Nulls, -c.Missing.NaNs, -c.Missing.Infs
	}
}

func (p *Profile) checkCounts() error {
	isPossible := p.Rows >= 0 && p.Seen >= p.Rows && (p.Weight > 0) == (p.Rows > 0)
	for j := range p.Columns {
		c := &p.Columns[j]
		isPossible = isPossible && c.Observed <= p.Rows && (c.Weight > 0) == (c.Observed > 0) &&
			min(c.Observed, c.Missing.Nulls, c.Missing.NaNs, c.Missing.Infs) >= 0 && c.Missing.Total() <= p.Seen
	}
	if !isPossible {
		return errNotAmong
	}
	return nil
}

// Spread returns mean and standard deviation (with divisor Σw) of column j after filling, even if the column cannot be
// a feature. A result that float64 cannot represent is infinite or NaN.
func (p *Profile) Spread(j int, fill Fill) (mean, std float64) {
	f, why := p.describeFilledColumn(j, fill)
	if why == "" {
		return f.mean, math.Sqrt(f.centred / p.Weight)
	}
	c := &p.Columns[j]
	return c.Pilot + c.Sum/c.Weight, math.Sqrt(max(c.Squares-c.Sum*c.Sum/c.Weight, 0) / c.Weight)
}

// Empty lists the columns whose observed values cannot distinguish rows under any scale, including ranks: columns
// without an observed value, or with a single one.
func (p *Profile) Empty(cols []stream.Column) []stream.LeftOut {
	var out []stream.LeftOut
	for j := range p.Columns {
		if c := &p.Columns[j]; c.Observed == 0 || c.Min == c.Max {
			out = append(out, p.newLeftOut(cols, j, c.whyUnusable(p.Rows)))
		}
	}
	return out
}

// Reorder moves column order[j] of p to position j. order must be a permutation.
func (p *Profile) Reorder(order []int) {
	p.Columns = permutedCopy(p.Columns, order)
	if p.Present != nil {
		p.Present = permutedCopy(p.Present, order)
	}
}

// minWeight is the smallest sum of weights that a discount may leave. With less weight, sums of squares of values about
// 1e-100 would underflow.
const minWeight = 1e-100

// Discount multiplies the weight of every row by γ in (0, 1], in O(d). Counts of rows and entries are unchanged. If
// rows of age 0 are merged after each Discount, the result is the profile of all rows with the weights γ^age, up to
// rounding. If γ is not in (0, 1] or leaves almost no weight, Discount fails, and p is unchanged.
func (p *Profile) Discount(gamma float64) error {
	if err := p.checkDiscount(gamma); err != nil {
		return err
	}
	p.discountSums(gamma)
	return nil
}

func (p *Profile) checkDiscount(gamma float64) error {
	if !(gamma > 0 && gamma <= 1) {
		return fmt.Errorf("gram: a discount of %v: want more than 0 and up to 1", gamma)
	}
	if gamma == 1 {
		return nil
	}
	if p.Rows > 0 && p.Weight*gamma < minWeight {
		return fmt.Errorf("gram: a discount of %v leaves rows without weight", gamma)
	}
	for j := range p.Columns {
		if c := &p.Columns[j]; c.Observed > 0 && c.Weight*gamma < minWeight {
			return fmt.Errorf("gram: a discount of %v leaves no weight of column %d, which had no value for long", gamma, j)
		}
	}
	return nil
}

func (p *Profile) discountSums(gamma float64) {
	p.Weight *= gamma
	for j := range p.Columns {
		c := &p.Columns[j]
		c.Weight *= gamma
		c.Sum *= gamma
		c.Squares *= gamma
	}
}

// Gram returns a Gram without matrix entries. It contains only the features, means and scaling, which follow from the
// profile. If there are no rows, or no usable column, it fails with a *stream.DataError.
func (p *Profile) Gram(cols []stream.Column, opt FinishOptions) (*Gram, error) {
	s, err := opt.newStandardizer(p, cols)
	if err != nil {
		return nil, err
	}
	return newGram(s, p), nil
}
