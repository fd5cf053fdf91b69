package eufs

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// serve makes a source of a matrix in blocks of the given heights, over and over.
func serve(x *mat.Dense, heights ...int) *rowstest.Source {
	n, d := x.Dims()
	return &rowstest.Source{N: n, D: d, Heights: heights, At: x.At}
}

// grouped is n×d whole numbers in 0…255 of k kinds of rows, with noise.
func grouped(n, d, k int, seed uint64) *mat.Dense {
	rnd := rand.New(rand.NewPCG(seed, 7))
	kinds := mat.NewDense(k, d, nil)
	kinds.Apply(func(_, _ int, _ float64) float64 { return rnd.Float64() * 200 }, kinds)
	x := mat.NewDense(n, d, nil)
	x.Apply(func(i, j int, _ float64) float64 { return math.Floor(kinds.At(i*7%k, j) + rnd.Float64()*50) }, x)
	return x
}

// indicator is the scaled indicator of i*7%k.
func indicator(n, k int) *mat.Dense {
	u := mat.NewDense(n, k, nil)
	for i := range n {
		u.Set(i, i*7%k, 1/math.Sqrt(float64((n-1-i*7%k+k)/k)))
	}
	for c := range k { // whatever the counts are
		col := mat.NewVecDense(n, mat.Col(nil, c, u))
		for i := range n {
			u.Set(i, c, u.At(i, c)/mat.Norm(col, 2))
		}
	}
	return u
}

func unitColumns(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	out := mat.DenseCopyOf(x)
	for j := range d {
		col := mat.NewVecDense(n, mat.Col(nil, j, x))
		for i := range n {
			out.Set(i, j, x.At(i, j)/mat.Norm(col, 2))
		}
	}
	return out
}

// ringLaplacian joins every row with its two neighbours: a graph that any n has.
func ringLaplacian(n int) [][]float64 {
	l := rowstest.ZeroRows(n, n)
	for i := range n {
		l[i][i] = 1
		l[i][(i+1)%n], l[(i+1)%n][i] = -0.5, -0.5
	}
	return l
}

// anchorWeights is some Z with few anchors, whose rows sum to 1.
func anchorWeights(n, m int) [][]float64 {
	z := rowstest.ZeroRows(n, m)
	for i := range z {
		z[i][i%m] += 0.7
		z[i][(i*5+1)%m] += 0.3
	}
	return z
}
