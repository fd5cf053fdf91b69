package baseline

import (
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// dense is data with an anchor graph and its n×n Laplacian.
type dense struct {
	n, m, d int
	x       [][]float64 // n×d, centred
	z       [][]float64 // n×m
	l       [][]float64 // n×n: I − ZΔ⁻¹Zᵀ
}

func newDense(x, z [][]float64) *dense {
	return &dense{len(x), len(z[0]), len(x[0]), rowstest.CentreColumns(x), z, rowstest.Laplacian(z)}
}

func (t *dense) graph() *anchor.Graph { return rowstest.BuildGraph(t.x, t.z) }

// randomDense has rows that use three anchors of their part each; features follow the
// anchors with noise, the last repeats the first, the one before is constant.
func randomDense(seed uint64, n, m, d, parts int) *dense {
	r := rand.New(rand.NewPCG(seed, 5))
	anchors := rowstest.ZeroRows(m, d)
	for a := range m {
		for j := range d {
			anchors[a][j] = r.NormFloat64()
		}
	}
	x, z := rowstest.ZeroRows(n, d), rowstest.ZeroRows(n, m)
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
