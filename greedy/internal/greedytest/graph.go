package greedytest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// GraphData is centred data X, n×d, with random weights of its rows on anchors. The graph of the weights is given
// twice: as its affinity A, n×n, by definition, and as an anchor.Graph.
type GraphData struct {
	X, A  *mat.Dense
	x, z  [][]float64 // the data before centring, and the weights
	Graph *anchor.Graph
}

// NewGraphData returns n rows of d features and a graph of the rows on m anchors.
func NewGraphData(n, d, m int, seed uint64) GraphData {
	r := rand.New(rand.NewPCG(seed, 9))
	x, z := rowstest.ZeroRows(n, d), rowstest.ZeroRows(n, m)
	for i := range n {
		weights, sum := [3]float64{}, 0.0
		for k := range weights {
			weights[k] = 0.2 + r.Float64()
			sum += weights[k]
		}
		at := r.IntN(m)
		for k, w := range weights {
			z[i][(at+k*k)%m] += w / sum
		}
		for j := range d {
			x[i][j] = math.Sin(float64(at*(j+1)))*float64(1+j%3) + r.NormFloat64()
		}
	}
	b := denseMatrix(rowstest.Factor(z))
	return GraphData{denseMatrix(rowstest.CentreColumns(x)), MultiplyAll(b, b.T()), x, z, rowstest.BuildGraph(x, z)}
}

func denseMatrix(rows [][]float64) *mat.Dense {
	return mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
}

// FactorGraph returns the graph of g with its Gram matrix as a factor.
func (g GraphData) FactorGraph() *anchor.Graph { return rowstest.FactoredGraph(g.x, g.z) }

// SpectralTarget returns the spectral target by definition: the l leading eigenvectors of A after the constant one.
func (g GraphData) SpectralTarget(t *testing.T, l int) *mat.Dense {
	values, vectors := EigenPairs(t, g.A)
	if math.Abs(values[0]-1) > 1e-12 {
		t.Fatalf("A has the leading eigenvalue %v", values[0])
	}
	return mat.DenseCopyOf(vectors.Slice(0, vectors.RawMatrix().Rows, 1, 1+l))
}

// ScatterTarget returns the scatter target by definition: XW, W being the l leading generalised eigenvectors.
func (g GraphData) ScatterTarget(t *testing.T, l int) *mat.Dense {
	d := g.Graph.D
	gm := mat.NewDense(d, d, slices.Clone(g.Graph.G.Sym))
	ridge := 1e-3 * mat.Trace(gm) / float64(d)
	for i := range d {
		gm.Set(i, i, gm.At(i, i)+ridge)
	}
	values, vectors := EigenPairs(t, gm)
	half := mat.DenseCopyOf(vectors) // its product with vectorsᵀ is (G + ridge)^(−1/2)
	half.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(values[j]) }, half)
	root := MultiplyAll(half, vectors.T())
	_, y := EigenPairs(t, MultiplyAll(root, g.X.T(), g.A, g.X, root))
	return MultiplyAll(g.X, root, y.Slice(0, d, 0, l))
}

// MultiplyAll returns the product of all matrices, in their order.
func MultiplyAll(first mat.Matrix, others ...mat.Matrix) *mat.Dense {
	out := mat.DenseCopyOf(first)
	for _, m := range others {
		next := new(mat.Dense)
		next.Mul(out, m)
		out = next
	}
	return out
}

// EigenPairs returns all eigenvalues of a symmetric matrix, the largest first, and their eigenvectors.
func EigenPairs(t *testing.T, a *mat.Dense) ([]float64, *mat.Dense) {
	t.Helper()
	n, _ := a.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		t.Fatal("no eigenpairs")
	}
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	out := mat.NewDense(n, n, nil)
	for j := range n {
		out.SetCol(j, mat.Col(nil, n-1-j, &vectors))
	}
	slices.Reverse(values)
	return values, out
}

// ThinGraphs returns the graph of n sparse points, with C in full and with C by its columns, and the points.
func ThinGraphs(t *testing.T, n, d int, seed uint64) (dense, thin *anchor.Graph, x Matrix) {
	r := rand.New(rand.NewPCG(seed, 4))
	x = NewMatrix(n, d)
	for i := range n {
		for range 6 {
			x.Col[(i%5)*10+r.IntN(10)][i] += float64(1 + r.IntN(3))
			x.Col[r.IntN(d)][i]++
		}
		x.Col[1][i] += 3
	}
	for j, column := range x.Col {
		column[j%n]++
	}
	full, points := make([]float64, 0, n*d), &stream.CSR{RowPtr: []int{0}}
	for i := range n {
		for j, column := range x.Col {
			if full = append(full, column[i]); column[i] != 0 {
				points.Index, points.Value = append(points.Index, int32(j)), append(points.Value, column[i])
			}
		}
		points.RowPtr = append(points.RowPtr, len(points.Index))
	}
	dense = must.Get(anchor.Among(full, n, d, anchor.Options{}))(t)
	thin = must.Get(anchor.AmongThin(points, d, anchor.Options{}))(t)
	dense.G, thin.G = gram.Full(nil, d), gram.Full(nil, d)
	return dense, thin, x
}
