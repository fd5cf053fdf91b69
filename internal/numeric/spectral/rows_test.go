package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// ringGraph has a path through the rows of each part, and a random weight for each step.
func ringGraph(n int, parts [][]int) *rows.Graph {
	near, weights := make([]rows.Neighbour, n), make([]float64, n)
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	for _, part := range parts {
		for at, i := range part {
			near[i], weights[i] = rows.Neighbour{Index: int32(part[(at+1)%len(part)])}, 0.5+rng.Float64()
		}
	}
	return rows.JoinWeights(near, weights, n)
}

// TestEmbedRows: the vectors are orthonormal, and their costs are the smallest eigenvalues by Jacobi's rotations.
func TestEmbedRows(t *testing.T) {
	even := func(n, of, rest int) (list []int) {
		for i := rest; i < n; i += of {
			list = append(list, i)
		}
		return list
	}
	for _, parts := range []int{1, 2, 5} {
		for _, n := range []int{12, 150} {
			var lists [][]int
			for p := range parts {
				lists = append(lists, even(n, parts, p))
			}
			g := ringGraph(n, lists)
			dense := kernel.NewMatrix[float64](nil, n, n)
			g.WriteLaplacian(dense)
			l := rowstest.ZeroRows(n, n)
			for i := range l {
				copy(l[i], dense.Data[i*n:][:n])
			}
			values, _ := rowstest.Jacobi(l)
			slices.Sort(values)
			for _, c := range []int{1, 3, 5, 6} {
				e := must.Get(EmbedRows(kernel.NewTeam(2), g, c))(t)
				if e.Components != parts || e.Vectors.Rows != n || e.Vectors.Cols != c {
					t.Errorf("n %d, %d parts, c %d: got %d components and %d×%d vectors, want %d and %d×%d", n, parts, c, e.Components, e.Vectors.Rows, e.Vectors.Cols, parts, n, c)
				}
				for a := range c {
					if math.Abs(e.Values[a]-values[a]) > 1e-10 {
						t.Errorf("n %d, %d parts, c %d: got eigenvalue %d %v, want %v", n, parts, c, a, e.Values[a], values[a])
					}
					for b := range c {
						product, want := 0.0, 0.0
						if a == b {
							want = 1
						}
						for i := range n {
							product += e.Vectors.Data[i*c+a] * e.Vectors.Data[i*c+b]
						}
						if math.Abs(product-want) > 1e-10 {
							t.Errorf("n %d, %d parts, c %d: got product %v of vectors %d and %d, want %v", n, parts, c, product, a, b, want)
						}
					}
					cost := 0.0
					for i := range n {
						for j := range n {
							cost += e.Vectors.Data[i*c+a] * l[i][j] * e.Vectors.Data[j*c+a]
						}
					}
					if math.Abs(cost-values[a]) > 1e-10 {
						t.Errorf("n %d, %d parts, c %d: got cost %v of vector %d, want %v", n, parts, c, cost, a, values[a])
					}
				}
				again := must.Get(EmbedRows(kernel.NewTeam(5), g, c))(t)
				if !slices.Equal(again.Vectors.Data, e.Vectors.Data) {
					t.Errorf("n %d, %d parts, c %d: got other bits from 5 threads than from 2", n, parts, c)
				}
			}
		}
	}
}
