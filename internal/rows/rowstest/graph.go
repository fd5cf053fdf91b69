package rowstest

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// ZeroRows returns an n×d matrix of zeros as a slice of rows.
func ZeroRows(n, d int) [][]float64 {
	t := make([][]float64, n)
	for i := range t {
		t[i] = make([]float64, d)
	}
	return t
}

// Integers returns the integers from 0 to n−1.
func Integers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// CentreColumns returns a copy of x with the mean of each column subtracted from it.
func CentreColumns(x [][]float64) [][]float64 {
	out := ZeroRows(len(x), len(x[0]))
	for j := range x[0] {
		mean := 0.0
		for i := range x {
			mean += x[i][j]
		}
		mean /= float64(len(x)) // dividing the sum last makes the mean exact if all values are equal
		for i := range x {
			out[i][j] = x[i][j] - mean
		}
	}
	return out
}

func sumColumns(z [][]float64) []float64 {
	sums := make([]float64, len(z[0]))
	for _, row := range z {
		for a, v := range row {
			sums[a] += v
		}
	}
	return sums
}

// Factor returns the n×m matrix B = ZΔ^(−1/2), Δ being the column sums of Z. The column of an unused anchor is 0.
func Factor(z [][]float64) [][]float64 {
	delta, b := sumColumns(z), ZeroRows(len(z), len(z[0]))
	for i, row := range z {
		for a, v := range row {
			if v > 0 {
				b[i][a] = v / math.Sqrt(delta[a])
			}
		}
	}
	return b
}

// Laplacian returns the n×n matrix L = I − BBᵀ for Z.
func Laplacian(z [][]float64) [][]float64 {
	b, l := Factor(z), ZeroRows(len(z), len(z))
	for i := range l {
		l[i][i] = 1
		for j := range l {
			for a, v := range b[i] {
				l[i][j] -= v * b[j][a]
			}
		}
	}
	return l
}

// BuildGraph computes the anchor graph of the rows X (n×d), whose weights on the anchors are Z (n×m), by its
// definition. It uses the centred columns of X.
func BuildGraph(x, z [][]float64) *anchor.Graph {
	x, b := CentreColumns(x), Factor(z)
	n, d, m := len(x), len(x[0]), len(z[0])
	sym := make([]float64, d*d)
	g := &anchor.Graph{Rows: int64(n), M: m, D: d, Delta: sumColumns(z),
		G: gram.Full(sym, d), C: make([]float64, m*d), S: make([]float64, m*m)}
	for i, row := range x {
		for j, v := range row {
			for k, w := range row {
				sym[j*d+k] += v * w
			}
		}
		for a, v := range b[i] {
			if v == 0 {
				continue
			}
			for j, w := range row {
				g.C[a*d+j] += v * w
			}
			for k, w := range b[i] {
				g.S[a*m+k] += v * w
			}
		}
	}
	return g
}

// Jacobi returns the eigenvalues of a symmetric matrix in ascending order, and the eigenvectors as columns. It rotates
// until the entries off the diagonal are only rounding errors.
func Jacobi(symmetric [][]float64) (values []float64, vectors [][]float64) {
	n := len(symmetric)
	a, v := ZeroRows(n, n), ZeroRows(n, n)
	for i, row := range symmetric {
		copy(a[i], row)
		v[i][i] = 1
	}
	for range 60 {
		for p := range n {
			for q := p + 1; q < n; q++ {
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
					v[i][p], v[i][q] = cos*v[i][p]-sin*v[i][q], sin*v[i][p]+cos*v[i][q]
				}
			}
		}
	}
	order := Integers(n)
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a[i][i], a[j][j]) })
	vectors = ZeroRows(n, n)
	for k, j := range order {
		values = append(values, a[j][j])
		for i := range n {
			vectors[i][k] = v[i][j]
		}
	}
	return values, vectors
}

// FactoredGraph returns the graph of BuildGraph(x, z), but with G given by its factor X, and including Z.
func FactoredGraph(x, z [][]float64) *anchor.Graph {
	g := BuildGraph(x, z)
	x = CentreColumns(x)
	var r []float64
	for j := range g.D {
		for i := range x {
			r = append(r, x[i][j])
		}
	}
	g.G = gram.FromFactor(r, g.D, len(x))
	g.Z = anchor.RowWeights{Rows: len(x), Count: g.M}
	for _, row := range z {
		for j, v := range row {
			g.Z.Index, g.Z.Value = append(g.Z.Index, int32(j)), append(g.Z.Value, v)
		}
	}
	return g
}

// PermuteFeatures returns the graph of the features that order lists, in that order.
func PermuteFeatures(g *anchor.Graph, order []int) *anchor.Graph {
	out := &anchor.Graph{Rows: g.Rows, M: g.M, D: len(order), Delta: g.Delta, S: g.S}
	var sym []float64
	for _, j := range order {
		for _, l := range order {
			sym = append(sym, g.G.At(j, l))
		}
	}
	out.G = gram.Full(sym, len(order))
	for a := range g.M {
		for _, j := range order {
			out.C = append(out.C, g.C[a*g.D+j])
		}
	}
	return out
}

// SparseGraph returns the graph whose Laplacian is the given dense matrix.
func SparseGraph(laplacian [][]float64) *rows.Graph {
	g := &rows.Graph{Start: []int{0}}
	for i, row := range laplacian {
		for j, v := range row {
			if i == j {
				v--
			}
			if v != 0 {
				g.Index, g.Value = append(g.Index, int32(j)), append(g.Value, -v)
			}
		}
		g.Start = append(g.Start, len(g.Index))
	}
	return g
}
