package gram

import (
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FinishOptions defines the matrix A from which the Gram matrix is computed. The zero value means that values are not
// scaled, and that missing entries are filled with the mean of their column.
type FinishOptions struct {
	Scale Scale
	Fill  Fill
	// Plain means that indicators of categories are scaled like numbers. It is for graphs, which need centred columns
	// without scaling, and scale later by the factors of a [Standardizer].
	Plain bool
	// Centred means that columns are centred under any scale.
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
// the D kept columns.
type Gram struct {
	Matrix            // AᵀA
	Columns []int     // index among the source's columns, ascending
	Mean    []float64 // mean of the filled column, before scaling
	Std     []float64 // standard deviation of the filled column, before scaling; divisor Σw
	Offset  []float64 // mean of the column of A; G − Σw·Offset·Offsetᵀ is the Gram matrix of centred columns
	Filled  []int64   // number of missing entries in used rows
	Missing []stream.MissingCount

	// Root is √w of each row of a factor; nil for rows without weights.
	Root []float64
	// If the matrix is an estimate by a [Sketch], Held is a factor made from the sketch's held-out rows, on which models
	// fitted to the matrix are tested. If the matrix is exact, Held is nil.
	Held *Matrix

	LeftOut  []stream.LeftOut
	Rows     int64   // rows used
	Weight   float64 // Σw of the used rows
	Warnings []string
}

// Finish turns m into the Gram matrix of the filled and scaled columns, in place and in O(d²). See [Moments] for x̃,
// G̃, A and N, and for the m of the formulas, which is 1 for a missing entry and otherwise 0. With u = fill value -
// pilot, the filled values y = x̃ + m·u about the pilot, b = Σ w y, and a scale's shift and factor f,
//
//	Yᵢⱼ = G̃ᵢⱼ + uⱼAⱼᵢ + uᵢAᵢⱼ + uᵢuⱼNᵢⱼ            filled
//	Cᵢⱼ = Yᵢⱼ - bᵢbⱼ/Σw                            centred
//	Gᵢⱼ = fᵢfⱼ·(Cᵢⱼ + Σw·cᵢcⱼ)                     scaled to (y - shift)·f; c = (mean of y) - shift
//
// So even unscaled values are computed from centred ones, and columns that differ little from their mean keep their
// digits. Afterwards only m's Profile may be used, even after an error. cols must be the columns of the profile. If
// there are no rows, or no usable column, Finish fails with a *stream.DataError.
func (m *Moments) Finish(cols []stream.Column, opt FinishOptions) (*Gram, error) {
	d := len(m.Profile.Columns)
	m.scratch = new(scratch)
	if m.g != nil {
		for j := range m.Profile.Columns { // use the standard deviation from the matrix's own diagonal, which has the same rounding
			m.Profile.Columns[j].Squares = m.g[j*d+j]
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
	m.g, m.cross, m.bothMissing = nil, nil, nil
	return g, nil
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

// compactKept moves the upper triangle of the kept rows and columns to the front of m.g. No entry moves to a higher
// index, so in ascending order no entry is overwritten before it is read.
func (m *Moments) compactKept(places []int) []float64 {
	d, n := len(m.Profile.Columns), len(places)
	if n < d {
		for k, i := range places {
			for l := k; l < n; l++ {
				m.g[k*n+l] = m.g[i*d+places[l]]
			}
		}
	}
	return m.g[: n*n : n*n]
}

// finishRow fills, centres and scales row i of the kept columns from its diagonal on. Exchanging i and j does not
// change the rounding of any expression. So permuting columns permutes the result bit for bit, and equal columns have
// equal rows and exact ties. The conversions prevent compilers (arm64) from fusing only one of two such terms.
func (m *Moments) finishRow(row []float64, s *Standardizer, i int) {
	a, ci := &s.column[i], s.Columns[i]
	for j := i; j < len(row); j++ {
		b, cj := &s.column[j], s.Columns[j]
		y := row[j]
		if m.slot[ci] >= 0 || m.slot[cj] >= 0 {
			y += float64(b.offset*m.crossAt(cj, ci)) + float64(a.offset*m.crossAt(ci, cj)) + float64(a.offset*b.offset)*m.bothMissingAt(ci, cj)
		}
		y -= a.sum * b.sum / s.Weight
		row[j] = s.shiftAndScaleProduct(y, i, j)
	}
}

func (s *Standardizer) shiftAndScaleProduct(centredProduct float64, i, j int) float64 {
	centredProduct += s.Weight * (s.offset[i] * s.offset[j])
	// Multiply by one factor after the other, because their product may leave float64's range.
	return centredProduct * min(s.Factor[i], s.Factor[j]) * max(s.Factor[i], s.Factor[j])
}

// finishPairs turns the kept part of G̃ into pairwise-complete products (Little and Rubin, Statistical Analysis with
// Missing Data, 2002, section 3.4), d×d, upper triangle. With M = 1 for an observed entry and X₀ = x̃ = M∘(x − pilot),
//
//	N = MᵀM   P = X₀ᵀX₀   Q = X₀ᵀM
//	cov_ij = (P_ij − Q_ij·Q_ji/N_ij)/N_ij
//
// is the covariance over the rows in which both columns are observed. Gᵢⱼ is Σw·cov_ij, shifted and scaled. All three
// matrices follow from the moments: P = G̃, and with m = 1 − M
//
//	N_ij = Σw − Σw mᵢ − Σw mⱼ + N̄_ij   (N̄ is the N of [Moments])
//	Q_ij = Σw x̃ᵢ − A_ji                (Σ w x̃ᵢ less the rows in which j is missing)
//
// The result may have negative eigenvalues. finishPairs returns the number of pairs of columns that are never observed
// in the same row. The covariance of such a pair is set to 0.
func (m *Moments) finishPairs(sym []float64, s *Standardizer) (apart int) {
	n := len(s.Columns)
	counts := make([]int, n)
	kernel.Each(m.opt.Threads, n, func(i int) {
		ci := s.Columns[i]
		a := &m.Profile.Columns[ci]
		for j := i; j < n; j++ {
			cj := s.Columns[j]
			b := &m.Profile.Columns[cj]
			weight, own, other := m.Profile.Weight, a.Sum, b.Sum
			if m.slot[ci] >= 0 || m.slot[cj] >= 0 {
				weight = m.weightOfPair(ci, cj)
				own, other = a.Sum-m.crossAt(cj, ci), b.Sum-m.crossAt(ci, cj)
			}
			y := 0.0
			// If no row has both columns, weight may differ from 0 by rounding, by about 1e-16 of m.Weight.
			if weight > 1e-12*m.Profile.Weight {
				y = (sym[i*n+j] - own*other/weight) * (m.Profile.Weight / weight)
			} else {
				counts[i]++
			}
			sym[i*n+j] = s.shiftAndScaleProduct(y, i, j)
		}
	})
	for _, c := range counts {
		apart += c
	}
	return apart
}

// PairWeights returns a function that computes Σw of the rows in which columns i and j of m are both observed. The
// function stays valid after Finish.
func (m *Moments) PairWeights() func(i, j int) float64 {
	kept := Moments{Profile: m.Profile, missing: m.missing, slot: m.slot, bothMissing: m.bothMissing}
	return kept.weightOfPair
}

func (m *Moments) weightOfPair(i, j int) float64 {
	all := m.Profile.Weight
	return all - ((all - m.Profile.Columns[i].Weight) + (all - m.Profile.Columns[j].Weight)) + m.bothMissingAt(i, j)
}
