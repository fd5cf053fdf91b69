package eufs

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func prepare(t *testing.T, src stream.Source, s Setup) *Problem {
	t.Helper()
	p := must.Get(Prepare(t.Context(), src, standardizer(t, src, gram.ScaleUnit), s))(t)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("closing the problem: %v", err)
		}
	})
	return p
}

// wholeX is the problem's X.
func wholeX(t *testing.T, p *Problem) *mat.Dense {
	t.Helper()
	out := mat.NewDense(int(p.t.n), p.t.d, nil)
	must.Do(t, p.t.eachBlock(t.Context(), func(b int, x kernel.Matrix[float64], _ [][]byte) error {
		for i := range x.Rows {
			for j := range x.Cols {
				out.Set(b*p.t.block+i, j, x.Data[j*x.ColStride+i])
			}
		}
		return nil
	}))
	return out
}

// firstU is the problem's U.
func firstU(t *testing.T, p *Problem) *mat.Dense {
	t.Helper()
	var u []float64
	must.Do(t, rows.EachBlock(t.Context(), p.t.blocks, func(b int, rec [][]byte) error {
		own := make([]float64, p.t.rowsOfBlock(b)*p.t.k)
		p.start.writeStartRows(own, b, rec[0], 0, p.t.rowsOfBlock(b))
		u = append(u, own...)
		return nil
	}, rows.ReadPass(p.start.labelFile())))
	return mat.NewDense(int(p.t.n), p.t.k, u)
}

// The copy of X is exact in the narrowest type that holds the values, whatever the columns
// declare, dense or sparse, missing entries filled; and is what gram.Standardizer makes.
func TestCopyIsExactAndNarrow(t *testing.T) {
	const n, d = 130, 7
	base := grouped(n, d, 3, 8)
	change := func(v float64) *mat.Dense {
		x := mat.DenseCopyOf(base)
		x.Set(100, 3, v)
		return x
	}
	for _, c := range []struct {
		name string
		x    *mat.Dense
		want elementType
	}{
		{"bytes", base, asUint8}, {"256", change(256), asInt16}, {"-1", change(-1), asInt16}, {"a half", change(0.5), asFloat32},
		{"2^15", change(1 << 15), asFloat32}, {"2^24+1", change(1<<24 + 1), asFloat64}, {"0.1", change(0.1), asFloat64},
		{"1e300", change(1e150), asFloat64}, {"missing", change(math.NaN()), asFloat64},
	} {
		for _, sparse := range []bool{false, true} {
			if sparse && c.name == "missing" {
				continue
			}
			src := serve(c.x, 40, 7)
			src.Sparse = sparse
			std := standardizer(t, src, gram.ScaleStandard)
			p, err := Prepare(t.Context(), src, std, Setup{Clusters: 3, Graph: GraphNone, blockRows: 50})
			if err != nil {
				t.Fatalf("%s: preparing: %v", c.name, err)
			}
			if p.t.element != c.want {
				t.Errorf("%s: kept as %d, want %d", c.name, p.t.element, c.want)
			}
			got, want := wholeX(t, p), make([]float64, n*d)
			for chunk := range src.Chunks(t.Context(), stream.Range{}) {
				std.To(want[chunk.Start:], n, chunk)
			}
			for i := range n {
				for j := range d {
					if got.At(i, j) != want[j*n+i] {
						t.Fatalf("%s: x[%d,%d] = %v, want %v", c.name, i, j, got.At(i, j), want[j*n+i])
					}
				}
			}
		}
	}
}

