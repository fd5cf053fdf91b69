package target

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// GroupCount returns one more than the largest group number, which counts empty groups below it.
func GroupCount(groups []int) int { return slices.Max(groups) + 1 }

// NewPartition returns H = BᵀX. Column j of B is the sum of the columns in group j, so row j of H is the sum of the
// rows of G in that group. Columns of group -1 are in no group. The cost is d² operations, or rd + cr² if G is a factor
// of r rows and there are c groups.
func NewPartition(team *kernel.Team, g *gram.Matrix, groups []int) (*Matrix, error) {
	if g.IsFactor() {
		return groupTarget(team, g, groups)
	}
	d, c := g.D, GroupCount(groups)
	t := selection.Target{Rows: c, H: make([]float64, c*d)}
	kernel.Each(team.Threads(), tasks.TaskCount(d, tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, d)
		for i, j := range groups {
			if j < 0 {
				continue
			}
			floats.Add(t.H[j*d+from:j*d+to], g.Sym[i*d+from:i*d+to])
		}
	})
	return NewGiven(t, d), nil
}

// NewData returns the target of a choice that reconstructs the data: the sums of groups of features (Algorithm 2 of
// Farahat et al.), or the data themselves if groups is nil (Algorithm 1).
func NewData(team *kernel.Team, g *gram.Matrix, groups []int) (*Matrix, error) {
	switch {
	case groups != nil:
		return NewPartition(team, g, groups)
	case g.IsFactor():
		return NewFactored(team, g)
	}
	return NewGram(g), nil
}

// GroupsWithout returns groups with −1 for the excluded features.
func GroupsWithout(groups []int, excluded []bool) []int {
	groups = slices.Clone(groups)
	for i, gone := range excluded {
		if gone {
			groups[i] = -1
		}
	}
	return groups
}
