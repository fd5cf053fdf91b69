package greedy

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// partitionTarget returns H = BᵀX. Column j of B is the sum of the columns in group j, so row j of H is the sum of the
// rows of G in that group. Columns of group -1 are in no group. The cost is d² operations, or rd + cr² if G is a factor
// of r rows and there are c groups.
func partitionTarget(team *kernel.Team, g *gram.Matrix, groups []int) (*target, error) {
	if g.IsFactor() {
		return groupTarget(team, g, groups)
	}
	d, c := g.D, groupCount(groups)
	t := Target{Rows: c, H: make([]float64, c*d)}
	kernel.Each(team.Threads(), taskCount(d, colsPerTask), func(task int) {
		from, to := taskRange(task, colsPerTask, d)
		for i, j := range groups {
			if j < 0 {
				continue
			}
			floats.Add(t.H[j*d+from:j*d+to], g.Sym[i*d+from:i*d+to])
		}
	})
	return t.toTarget(d), nil
}

func groupsWithout(groups []int, excluded []bool) []int {
	groups = slices.Clone(groups)
	for i, gone := range excluded {
		if gone {
			groups[i] = -1
		}
	}
	return groups
}
