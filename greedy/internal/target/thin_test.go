package target

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Without some features, a target by its columns is the same as the target by its matrix.
func TestThinLayers(t *testing.T) {
	dense, thin, _ := greedytest.ThinGraphs(t, 260, 1000, 5)
	team := kernel.NewTeam(2)
	c := &thinColumns{Columns: thin.Columns}
	short, long := 0, 0
	out := make([]bool, thin.D)
	for j := range out {
		out[j] = j%3 == 0
		if c.isLongColumn(j) {
			long++
		} else {
			short++
		}
	}
	if short == 0 || long == 0 {
		t.Fatalf("%d short columns and %d long ones", short, long)
	}
	u := kernel.RowMajor(dense.C, dense.M, dense.D, dense.D).Trans()
	for _, gone := range [][]bool{nil, out} {
		want, got := dualMatrix(team, u, gone), c.dualMatrix(team, gone)
		size := 0.0
		for a := range thin.M {
			size = max(size, want.Data[a*thin.M+a])
		}
		for i, v := range want.Data {
			// Products of d pairs, of columns off their means by no more than their deviations.
			if math.Abs(got.Data[i]-v) > 4*float64(thin.D)*0x1p-53*size {
				t.Fatalf("CCᵀ[%d] is %v, want %v", i, got.Data[i], v)
			}
		}
	}
}
