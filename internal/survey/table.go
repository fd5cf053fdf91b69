package survey

import (
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Table is a seeded sample of rows in the order of the table, with statistics of all its rows.
type Table struct {
	Rows, Cols int
	Values     []float64   // Rows×Cols row-major, in the input's units, missing entries filled by the column's mean
	Thin       *stream.CSR // instead of Values, if rows are sparse
	Columns    []Column    // one for each of Cols columns
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
	Neighbors int     // number of anchors that have weights in a row; 0 means anchor.DefaultNeighbors
	Anchors   int     // number of rows of the sample in the graph; 0 means DefaultAnchors
	Seed      uint64
	Threads   int   // 0 means GOMAXPROCS; the answer does not depend on it
	Limit     int64 // largest size of a graph in bytes; 0 means no bound
}

// Unit describes whether the columns have the same unit.
type Unit int

// Kinds of units.
const (
	Shared    Unit = iota // one unit, such as pixels or expression levels
	Differing             // different units
	Counts                // numbers that are mostly 0, such as counts of words
)

// Test compares a statistic of the data with its value, Chance, for copies of the data without the tested property.
// Chance is 0 if there was no test, as for counts, or for too few rows or columns.
type Test struct {
	Value, Chance float64
	Trusted       bool
}

// Survey is the result for a table. Unless described otherwise, slices have a number for each column.
type Survey struct {
	Scale  gram.Scale
	Cosine bool // the graph compares rows by their cosine
	Unit   Unit
	Why    stream.Text // reason for Scale, for people
	// Greedy recommends reconstruction (package greedy) with scale standard, because there are no clusters beyond factors
	// that alignment could follow, or too few columns. WhyGreedy is the reason, for people.
	Greedy    bool
	WhyGreedy stream.Text
	Noise     []int // columns left out of the graph

	// Shares are bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ of scaled columns, from 0 to 1; 0 for constant columns and for noise.
	Shares []float64
	// Norm is ‖K‖ (Frobenius), for the alignment Σaᵢ/(D·Norm) with aᵢ = Shares[i]·Gᵢᵢ and Gᵢᵢ of all rows.
	Norm float64

	Dependence Test    // Value is the mean squared correlation of two columns
	Clusters   Test    // tests for clusters beyond factors: the leading eigenvalues of the graph and of the surrogate's graph
	ByShares   bool    // Clusters instead compares the mean share of a column that the graph explains
	Floor      float64 // the novelty floor for align.Choose; 0 means no floor
	Power      float64 // the exponent for align.Choose; 0 means its default
	Warnings   []stream.Text

	isUnjudged bool // Dependence and Clusters are unknown, and clusters are assumed
}

// ThinColumnsOf returns XᵀX by columns for a sparse table that is scaled as in the survey.
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
