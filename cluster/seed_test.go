package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/must"
)

// TestSeedsHaveTheirDistribution: which of five points is left out of four centres, against
// the probabilities of k-means++ by enumeration. Two draws are made in one batch.
func TestSeedsHaveTheirDistribution(t *testing.T) {
	points := []float64{0, 1, 1.5, 4, 6}
	x := kernel.ColMajor(points, 5, 1, 5)
	want := make([]float64, 5)
	var enumerate func(chosen []int, p float64)
	enumerate = func(chosen []int, p float64) {
		if len(chosen) == 4 {
			want[10-chosen[0]-chosen[1]-chosen[2]-chosen[3]] += p
			return
		}
		square, total := make([]float64, 5), 0.0
		for i := range points {
			square[i] = 1
			if len(chosen) > 0 {
				square[i] = math.Inf(1)
			}
			for _, j := range chosen {
				square[i] = min(square[i], (points[i]-points[j])*(points[i]-points[j]))
			}
			total += square[i]
		}
		for i, s := range square {
			if s > 0 {
				enumerate(append(slices.Clone(chosen), i), p*s/total)
			}
		}
	}
	enumerate(nil, 1)
	const draws = 20000
	got := make([]float64, 5)
	team := kernel.NewTeam(1)
	for seed := range uint64(draws) {
		c := must.Get(seeds(team, x, nil, nil, nil, 4, rand.NewPCG(seed, 0)))(t)
		for i, v := range points {
			if !slices.Contains(c.Data, v) {
				got[i]++
			}
		}
	}
	for i, p := range want {
		if sigma := math.Sqrt(p * (1 - p) / draws); math.Abs(got[i]/draws-p) > 5*sigma {
			t.Errorf("point %d is left out with probability %v, want %v ± %v", i, got[i]/draws, p, sigma)
		}
	}
}
