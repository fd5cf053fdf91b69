package eufs

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// The memory held stays below Needs' bound, in memory and with files.
func TestNeedsBoundWhatIsHeld(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	x := mat.NewDense(6000, 120, nil)
	x.Apply(func(int, int, float64) float64 { return float64(rnd.IntN(256)) }, x)
	src := serve(x, 500)
	std := standardizer(t, src, gram.ScaleUnit)
	for _, inFiles := range []bool{false, true} {
		for _, kind := range []GraphKind{GraphKNN, GraphAnchor} {
			s := Setup{Clusters: 4, Graph: kind, Anchors: 100, Threads: 2}
			opt := Options{MaxIter: 3, Beta: Weight{Value: 0.1}, Threads: 2}
			memory, scratched, err := Needs(6000, 120, 1, s, opt)
			must.Do(t, err)
			need, scratch := memory, files(t)
			if inFiles {
				need, s.Scratch = scratched, scratch
			}
			before := rowstest.HeapBytes()
			most := int64(0)
			watch := func() { most = max(most, rowstest.HeapBytes()-before) }
			p := must.Get(Prepare(t.Context(), src, std, s))(t)
			watch()
			opt.Progress = func(int, float64) { watch() }
			if _, err := p.Solve(t.Context(), opt); err != nil {
				t.Fatalf("solving: %v", err)
			}
			if most > need.Memory {
				t.Errorf("files %t, graph %d: %d KiB held, %d said", inFiles, kind, most>>10, need.Memory>>10)
			}
			if inFiles && scratch.Most() != need.Scratch {
				t.Errorf("graph %d: %d bytes of scratch, %d said", kind, scratch.Most(), need.Scratch)
			}
			must.Do(t, p.Close())
		}
	}
}
