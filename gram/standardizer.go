package gram

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Standardizer turns rows of a table into rows of the matrix A that selectors use. It fills missing entries, leaves out
// columns that cannot be features, and shifts and scales the other columns. AᵀA is [Gram].Sym up to rounding.
//
// The slices have one element for each of the D kept columns.
type Standardizer struct {
	Columns   []int     // index among the source's columns, ascending
	Shift     []float64 // a = (x - Shift)·Factor
	Factor    []float64
	Fill      []float64 // value of missing entries, before scaling
	Mean, Std []float64 // mean and standard deviation of the filled column, before scaling; divisor Σw
	Filled    []int64   // number of missing entries in used rows
	LeftOut   []stream.LeftOut
	Warnings  []string
	Rows      int64   // rows used in the profile
	Weight    float64 // Σw of the used rows

	all    int       // number of columns of the source
	offset []float64 // Mean - Shift, without cancellation
	column []filledColumn
}

// NewStandardizer derives scaling and filling from the profile of the whole table.
// It fails with a *stream.DataError if there are no rows or no usable column.
//
// Scales that centre have a special factor for the indicator of a category: it becomes (x − p)/√p, p being the share of
// rows in the category. The squared distance of two rows by such a column of categories is then the distance of
// multiple correspondence analysis, and the column's variance is the number of its categories minus one (Greenacre,
// Correspondence Analysis in Practice, 2017; together with numbers Pagès, Analyse factorielle de données mixtes, Revue
// de statistique appliquée 52(4), 2004).
func NewStandardizer(p *Profile, cols []stream.Column, scale Scale, fill Fill) (*Standardizer, error) {
	s := &Standardizer{Rows: p.Rows, Weight: p.Weight, all: len(p.Columns)}
	if p.Rows == 0 {
		return nil, stream.Dataf("", "no rows to select from (%d seen, all dropped)", p.Seen)
	}
	for j := range p.Columns {
		f, why := p.describeFilledColumn(j, fill)
		var shift, factor, c float64
		if why == "" {
			shift, factor, c, why = f.shiftAndFactor(scale, p.Weight)
			if cols[j].Type == stream.CategoryType && scale.centresValues() && why == "" {
				factor = 1 / math.Sqrt(f.mean)
			}
		}
		if why != "" {
			s.LeftOut = append(s.LeftOut, p.newLeftOut(cols, j, why))
			continue
		}
		s.Columns = append(s.Columns, j)
		s.Shift = append(s.Shift, shift)
		s.Factor = append(s.Factor, factor)
		s.Fill = append(s.Fill, f.fillValue)
		s.Mean = append(s.Mean, f.mean)
		s.Std = append(s.Std, math.Sqrt(f.centred/p.Weight))
		holes := p.Rows - p.Columns[j].Observed
		if fill == FillPairwise {
			holes = 0
		}
		s.Filled = append(s.Filled, holes)
		s.offset = append(s.offset, c)
		s.column = append(s.column, f)
	}
	if len(s.Columns) == 0 {
		if len(s.LeftOut) == 0 {
			return nil, stream.Dataf("", "no usable feature: there are no columns")
		}
		return nil, stream.Dataf("", "no usable feature: of %d left out the first is %q: %s",
			len(s.LeftOut), s.LeftOut[0].Name, s.LeftOut[0].Why)
	}
	return s, nil
}

// To writes the rows of c as rows of A, column-major: kept column k is written to dst[k*ld : k*ld+c.Rows], with ld ≥
// c.Rows. Rows are multiplied by √w, so that AᵀA is the weighted Gram matrix. Rows of a sparse chunk become dense too.
// It costs O(rows·D). Calls may run at the same time.
func (s *Standardizer) To(dst []float64, ld int, c *stream.Chunk) {
	if c.Cols != s.all {
		panic("gram: Standardizer.To: chunk of other columns")
	}
	if c.Sparse != nil {
		s.scatterRawEntries(dst, ld, c)
	}
	s.standardizeTo(dst, ld, c, 0, len(s.Columns))
}

// Some writes the kept columns from ≤ k < to of a dense chunk as columns of A, as To does for all kept columns. Column
// k is written to dst[(k-from)*ld:].
func (s *Standardizer) Some(dst []float64, ld int, c *stream.Chunk, from, to int) {
	if c.Cols != s.all || c.Sparse != nil {
		panic("gram: Standardizer.Some: chunk of other columns, or a sparse one")
	}
	s.standardizeTo(dst, ld, c, from, to)
}

// standardizeTo computes A from the raw entries of a dense chunk. For a sparse chunk it uses the entries that
// scatterRawEntries wrote to dst.
func (s *Standardizer) standardizeTo(dst []float64, ld int, c *stream.Chunk, from, to int) {
	var root []float64 // √w
	for _, w := range c.Weight {
		root = append(root, math.Sqrt(w))
	}
	for k := from; k < to; k++ {
		out := dst[(k-from)*ld : (k-from)*ld+c.Rows]
		x, next := out, out
		if c.Sparse == nil {
			x, next = c.Col(s.Columns[k]), c.Col(s.Columns[min(k+1, to-1)])
		}
		kernel.Standardize(out, x, s.Shift[k], s.Factor[k], (s.Fill[k]-s.Shift[k])*s.Factor[k], next)
		for i, w := range root {
			out[i] *= w
		}
	}
}

func (s *Standardizer) scatterRawEntries(dst []float64, ld int, c *stream.Chunk) {
	keptIndex := make([]int, s.all) // for each column, 1 + its position among the kept columns, or 0
	for k, j := range s.Columns {
		keptIndex[j] = k + 1
		clear(dst[k*ld : k*ld+c.Rows])
	}
	for i := range c.Rows {
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			if k := keptIndex[c.Sparse.Index[e]]; k > 0 {
				dst[(k-1)*ld+i] = c.Sparse.Value[e]
			}
		}
	}
}
