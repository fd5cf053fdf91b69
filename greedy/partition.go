package greedy

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// partitionTarget is H = BᵀX where column j of B is the sum of the columns of group
// j: the sums of the rows of G in each group; columns of group -1 are in none. Cost d².
func partitionTarget(g []float64, d int, groups []int, workers int) *Target {
	c := groupCount(groups)
	t := &Target{Rows: c, H: make([]float64, c*d)}
	kernel.Each(workers, tasks(d, colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, d)
		for i, j := range groups {
			if j < 0 {
				continue
			}
			floats.Add(t.H[j*d+from:j*d+to], g[i*d+from:i*d+to])
		}
	})
	return t
}

// without takes the columns that are out from their groups.
func without(groups []int, out []bool) []int {
	groups = slices.Clone(groups)
	for i, gone := range out {
		if gone {
			groups[i] = -1
		}
	}
	return groups
}
