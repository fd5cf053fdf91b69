package u2fs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestTwinsGoLast: of two equal columns the later one goes, whatever rounding does to the statistics
// of the like of other shards.
func TestTwinsGoLast(t *testing.T) {
	x, z := rowstest.RingRows(5, 150, 30, 50)
	for i, row := range x { // every column twice, side by side
		x[i] = nil
		for _, v := range row {
			x[i] = append(x[i], v, v)
		}
	}
	g := rowstest.BuildGraph(x, z)
	d := g.D
	want := must.Get(Select(t.Context(), g, Options{Clusters: 3}))(t)
	at := make([]int, d)
	for rank, j := range want.Order {
		at[j] = rank
	}
	for j := 0; j < d; j += 2 {
		if at[j] > at[j+1] {
			t.Errorf("column %d stays longer than its equal %d before it", j+1, j)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range d {
		for j := i; j < d; j++ {
			v := g.G.Sym[i*d+j] * (1 + float64(r.IntN(3)-1)*0x1p-52)
			g.G.Sym[i*d+j], g.G.Sym[j*d+i] = v, v
		}
	}
	if got := must.Get(Select(t.Context(), g, Options{Clusters: 3}))(t); !slices.Equal(got.Order, want.Order) {
		t.Errorf("rounding changes the order from %v to %v", want.Order, got.Order)
	}
}
