package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
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

// TestLayout: an embedding and a diffusion take the memory of their layouts, and no more, if the eigenpairs come from
// the dense solver, whose memory depends on the shape alone. The team has as many workers as EmbedBytes assumes.
func TestLayout(t *testing.T) {
	const c = 50
	z := chain(3, 600, 200, 40)
	g, team := rowstest.BuildGraph(z, z), kernel.NewTeam(4)
	g.D, g.C = 8*g.M, slices.Repeat(g.C, 8)
	entries := 0
	for _, s := range g.S {
		if s != 0 {
			entries++
		}
	}
	embed := func(l *room.Layout) {
		l.Add(componentBytes * int64(g.M))
		layOutVectors(l, g.M, c)
		kernel.NewMatrix[float64](l, g.M, g.M)
		layOutFilter(l, g.M, entries, len(graphComponents(g)))
		l.Add(linalg.SmallestBytes(g.M, c, linalg.EigenOptions{})) // one pair is a contrast
	}
	roomtest.CheckLayout(t, "embedding", room.Measure(embed), func() { must.Get(Embed(team, g, c))(t) })
	roomtest.CheckLayout(t, "diffusion", room.Measure(func(l *room.Layout) {
		embed(l)
		l.Add(kernel.TeamBytes(c, g.D)) // AddCross has a team of its own
		kernel.NewMatrix[float64](l, 1+c, g.D)
	}), func() { must.Get(Diffuse(team, g, DefaultDiffusion))(t) })
}
