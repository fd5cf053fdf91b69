package cluster

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestEmptyClustersAreSeededAnew: centres that start far from all rows get rows.
func TestEmptyClustersAreSeededAnew(t *testing.T) {
	x, _ := blobs(9, 600, 4, 3, 40)
	lost := kernel.RowMajor(make([]float64, 3*4), 3, 4, 4)
	for i := range lost.Data {
		lost.Data[i] = 1e4 * float64(1+i/4) // the first is nearest to every row
	}
	r := mustRefine(t, x, 100, lost, Options{})
	if slices.Min(r.Sizes) == 0 || !r.Converged {
		t.Errorf("sizes %v", r.Sizes)
	}
	// The two rows farthest from the first centre became the other centres, and the first
	// the mean of the rest.
	p := newPass(kernel.NewTeam(1), lost, false)
	must.Do(t, p.Add(nil, Matrix(x)))
	next, moved, reseeded, err := p.nextCenters()
	if err != nil || !moved || reseeded != 2 {
		t.Fatalf("moved %v, %d seeded anew, %v", moved, reseeded, err)
	}
	order := sequence(600)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(naiveSquare(row(x, b), row(lost, 0)), naiveSquare(row(x, a), row(lost, 0)))
	})
	for j := 1; j < 3; j++ {
		if !slices.Equal(row(next, j), row(x, order[j-1])) {
			t.Errorf("centre %d is %v, want row %v", j, row(next, j), row(x, order[j-1]))
		}
	}
	for l := range 4 {
		mean := 0.0
		for _, i := range order[2:] {
			mean += row(x, i)[l] / 598
		}
		if math.Abs(next.Data[l]-mean) > 1200*100*0x1p-52 { // two sums of 600 terms below 100
			t.Errorf("centre 0 is %v, want the mean %v of the rest", next.Data[l], mean)
		}
	}
	// More than can be seeded anew after one pass.
	many := kernel.RowMajor(make([]float64, 40*4), 40, 4, 4)
	for i := range many.Data {
		many.Data[i] = 1e4
	}
	if r := mustRefine(t, x, 100, many, Options{}); slices.Min(r.Sizes) == 0 {
		t.Errorf("sizes %v", r.Sizes)
	}
}
