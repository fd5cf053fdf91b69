package greedy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// matrix is n×d data of the tests, column by column.
type matrix struct {
	n, d int
	col  [][]float64
}

func newMatrix(n, d int) matrix {
	x := matrix{n, d, make([][]float64, d)}
	for j := range x.col {
		x.col[j] = make([]float64, n)
	}
	return x
}

func fromRows(rows [][]float64) matrix {
	x := newMatrix(len(rows), len(rows[0]))
	for i, row := range rows {
		for j, v := range row {
			x.col[j][i] = v
		}
	}
	return x
}

// forms are G = XᵀX in full, and the rows as its factor.
func (x matrix) forms() map[string]*gram.Matrix {
	return map[string]*gram.Matrix{
		"full":   gram.Full(x.gram(), x.d),
		"factor": gram.FromFactor(slices.Concat(x.col...), x.d, x.n),
	}
}

// narrow is the factor as float32, which must hold the values.
func (x matrix) narrow(tb testing.TB) *gram.Matrix {
	tb.Helper()
	rows := gram.NewRows(x.d, int64(x.n), 2, true)
	must.Do(tb, rows.Add(&stream.Chunk{Block: x.n, Rows: x.n, Cols: x.d, Data: slices.Concat(x.col...), Stride: x.n}))
	return &must.Get(rows.Finish(make([]stream.Column, x.d), gram.FinishOptions{Scale: gram.ScaleNone}))(tb).Matrix
}

// random has independent normal entries about the given mean.
func random(seed uint64, n, d int, mean float64) matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	x := newMatrix(n, d)
	for _, col := range x.col {
		for i := range col {
			col[i] = mean + r.NormFloat64()
		}
	}
	return x
}

// smooth looks like images: neighbouring columns are close, singular values fall
// by the given factor a component, so that the condition is far from 1.
func smooth(seed uint64, n, d, components int, factor float64) matrix {
	z := random(seed, n, components, 0)
	r := rand.New(rand.NewPCG(seed, 2))
	x := newMatrix(n, d)
	scale := 1.0
	for c := range components {
		phase, wave := r.Float64()*2*math.Pi, float64(c+1)*math.Pi*(1+0.3*r.Float64())
		for j := range d {
			a := scale * math.Cos(phase+wave*float64(j)/float64(d))
			for i := range n {
				x.col[j][i] += a * z.col[c][i]
			}
		}
		scale *= factor
	}
	return x
}

// noisy adds independent noise to every entry.
func (x matrix) noisy(seed uint64, sd float64) matrix {
	e := random(seed, x.n, x.d, 0)
	for j, col := range x.col {
		for i := range col {
			col[i] += sd * e.col[j][i]
		}
	}
	return x
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func (x matrix) gram() []float64 {
	g := make([]float64, x.d*x.d)
	for i := range x.d {
		for j := range i + 1 {
			g[i*x.d+j] = dot(x.col[i], x.col[j])
			g[j*x.d+i] = g[i*x.d+j]
		}
	}
	return g
}

// permuted has column p[j] of x as its column j.
func (x matrix) permuted(p []int) matrix {
	y := matrix{x.n, x.d, make([][]float64, x.d)}
	for j, q := range p {
		y.col[j] = x.col[q]
	}
	return y
}

func (x matrix) clone() matrix {
	y := newMatrix(x.n, x.d)
	for j, col := range x.col {
		copy(y.col[j], col)
	}
	return y
}