// The start has orthonormal columns, none of them negative; the soft one is the polar
// factor of the indicator + 0.2. V is XᵀU and AlphaMax what it says.
func TestStarts(t *testing.T) {
	const n, d, k = 230, 12, 4
	src := serve(grouped(n, d, k, 9), 100)
	hard := firstU(t, prepare(t, src, Setup{Clusters: k, Graph: GraphNone, blockRows: 60}))
	p := prepare(t, src, Setup{Clusters: k, Graph: GraphNone, Start: StartSoft, blockRows: 60})
	softU := firstU(t, p)
	for name, u := range map[string]*mat.Dense{"hard": hard, "soft": softU} {
		// Sums of 230 products of numbers below 1.
		within(t, name+" UᵀU", product(u.T(), u).RawMatrix().Data, mat.DenseCopyOf(identity(k)).RawMatrix().Data, 230*0x1p-52)
	}
	shifted := mat.NewDense(n, k, nil)
	shifted.Apply(func(i, c int, _ float64) float64 {
		if hard.At(i, c) > 0 {
			return 1 + rows.SoftOffset
		}
		return rows.SoftOffset
	}, shifted)
	within(t, "soft U", softU.RawMatrix().Data, orthonormal(shifted).RawMatrix().Data, 1e-13) // an SVD of condition 1.8
	x := wholeX(t, p)
	within(t, "V", p.v, product(x.T(), softU).RawMatrix().Data, 1e-13)
	most := 0.0
	scaled := mat.DenseCopyOf(x)
	for i := range n {
		row := mat.NewVecDense(d, scaled.RawRowView(i))
		row.ScaleVec(1/mat.Norm(row, 2), row)
	}
	for _, norm := range linalg.RowNorms(product(scaled.T(), softU).RawMatrix().Data, k) {
		most = max(most, norm)
	}
	within(t, "AlphaMax", []float64{p.AlphaMax}, []float64{most}, 1e-13*most)
	// Rows of a kind are in a cluster: ones that are k apart.
	for i := k; i < n; i++ {
		if !slices.Equal(hard.RawRowView(i), hard.RawRowView(i-k)) {
			t.Fatalf("rows %d and %d, of one kind, start apart", i-k, i)
		}
	}
}

func TestStartRefuses(t *testing.T) {
	const n, d, k = 40, 6, 2
	src := serve(grouped(n, d, k, 10), 40)
	std := standardizer(t, src, gram.ScaleUnit)
	zero := make([]float64, n*k)
	bad := slices.Repeat([]float64{math.NaN()}, n*k)
	narrow := make([]float64, n)
	same := serve(mat.NewDense(n, 1, append(slices.Repeat([]float64{1}, n-1), 2)), n)
	for _, c := range []struct {
		src  stream.Source
		s    Setup
		want string
	}{
		{src, Setup{Clusters: k, Start: StartGiven, U: zero}, "orthonormal"},
		{src, Setup{Clusters: k, Start: StartGiven, U: bad}, "orthonormal"},
		{src, Setup{Clusters: k, Start: StartGiven, U: narrow}, "40 values, want 40×2"},
		{src, Setup{Clusters: k, Start: StartGiven}, "go together"},
		{src, Setup{Clusters: n + 1}, "more than the 40 rows"},
		{src, Setup{Clusters: -1, Neighbors: -2, Threads: -3}, "neighbors = -2 is negative; threads = -3"},
		{src, Setup{Clusters: k, Graph: GraphAnchor, Anchors: 5}, "too few"},
		{src, Setup{Clusters: k, Graph: GraphKind(9)}, "graph 9"},
		{same, Setup{Clusters: 3, Graph: GraphNone}, "fewer clusters"},
	} {
		own := std
		if c.src != stream.Source(src) {
			own = standardizer(t, c.src, gram.ScaleUnit)
		}
		_, err := Prepare(t.Context(), c.src, own, c.s)
		rowstest.CheckRefusal(t, err, c.want)
	}
	if err := (Setup{Graph: GraphKNN}).Validate(MostNeighbourRows+1, 3); err == nil {
		t.Error("a kNN graph of 20,001 rows is accepted")
	}
	p := prepare(t, src, Setup{Clusters: k})
	nan := math.NaN()
	for _, o := range []Options{
		{Alpha: Weight{Value: -1}}, {Beta: Weight{Value: nan}}, {Mu: -1}, {Mu: nan}, {Rho: 0.5}, {Rho: math.Inf(1)}, {MuMax: 0.5},
		{MaxIter: -1}, {Tol: nan}, {Threads: -1}, {Method: 7}, {Tree: &Tree{}}, {Method: HUFS, Tree: &Tree{Features: []int{d}}},
	} {
		_, err := p.Solve(t.Context(), o)
		rowstest.CheckRefusal(t, err)
	}
}

func TestSampleIsADrawingWithoutRepetition(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {10, 10}, {1000, 30}, {31, 30}} {
		n, m := int64(c[0]), c[1]
		place := drawPositions(n, m, 5)
		seen := make([]bool, m)
		for p, at := range place {
			if p < 0 || p >= n || seen[at] {
				t.Fatalf("%d of %d: position %d at place %d", m, n, p, at)
			}
			seen[at] = true
		}
		if len(place) != m {
			t.Errorf("%d of %d: drew %d", m, n, len(place))
		}
	}
}
