package survey

import (
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Table is a seeded sample of the rows of a table, in their order, with statistics of all its rows.
type Table struct {
	Rows, Cols int
	Values     []float64   // Rows×Cols row-major, in the input's units, missing entries filled by the column's mean
	Thin       *stream.CSR // the rows, if they are sparse; Values is then nil
	Columns    []Column    // Cols columns
}

// Column holds the moments and the profile of a column over all rows.
type Column struct {
	Mean, Std float64 // Std is 0 or NaN if the column is constant
	Min, Max  float64
	Category  bool // the column is the indicator of a category
}

func (c *Column) isUsable() bool { return c.Std > 0 && c.Std*c.Std <= maxVariance }

// Options sets the parameters of a survey. Zero fields have defaults.
type Options struct {
	Scale     string  // the name of a gram.Scale given by the user; "" decides automatically
	Diffusion float64 // number of steps of diffusion; 0 means spectral.DefaultDiffusion
	Neighbors int     // number of anchors with nonzero weights in a row; 0 means anchor.DefaultNeighbors
	Anchors   int     // number of rows of the sample that are nodes of the graph; 0 means DefaultAnchors
	Seed      uint64
	Threads   int   // 0 means GOMAXPROCS; the result does not depend on it
	Limit     int64 // largest size of a graph in bytes; 0 means no bound
}

// Unit describes whether the columns have the same unit.
type Unit int

// The possible units of the columns.
const (
	Shared    Unit = iota // one unit, such as pixels or expression levels
	Differing             // different units
	Counts                // numbers that are mostly 0, such as counts of words
)

// Test is a test for a property. Value is a statistic of the data, and Chance the same statistic of copies of the
// data without the property. Chance is 0 if there was no test, as for counts, or for too few rows or columns.
type Test struct {
	Value, Chance float64
	Trusted       bool
}

// Survey is the result for a table. Slices have one number for each column, unless described otherwise.
type Survey struct {
	Scale  gram.Scale
	Cosine bool // the graph compares rows by their cosine
	Unit   Unit
	Why    stream.Text // reason for Scale, for people
	// Greedy recommends the method of package greedy with scale standard, because there are no clusters beyond
	// factors that alignment could follow, or too few columns. WhyGreedy is the reason, for people.
	Greedy    bool
	WhyGreedy stream.Text
	Noise     []int // columns left out of the graph

	// Shares[i] is the share bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ of the scaled column xᵢ that the graph explains, from 0 to 1. K is the
	// diffusion kernel of the graph. The share is 0 for constant columns and for noise.
	Shares []float64
	// Norm is ‖K‖ (Frobenius). The alignment of a choice of D columns is Σaᵢ/(D·Norm), with aᵢ = Shares[i]·Gᵢᵢ and the
	// Gram matrix G of all rows.
	Norm float64

	Dependence Test    // Value is the mean squared correlation of two columns
	Clusters   Test    // test for clusters beyond factors: sums of leading eigenvalues of the data's and the surrogate's graph
	ByShares   bool    // Clusters contains the mean shares of a column instead of sums of eigenvalues
	Floor      float64 // the novelty floor for align.Choose; 0 means no floor
	Power      float64 // the exponent for align.Choose; 0 means its default
	Warnings   []stream.Text

	isUnjudged bool // Dependence and Clusters were not tested, and clusters are assumed
}

// ThinColumnsOf returns the columns of XᵀX for a sparse table, scaled as in the survey.
func (s *Survey) ThinColumnsOf(t *Table) *ThinColumns {
	factor, rows := s.scaleFactors(t), kernel.Compressed{Cols: t.Cols}
	for i := range t.Rows {
		for e := t.Thin.RowPtr[i]; e < t.Thin.RowPtr[i+1]; e++ {
			if v := t.Thin.Value[e] * factor[t.Thin.Index[e]]; v != 0 {
				rows.AddEntry(int(t.Thin.Index[e]), v)
			}
		}
		rows.EndRow()
	}
	return NewThinColumns(rows)
}

// MakeDense converts sparse rows to dense rows.
func (t *Table) MakeDense() {
	t.Values = make([]float64, t.Rows*t.Cols)
	for i := range t.Rows {
		for e := t.Thin.RowPtr[i]; e < t.Thin.RowPtr[i+1]; e++ {
			t.Values[i*t.Cols+int(t.Thin.Index[e])] = t.Thin.Value[e]
		}
	}
	t.Thin = nil
}
