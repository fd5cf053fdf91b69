package sfufs

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// table is a dense matrix in rows.
type table [][]float64

func zeros(n, d int) table {
	t := make(table, n)
	for i := range t {
		t[i] = make([]float64, d)
	}
	return t
}

func (t table) times(o table) table {
	out := zeros(len(t), len(o[0]))
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
	out := zeros(len(t[0]), len(t))
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
	out := zeros(len(t), len(t[0]))
	for i := range t {
		for j := range t[0] {
			out[i][j] = t[i][j] + f*o[i][j]
		}
	}
	return out
}

// laplacian is L = I − ZΔ⁻¹Zᵀ, n×n; an unused anchor contributes nothing.
func laplacian(z table) table {
	l := zeros(len(z), len(z))
	for i := range l {
		l[i][i] = 1
	}
	for a := range z[0] {
		var delta float64
		for i := range z {
			delta += z[i][a]
		}
		if delta == 0 {
			continue
		}
		for i := range z {
			for j := range z {
				l[i][j] -= z[i][a] * z[j][a] / delta
			}
		}
	}
	return l
}

// solve returns A⁻¹B by elimination with partial pivoting.
func solve(a, b table) table {
	n := len(a)
	m := zeros(n, 0)
	for i := range m {
		m[i] = slices.Concat(a[i], b[i])
	}
	for k := range n {
		p := k
		for i := k; i < n; i++ {
			if math.Abs(m[i][k]) > math.Abs(m[p][k]) {
				p = i
			}
		}
		m[k], m[p] = m[p], m[k]
		for i := range n {
			if i == k {
				continue
			}
			f := m[i][k] / m[k][k]
			for j := k; j < len(m[i]); j++ {
				m[i][j] -= f * m[k][j]
			}
		}
	}
	x := zeros(n, 0)
	for i := range x {
		for _, v := range m[i][n:] {
			x[i] = append(x[i], v/m[i][i])
		}
	}
	return x
}

// denseMatrix is M as in the paper: P = α(L + αI)⁻¹X is F for W = I.
func denseMatrix(x, z table, method Method, alpha float64) table {
	l := laplacian(z)
	if method == FUFS {
		return x.trans().times(l).times(x)
	}
	shifted := zeros(len(l), len(l))
	for i := range l {
		copy(shifted[i], l[i])
		shifted[i][i] += alpha
	}
	p := solve(shifted, zeros(len(x), len(x[0])).plus(alpha, x))
	rest := x.plus(-1, p)
	return p.trans().times(l).times(p).plus(alpha, rest.trans().times(rest))
}

// jacobi returns the eigenvectors of symmetric A in columns, by ascending eigenvalues.
func jacobi(a table) (values []float64, vectors table) {
	n := len(a)
	a = a.plus(0, a)
	v := zeros(n, n)
	for i := range v {
		v[i][i] = 1
	}
	for range 60 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p][q] == 0 {
					continue
				}
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for i := range n {
					a[i][p], a[i][q] = c*a[i][p]-s*a[i][q], s*a[i][p]+c*a[i][q]
				}
				for i := range n {
					a[p][i], a[q][i] = c*a[p][i]-s*a[q][i], s*a[p][i]+c*a[q][i]
					v[i][p], v[i][q] = c*v[i][p]-s*v[i][q], s*v[i][p]+c*v[i][q]
				}
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a[i][i], a[j][j]) })
	vectors = zeros(n, n)
	for k, j := range order {
		values = append(values, a[j][j])
		for i := range n {
			vectors[i][k] = v[i][j]
		}
	}
	return values, vectors
}

// denseRun iterates on a given M, with exactly so many updates.
func denseRun(m table, gamma float64, l, iterations int) (objective, norm []float64) {
	d := len(m)
	q := slices.Repeat([]float64{1}, d)
	for range iterations {
		a := m.plus(0, m)
		for i := range d {
			a[i][i] += gamma * q[i]
		}
		_, v := jacobi(a)
		w := zeros(d, 0)
		for i := range w {
			w[i] = v[i][:l]
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

// graphOf is the Graph by its definition, X centred.
func graphOf(x, z table) *anchor.Graph {
	n, d, m := len(x), len(x[0]), len(z[0])
	c := zeros(n, d)
	for j := range d {
		var mean float64
		for i := range n {
			mean += x[i][j] / float64(n)
		}
		for i := range n {
			c[i][j] = x[i][j] - mean
		}
	}
	delta := make([]float64, m)
	b := zeros(n, m)
	for a := range m {
		for i := range n {
			delta[a] += z[i][a]
		}
		for i := range n {
			if delta[a] > 0 {
				b[i][a] = z[i][a] / math.Sqrt(delta[a])
			}
		}
	}
	return &anchor.Graph{
		Rows: int64(n), M: m, D: d, Delta: delta,
		G: c.trans().times(c).flat(), C: b.trans().times(c).flat(), S: b.trans().times(b).flat(),
	}
}

// sample draws n rows of d features around a few centres, and Z of m anchors, k of them
// a row, with random weights; the last anchor stays unused.
func sample(n, d, m, k int, seed uint64) (x, z table) {
	rnd := rand.New(rand.NewPCG(seed, 9))
	centre := zeros(m, d)
	for a := range m {
		for j := range d {
			centre[a][j] = 3 * rnd.NormFloat64() / (1 + float64(j%3))
		}
	}
	x, z = zeros(n, d), zeros(n, m)
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

// large is a sample's Graph by the kernel's products, for sizes at which the solver
// iterates and products span several panels.
func large(n, d, m int) *anchor.Graph {
	x, z := sample(n, d, m, 3, 8)
	for j := range d {
		var mean float64
		for i := range n {
			mean += x[i][j] / float64(n)
		}
		for i := range n {
			x[i][j] -= mean
		}
	}
	g := &anchor.Graph{Rows: int64(n), M: m, D: d, Delta: make([]float64, m), G: make([]float64, d*d), C: make([]float64, m*d), S: make([]float64, m*m)}
	for i := range n {
		for a, v := range z[i] {
			g.Delta[a] += v
		}
	}
	for i := range n {
		for a, v := range z[i] {
			if v > 0 {
				z[i][a] /= math.Sqrt(g.Delta[a])
			}
		}
	}
	team := kernel.NewTeam(0)
	mx, mb := kernel.RowMajor(x.flat(), n, d, d), kernel.RowMajor(z.flat(), n, m, m)
	kernel.Gemm(team, 1, mx.Trans(), mx, kernel.RowMajor(g.G, d, d, d))
	kernel.Gemm(team, 1, mb.Trans(), mx, kernel.RowMajor(g.C, m, d, d))
	kernel.Gemm(team, 1, mb.Trans(), mb, kernel.RowMajor(g.S, m, m, m))
	return g
}

// distance returns the largest difference of a and b over the largest value of b.
func distance(a, b []float64) float64 {
	var diff, size float64
	for i := range b {
		diff = max(diff, math.Abs(a[i]-b[i]))
		size = max(size, math.Abs(b[i]))
	}
	if len(a) != len(b) {
		return math.Inf(1)
	}
	return diff / size
}
