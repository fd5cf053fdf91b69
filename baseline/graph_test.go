package baseline

import (
	"math"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/anchor"
)

// dense is data with an anchor graph and its n×n matrices.
type dense struct {
	n, m, d int
	x       [][]float64 // n×d, centred
	z       [][]float64 // n×m
	a       [][]float64 // n×n: ZΔ⁻¹Zᵀ
}

func zeros(rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
	}
	return out
}

func newDense(x, z [][]float64) *dense {
	t := &dense{n: len(x), m: len(z[0]), d: len(x[0]), z: z}
	t.x = zeros(t.n, t.d)
	for j := range t.d {
		mean := 0.0
		for i := range t.n {
			mean += x[i][j]
		}
		mean /= float64(t.n)
		for i := range t.n {
			t.x[i][j] = x[i][j] - mean
		}
	}
	delta := t.delta()
	t.a = zeros(t.n, t.n)
	for i := range t.n {
		for l := range t.n {
			for a := range t.m {
				if delta[a] > 0 {
					t.a[i][l] += z[i][a] * z[l][a] / delta[a]
				}
			}
		}
	}
	return t
}

func (t *dense) delta() []float64 {
	delta := make([]float64, t.m)
	for i := range t.n {
		for a, v := range t.z[i] {
			delta[a] += v
		}
	}
	return delta
}

// randomDense has rows that use three anchors of their part each; features follow the
// anchors with noise, the last repeats the first, the one before is constant.
func randomDense(seed uint64, n, m, d, parts int) *dense {
	r := rand.New(rand.NewPCG(seed, 5))
	anchors := zeros(m, d)
	for a := range m {
		for j := range d {
			anchors[a][j] = r.NormFloat64()
		}
	}
	x, z := zeros(n, d), zeros(n, m)
	for i := range n {
		size := m / parts
		first := i % parts * size
		total := 0.0
		for range 3 {
			// Neighbours in a ring, so that the graph is not complete.
			a := first + (i/parts+r.IntN(3))%size
			w := 0.1 + r.Float64()
			z[i][a] += w
			total += w
		}
		for a := range m {
			z[i][a] /= total
			for j := range d {
				x[i][j] += z[i][a] * anchors[a][j]
			}
		}
		for j := range d {
			x[i][j] += 0.2 * r.NormFloat64()
		}
		x[i][d-2] = 3
		x[i][d-1] = x[i][0]
	}
	return newDense(x, z)
}

// graph gathers the Graph of t.
func (t *dense) graph() *anchor.Graph {
	g := &anchor.Graph{Rows: int64(t.n), M: t.m, D: t.d, Delta: t.delta(),
		G: make([]float64, t.d*t.d), C: make([]float64, t.m*t.d), S: make([]float64, t.m*t.m)}
	for i := range t.n {
		for j := range t.d {
			for l := range t.d {
				g.G[j*t.d+l] += t.x[i][j] * t.x[i][l]
			}
		}
		for a, v := range t.z[i] {
			if v == 0 {
				continue
			}
			v /= math.Sqrt(g.Delta[a])
			for j := range t.d {
				g.C[a*t.d+j] += v * t.x[i][j]
			}
			for b, w := range t.z[i] {
				if w > 0 {
					g.S[a*t.m+b] += v * w / math.Sqrt(g.Delta[b])
				}
			}
		}
	}
	return g
}

// jacobi returns all eigenpairs of the symmetric matrix a, largest first, vectors in
// columns: rotations until off-diagonal elements are rounding.
func jacobi(a [][]float64) (values []float64, vectors [][]float64) {
	n := len(a)
	a = append([][]float64(nil), a...)
	v := zeros(n, n)
	for i := range n {
		a[i] = append([]float64(nil), a[i]...)
		v[i][i] = 1
	}
	for range 60 {
		off := 0.0
		for p := range n {
			for q := p + 1; q < n; q++ {
				off = max(off, math.Abs(a[p][q]))
				if a[p][q] == 0 {
					continue
				}
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				tan := math.Copysign(1, theta) / (math.Abs(theta) + math.Hypot(1, theta))
				cos := 1 / math.Hypot(1, tan)
				sin := tan * cos
				for i := range n {
					a[i][p], a[i][q] = cos*a[i][p]-sin*a[i][q], sin*a[i][p]+cos*a[i][q]
				}
				for i := range n {
					a[p][i], a[q][i] = cos*a[p][i]-sin*a[q][i], sin*a[p][i]+cos*a[q][i]
				}
				for i := range n {
					v[i][p], v[i][q] = cos*v[i][p]-sin*v[i][q], sin*v[i][p]+cos*v[i][q]
				}
			}
		}
		if off < 1e-16 {
			break
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := range order { // selection sort
		for j := i + 1; j < n; j++ {
			if a[order[j]][order[j]] > a[order[i]][order[i]] {
				order[i], order[j] = order[j], order[i]
			}
		}
	}
	vectors = zeros(n, n)
	for to, from := range order {
		values = append(values, a[from][from])
		for i := range n {
			vectors[i][to] = v[i][from]
		}
	}
	return values, vectors
}
