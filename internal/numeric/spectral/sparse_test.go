package spectral

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// TestSparse: the sparse product is that with the matrix, in parts and with an anchor that no row uses; a graph of
// few anchors is none.
func TestSparse(t *testing.T) {
	team := kernel.NewTeam(2)
	z := chain(3, 900, 200, 60, 40)
	for i := range z {
		z[i] = append(z[i], 0)
	}
	g := rowstest.BuildGraph(z, z)
	parts := graphComponents(g)
	if len(parts) < 3 {
		t.Fatalf("%d parts, want 3 or more", len(parts))
	}
	f := sparseFilter(team, g, parts)
	if f == nil {
		t.Fatal("not sparse")
	}
	const w = 5
	r := rand.New(rand.NewPCG(4, 4))
	x, got, want := make([]float64, g.M*w), make([]float64, g.M*w), make([]float64, g.M*w)
	for i := range x {
		x[i], got[i] = r.NormFloat64(), math.NaN()
	}
	block := func(a []float64) kernel.Matrix[float64] { return kernel.RowMajor(a, g.M, w, w) }
	f.Product(block(got), block(x))
	kernel.Gemm(team, 1, deflatedLaplacian(g, parts), block(x), block(want))
	for i, v := range got {
		if math.Abs(v-want[i]) > 1e-14 {
			t.Fatalf("element %d is %v, want %v", i, v, want[i])
		}
	}
	few := chain(3, 90, 10)
	if g := rowstest.BuildGraph(few, few); sparseFilter(team, g, graphComponents(g)) != nil {
		t.Error("10 anchors, of which each has 5 neighbours, count as sparse")
	}
}
