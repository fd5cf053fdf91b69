package gram

import (
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FinishOptions defines the matrix A from which the Gram matrix is computed. The zero value means raw values, with
// missing entries at their column's mean.
type FinishOptions struct {
	Scale Scale
	Fill  Fill
	// Plain scales indicators of categories like numbers. A graph, which scales later by a [Standardizer]'s factors,
	// needs centred columns that are not scaled yet.
	Plain bool
	// Centred centres the columns whatever the scale is.
	Centred bool
}

func (o FinishOptions) newStandardizer(p *Profile, cols []stream.Column) (*Standardizer, error) {
	if o.Plain {
		cols = Plain(cols)
	}
	s, err := NewStandardizer(p, cols, o.Scale, o.Fill)
	if err == nil && o.Centred {
		copy(s.Shift, s.Mean)
		clear(s.offset)
	}
	return s, err
}

// Plain returns the columns with indicators of categories turned into ordinary columns.
func Plain(cols []stream.Column) []stream.Column {
	if !slices.ContainsFunc(cols, func(c stream.Column) bool { return c.Type == stream.CategoryType }) {
		return cols
	}
	cols = slices.Clone(cols)
	for j := range cols {
		cols[j].Type = ""
	}
	return cols
}

// Gram is AᵀA for the n×D matrix A of the usable columns, filled and scaled. Its slices have one element for each of
// the D columns kept.
type Gram struct {
	Matrix            // AᵀA
	Columns []int     // index among the source's columns, ascending
	Mean    []float64 // mean of the filled column, before scaling
	Std     []float64 // standard deviation of the filled column, before scaling; divisor Σw
	Offset  []float64 // the mean of A's column: G − Σw·Offset·Offsetᵀ is the Gram matrix of centred columns
	Filled  []int64   // missing entries of used rows
	Missing []stream.MissingCount

	// Root is √w of each row of a factor; nil for rows without weights.
	Root []float64
	// Held is a factor of the held-out rows if the matrix is an estimate by a [Sketch]. These rows judge models fitted
	// to the matrix. Held is nil if the matrix is exact.
	Held *Matrix

	LeftOut  []stream.LeftOut
	Rows     int64   // rows used
	Weight   float64 // Σw
	Warnings []string
}

// Finish turns m into the Gram matrix of the filled and scaled columns, in place and in O(d²). With u = fill value -
// pilot, y = x̃ + m·u and b = Σ w y,
//
//	Yᵢⱼ = G̃ᵢⱼ + uⱼAⱼᵢ + uᵢAᵢⱼ + uᵢuⱼNᵢⱼ            filled
//	Cᵢⱼ = Yᵢⱼ - bᵢbⱼ/Σw                            centred
//	Gᵢⱼ = fᵢfⱼ·(Cᵢⱼ + Σw·cᵢcⱼ)                     a = (y - shift)·f, c = mean of y - shift
//
// So even raw values are computed from centred ones, and columns that differ little from their mean keep their digits.
// m is consumed: only its Profile may be used afterwards, even on error. cols are the columns of the profile. If there
// are no rows, or no usable column, Finish fails with a *stream.DataError.
func (m *Moments) Finish(cols []stream.Column, opt FinishOptions) (*Gram, error) {
	d := len(m.Columns)
	m.scratch = new(scratch)
	if m.g != nil {
		for j := range m.Columns { // scale by the matrix's own diagonal, which rounds alike
			m.Columns[j].Squares = m.g[j*d+j]
		}
	}
	s, err := opt.newStandardizer(&m.Profile, cols)
	if err != nil {
		return nil, err
	}
	g := newGram(s, &m.Profile)
	g.Sym = m.compactKept(s.Columns)
	if opt.Fill == FillPairwise {
		if n := m.finishPairs(g.Sym, s); n > 0 {
			g.Warnings = append(g.Warnings, fmt.Sprintf("%d pairs of columns are observed together in no row: their covariance is taken to be 0", n))
		}
	} else {
		kernel.Each(m.opt.Threads, g.D, func(i int) { m.finishRow(g.Sym[i*g.D:][:g.D], s, i) })
	}
	kernel.MirrorUpper(m.opt.Threads, kernel.RowMajor(g.Sym, g.D, g.D, g.D))
	m.g, m.cross, m.both = nil, nil, nil
	return g, nil
}

// Gram returns a Gram matrix without numbers, only with the features, means and scaling that the profile determines.
// If there are no rows, or no usable column, it fails with a *stream.DataError.
func (p *Profile) Gram(cols []stream.Column, opt FinishOptions) (*Gram, error) {
	s, err := opt.newStandardizer(p, cols)
	if err != nil {
		return nil, err
	}
	return newGram(s, p), nil
}

func newGram(s *Standardizer, p *Profile) *Gram {
	g := &Gram{
		Matrix: Matrix{D: len(s.Columns)}, Columns: s.Columns, Mean: s.Mean, Std: s.Std, Filled: s.Filled,
		LeftOut: s.LeftOut, Rows: s.Rows, Weight: s.Weight, Warnings: s.Warnings,
	}
	for _, j := range s.Columns {
		g.Missing = append(g.Missing, p.Columns[j].Missing)
	}
	for k, c := range s.offset {
		g.Offset = append(g.Offset, c*s.Factor[k])
	}
	return g
}

// compactKept moves the upper triangle of the kept rows and columns to the front of m.g. An entry never moves to a
// higher index, so in ascending order no entry is overwritten before it is read.
func (m *Moments) compactKept(places []int) []float64 {
	d, n := len(m.Columns), len(places)
	if n < d {
		for k, i := range places {
			for l := k; l < n; l++ {
				m.g[k*n+l] = m.g[i*d+places[l]]
			}
		}
	}
	return m.g[: n*n : n*n]
}

// finishRow fills, centres and scales row i of the kept columns from its diagonal on. Every expression rounds in the
// same way with i and j exchanged. So permuting columns permutes the result bit for bit, and equal columns have equal
// rows, which makes ties exact. The conversions keep compilers (arm64) from fusing only one of two such terms.
func (m *Moments) finishRow(row []float64, s *Standardizer, i int) {
	a, ci := &s.column[i], s.Columns[i]
	for j := i; j < len(row); j++ {
		b, cj := &s.column[j], s.Columns[j]
		y := row[j]
		if m.slot[ci] >= 0 || m.slot[cj] >= 0 {
			y += float64(b.offset*m.crossAt(cj, ci)) + float64(a.offset*m.crossAt(ci, cj)) + float64(a.offset*b.offset)*m.bothAt(ci, cj)
		}
		y -= a.sum * b.sum / s.Weight
		row[j] = s.shiftAndScale(y, i, j)
	}
}

func (s *Standardizer) shiftAndScale(y float64, i, j int) float64 {
	y += s.Weight * (s.offset[i] * s.offset[j])
	// One factor after the other: their product may leave float64's range.
	return y * min(s.Factor[i], s.Factor[j]) * max(s.Factor[i], s.Factor[j])
}
