package greedytest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RandomGroups returns a random group below c for each of d features, or nil if c is 0.
func RandomGroups(d, c int) []int {
	if c == 0 {
		return nil
	}
	return selection.Partition(d, c, 1)
}

// Matrix is n×d data of the tests, column by column.
type Matrix struct {
	N, D int
	Col  [][]float64
}

// NewMatrix returns an n×d matrix of zeros.
func NewMatrix(n, d int) Matrix {
	x := Matrix{n, d, make([][]float64, d)}
	for j := range x.Col {
		x.Col[j] = make([]float64, n)
	}
	return x
}

// GramForms returns the Gram matrix XᵀX in two forms, by name: in full, and with the rows of X as its factor.
func (x Matrix) GramForms() map[string]*gram.Matrix {
	return map[string]*gram.Matrix{
		"full":   gram.Full(x.Gram(), x.D),
		"factor": gram.FromFactor(slices.Concat(x.Col...), x.D, x.N),
	}
}

// NarrowForm returns XᵀX with the rows of X as its factor, stored as float32. All values must be exact as float32.
func (x Matrix) NarrowForm(tb testing.TB) *gram.Matrix {
	tb.Helper()
	rows := gram.NewRows(x.D, int64(x.N), 2, true)
	must.Do(tb, rows.Add(&stream.Chunk{Block: x.N, Rows: x.N, Cols: x.D, Data: slices.Concat(x.Col...), Stride: x.N}))
	return &must.Get(rows.Finish(make([]stream.Column, x.D), gram.FinishOptions{Scale: gram.ScaleNone}))(tb).Matrix
}

// RandomMatrix returns an n×d matrix of independent normal entries about the given mean.
func RandomMatrix(seed uint64, n, d int, mean float64) Matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	x := NewMatrix(n, d)
	for _, col := range x.Col {
		for i := range col {
			col[i] = mean + r.NormFloat64()
		}
	}
	return x
}

// SmoothMatrix looks like images: neighbouring columns are close, singular values fall
// by the given factor a component, so that the condition is far from 1.
func SmoothMatrix(seed uint64, n, d, components int, factor float64) Matrix {
	z := RandomMatrix(seed, n, components, 0)
	r := rand.New(rand.NewPCG(seed, 2))
	x := NewMatrix(n, d)
	scale := 1.0
	for c := range components {
		phase, wave := r.Float64()*2*math.Pi, float64(c+1)*math.Pi*(1+0.3*r.Float64())
		for j := range d {
			a := scale * math.Cos(phase+wave*float64(j)/float64(d))
			for i := range n {
				x.Col[j][i] += a * z.Col[c][i]
			}
		}
		scale *= factor
	}
	return x
}

// AddNoise adds independent normal noise to every entry, and returns x.
func (x Matrix) AddNoise(seed uint64, sd float64) Matrix {
	e := RandomMatrix(seed, x.N, x.D, 0)
	for j, col := range x.Col {
		for i := range col {
			col[i] += sd * e.Col[j][i]
		}
	}
	return x
}

// DotProduct returns aᵀb.
func DotProduct(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// Gram returns G = XᵀX, d×d.
func (x Matrix) Gram() []float64 {
	g := make([]float64, x.D*x.D)
	for i := range x.D {
		for j := range i + 1 {
			g[i*x.D+j] = DotProduct(x.Col[i], x.Col[j])
			g[j*x.D+i] = g[i*x.D+j]
		}
	}
	return g
}

// PermuteColumns returns the matrix that has column p[j] of x as its column j.
func (x Matrix) PermuteColumns(p []int) Matrix {
	y := Matrix{x.N, x.D, make([][]float64, x.D)}
	for j, q := range p {
		y.Col[j] = x.Col[q]
	}
	return y
}

// Clone returns a copy of x.
func (x Matrix) Clone() Matrix {
	y := NewMatrix(x.N, x.D)
	for j, col := range x.Col {
		copy(y.Col[j], col)
	}
	return y
}

// WithHoles returns a copy of x with NaN in place of about the given share of the entries.
func (x Matrix) WithHoles(missingShare float64) Matrix {
	r := rand.New(rand.NewPCG(31, 1))
	y := x.Clone()
	for _, col := range y.Col {
		for i := range col {
			if r.Float64() < missingShare {
				col[i] = math.NaN()
			}
		}
	}
	return y
}

// CountMatrix returns n×d counts of words, most of which are 0.
func CountMatrix(seed uint64, n, d int) Matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	x := NewMatrix(n, d)
	for j, col := range x.Col {
		for i := range col {
			if r.Float64() < 0.1+0.2*float64(j%5)/5 {
				col[i] = float64(1 + r.IntN(4))
			}
		}
	}
	return x
}

// RowWeights returns weights of n rows between 0.2 and 3.2.
func RowWeights(n int) []float64 {
	r := rand.New(rand.NewPCG(32, 1))
	w := make([]float64, n)
	for i := range w {
		w[i] = 0.2 + 3*r.Float64()
	}
	return w
}

// ErrorLeft returns ‖B − P_S B‖² for the columns s, by projection. B is x, or the sums of its groups of columns.
func ErrorLeft(x Matrix, groups, s []int) float64 {
	b := x.Clone()
	if groups != nil {
		b = NewMatrix(x.N, slices.Max(groups)+1)
		for i, j := range groups {
			SubtractMultiple(b.Col[j], -1, x.Col[i])
		}
	}
	e := x.Clone()
	for _, p := range s {
		q := slices.Clone(e.Col[p])
		e.ProjectOut(q)
		b.ProjectOut(q)
	}
	left := 0.0
	for _, col := range b.Col {
		left += DotProduct(col, col)
	}
	return left
}

// SwapCases returns the matrices, by name, for tests that improve selections by exchanges.
func SwapCases() map[string]Matrix {
	return map[string]Matrix{
		"independent": RandomMatrix(70, 40, 18, 0.5),
		"images":      SmoothMatrix(71, 60, 30, 14, 0.75).AddNoise(72, 0.05),
		"wide":        SmoothMatrix(73, 25, 36, 20, 0.8).AddNoise(74, 0.05),
	}
}
