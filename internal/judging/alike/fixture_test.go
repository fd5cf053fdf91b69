package alike

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// table is rows of named columns.
type table struct {
	names []string
	x     *mat.Dense
}

// factors are columns of some independent factors, so many of each, with so much noise of their own, and as many
// columns of noise alone: a00, a01, … of the first factor, b00, … of the second, z00, … of noise.
func factors(seed uint64, rows int, sizes []int, noise float64, alone int) table {
	r := rand.New(rand.NewPCG(seed, 1))
	var names []string
	var columns [][]float64
	add := func(name string, f func(i int) float64) {
		column := make([]float64, rows)
		for i := range column {
			column[i] = f(i)
		}
		names, columns = append(names, name), append(columns, column)
	}
	for g, size := range sizes {
		factor := make([]float64, rows)
		for i := range factor {
			factor[i] = r.NormFloat64()
		}
		for k := range size {
			scale, offset := 0.5+r.Float64(), 3*r.NormFloat64()
			if k%2 == 1 {
				scale = -scale
			}
			add(fmt.Sprintf("%c%02d", 'a'+g, k), func(i int) float64 { return offset + scale*(factor[i]+noise*r.NormFloat64()) })
		}
	}
	for k := range alone {
		add(fmt.Sprintf("z%02d", k), func(int) float64 { return r.NormFloat64() })
	}
	t := table{names, mat.NewDense(rows, len(names), nil)}
	for j, c := range columns {
		t.x.SetCol(j, c)
	}
	return t
}

// with has one more column.
func (t table) with(name string, f func(row map[string]float64) float64) table {
	n, d := t.x.Dims()
	x := mat.NewDense(n, d+1, nil)
	x.Slice(0, n, 0, d).(*mat.Dense).Copy(t.x)
	for i := range n {
		row := make(map[string]float64)
		for j, own := range t.names {
			row[own] = t.x.At(i, j)
		}
		x.Set(i, d, f(row))
	}
	return table{append(append([]string{}, t.names...), name), x}
}

// permuted has its columns in another order.
func (t table) permuted(seed uint64) table {
	n, d := t.x.Dims()
	order := rand.New(rand.NewPCG(seed, 2)).Perm(d)
	x, names := mat.NewDense(n, d, nil), make([]string, d)
	for to, from := range order {
		names[to] = t.names[from]
		x.SetCol(to, mat.Col(nil, from, t.x))
	}
	return table{names, x}
}

// centred are the columns less their means.
func (t table) centred() *mat.Dense {
	n, d := t.x.Dims()
	x := mat.DenseCopyOf(t.x)
	for j := range d {
		mean := mat.Sum(x.ColView(j)) / float64(n)
		for i := range n {
			x.Set(i, j, x.At(i, j)-mean)
		}
	}
	return x
}

// matrix is the correlation matrix; the bits of an entry depend on its two columns alone.
func (t table) matrix(threads int) *Matrix {
	x := t.centred()
	n, d := x.Dims()
	gram := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			v := kernel.Dot(mat.Col(nil, i, x), mat.Col(nil, j, x))
			gram[i*d+j], gram[j*d+i] = v, v
		}
	}
	return New(kernel.NewTeam(threads), Data{Names: t.names, Gram: gram, Rows: int64(n)})
}

// at is the place of a column in the matrix.
func (m *Matrix) find(t *testing.T, name string) int {
	t.Helper()
	for j, own := range m.Names {
		if own == name {
			return j
		}
	}
	t.Fatalf("no column %s", name)
	return -1
}

func (m *Matrix) named(list []int) []string {
	names := []string{}
	for _, j := range list {
		names = append(names, m.Names[j])
	}
	return names
}
