package judge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// nearestByPairs is NearestAccuracy by the distance of every pair of rows.
func nearestByPairs(x kernel.Matrix[float64], classes []int32) float64 {
	sum := 0.0
	for i := range x.Rows {
		nearest, same, all := math.Inf(1), 0.0, 0.0
		for j := range x.Rows {
			if j == i {
				continue
			}
			d := 0.0
			for c := range x.Cols {
				e := x.Data[c*x.ColStride+i] - x.Data[c*x.ColStride+j]
				d += e * e
			}
			if d < nearest {
				nearest, same, all = d, 0, 0
			}
			if d == nearest {
				all++
				if classes[i] == classes[j] {
					same++
				}
			}
		}
		sum += same / all
	}
	return sum / float64(x.Rows)
}

// TestNearestAccuracyTwin: as by all pairs, below, at and above the height of a block, of normal
// numbers far from 0 and of digits, which tie.
func TestNearestAccuracyTwin(t *testing.T) {
	for _, n := range []int{2, 3, nearestRows - 1, nearestRows, nearestRows + 1} {
		for name, value := range map[string]func(float64) float64{
			"normal": func(v float64) float64 { return 1e6 + v },
			"digits": math.Round,
		} {
			x := noise(n, 3, uint64(n))
			classes := make([]int32, n)
			random := rand.New(rand.NewPCG(uint64(n), 5))
			for i := range classes {
				classes[i] = int32(random.IntN(3))
			}
			for i, v := range x.Data {
				x.Data[i] = value(v)
			}
			want := nearestByPairs(x, classes)
			for _, threads := range []int{1, 3} {
				if got := NearestAccuracy(kernel.NewTeam(threads), x, classes); math.Abs(got-want) > 1e-12 { // sums of n shares
					t.Errorf("%d rows of %s, %d threads: accuracy %v, by all pairs %v", n, name, threads, got, want)
				}
			}
		}
	}
}

// TestNearestAccuracyByHand: of rows at one place the half that are of another class count, in
// whatever order the rows are; one row has no neighbour.
func TestNearestAccuracyByHand(t *testing.T) {
	team := kernel.NewTeam(1)
	for _, c := range []struct {
		x       []float64
		classes []int32
		want    float64
	}{
		{[]float64{0, 1, 10, 11}, []int32{1, 1, 2, 2}, 1},
		{[]float64{0, 1, 10, 11}, []int32{1, 2, 1, 2}, 0},
		{[]float64{5, 5, 5, 5}, []int32{1, 1, 2, 2}, 1. / 3},
		{[]float64{5, 5, 5, 5}, []int32{2, 1, 1, 2}, 1. / 3},
		{[]float64{0, 2, 4}, []int32{1, 2, 1}, 0},   // the middle one is between two of another class
		{[]float64{0, 2, 4}, []int32{1, 1, 2}, 0.5}, // 1, a tie, and 0
	} {
		got := NearestAccuracy(team, kernel.ColMajor(c.x, len(c.x), 1, len(c.x)), c.classes)
		if math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%v of classes %v: accuracy %v, want %v", c.x, c.classes, got, c.want)
		}
	}
	if got := NearestAccuracy(team, kernel.ColMajor([]float64{1}, 1, 1, 1), []int32{1}); !math.IsNaN(got) {
		t.Errorf("one row: accuracy %v, want NaN", got)
	}
}
