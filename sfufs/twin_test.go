package sfufs

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"gonum.org/v1/gonum/mat"
)

// table is a dense matrix in rows.
type table [][]float64

func (t table) times(o table) table {
	out := rowstest.ZeroRows(len(t), len(o[0]))
	for i := range t {
		for j := range o[0] {
			for k := range o {
				out[i][j] += t[i][k] * o[k][j]
			}
		}
	}
	return out
}

func (t table) trans() table {
	out := rowstest.ZeroRows(len(t[0]), len(t))
	for i := range t {
		for j := range t[0] {
			out[j][i] = t[i][j]
		}
	}
	return out
}

func (t table) flat() []float64 { return slices.Concat(t...) }

// plus returns t + f·o.
func (t table) plus(f float64, o table) table {
	out := rowstest.ZeroRows(len(t), len(t[0]))
	for i := range t {
		for j := range t[0] {
			out[i][j] = t[i][j] + f*o[i][j]
		}
	}
	return out
}

// denseMatrix is M as in the paper: P = α(L + αI)⁻¹X is F for W = I.
func denseMatrix(x, z table, method Method, alpha float64) table {
	var l table = rowstest.Laplacian(z)
	if method == FUFS {
		return x.trans().times(l).times(x)
	}
	n, d := len(x), len(x[0])
	shifted, scaled := mat.NewDense(n, n, l.flat()), mat.NewDense(n, d, x.flat())
	for i := range n {
		shifted.Set(i, i, shifted.At(i, i)+alpha)
	}
	scaled.Scale(alpha, scaled)
	if err := scaled.Solve(shifted, scaled); err != nil {
		panic(err)
	}
	p := make(table, n)
	for i := range p {
		p[i] = scaled.RawRowView(i)
	}
	rest := x.plus(-1, p)
	return p.trans().times(l).times(p).plus(alpha, rest.trans().times(rest))
}

// denseRun iterates on a given M, with exactly the given number of updates. The columns of half⁻¹W are
// orthonormal; nil is half = I.
func denseRun(m, half table, gamma float64, l, iterations int) (objective, norm []float64) {
	d := len(m)
	q := slices.Repeat([]float64{1}, d)
	for range iterations {
		a := m.plus(0, m)
		for i := range d {
			a[i][i] += gamma * q[i]
		}
		if half != nil {
			a = half.times(a).times(half)
		}
		_, v := rowstest.Jacobi(a)
		w := table(v)
		if half != nil {
			w = half.times(v)
		}
		for i := range w {
			w[i] = w[i][:l]
		}
		cost := w.trans().times(m).times(w)
		var value float64
		for i := range l {
			value += cost[i][i]
		}
		norm = make([]float64, d)
		for i := range d {
			var sum float64
			for _, x := range w[i] {
				sum += x * x
			}
			norm[i] = math.Sqrt(sum)
			q[i] = 0.5 / math.Sqrt(sum+1e-8)
			value += gamma * math.Sqrt(sum+1e-8)
		}
		objective = append(objective, value)
	}
	return objective, norm
}

// sample draws n rows of d features around a few centres, and Z of m anchors, k of them
// a row, with random weights; the last anchor stays unused.
func sample(n, d, m, k int, seed uint64) (x, z table) {
	rnd := rand.New(rand.NewPCG(seed, 9))
	centre := rowstest.ZeroRows(m, d)
	for a := range m {
		for j := range d {
			centre[a][j] = 3 * rnd.NormFloat64() / (1 + float64(j%3))
		}
	}
	x, z = rowstest.ZeroRows(n, d), rowstest.ZeroRows(n, m)
	for i := range n {
		var sum float64
		for e := range k {
			a := (i + e*(1+i%2)) % (m - 1)
			w := rnd.Float64() + 0.1
			z[i][a] += w
			sum += w
		}
		for a := range m {
			z[i][a] /= sum
		}
		for j := range d {
			x[i][j] = 0.5*float64(1+j%2)*rnd.NormFloat64() + centre[i%(m-1)][j]
		}
	}
	return x, z
}
