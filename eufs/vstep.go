package eufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// updateV computes the next V from the matrix K, which passA has summed over the rows. In HUFS it also updates P and
// Y₃. It adds the penalties of V to step, the figures of the iteration.
func (s *solver) updateV(step *Step) {
	t := s.t
	copy(s.oldV, s.v)
	k := s.k.sumMatrices()
	sparsity, threshold := s.alpha, s.alpha/s.mu // eq. (21) mended
	copy(s.v, k)
	if s.tree != nil {
		sparsity, threshold = s.beta, s.beta/s.mu
		s.tree.averageGroups(s.v, s.mu)
	}
	for j := range t.d {
		at := threshold
		if s.tree != nil { // eq. (4.17)
			at /= 1 + s.tree.groupCounts[j]
		}
		step.Objective += sparsity * shrinkRowLength(s.v[j*t.k:][:t.k], at)
	}
	step.Split = step.Objective
	if s.tree != nil {
		objective, split := s.tree.updateGroups(s.v, s.alpha, s.mu, &step.ResidualP)
		step.Objective += s.alpha * objective
		step.Split += s.alpha * split
	}
}

func shrinkRowLength(row []float64, decrease float64) float64 {
	norm := math.Sqrt(kernel.Dot(row, row))
	if norm <= decrease {
		clear(row)
		return 0
	}
	factor := 1 - decrease/norm
	for i := range row {
		row[i] *= factor
	}
	return norm - decrease
}

// treeState has HUFS's variables for the features: P = MV and Y₃. M is the 0/1 matrix with a row for every feature of
// every group.
type treeState struct {
	k           int
	groups      [][]int
	groupCounts []float64 // d: |H_j|, the number of groups that contain feature j
	p, y        [][]float64
}

func newTreeState(l *room.Layout, tree *Tree, d, k int) *treeState {
	s := &treeState{k: k, groups: tree.nodeGroups(), groupCounts: room.Slice[float64](l, d)}
	for _, g := range s.groups {
		s.p = append(s.p, room.Slice[float64](l, len(g)*k))
		s.y = append(s.y, room.Slice[float64](l, len(g)*k))
	}
	return s
}

func (s *treeState) setPAndCountGroups(v []float64) {
	for i, g := range s.groups {
		for a, j := range g {
			s.groupCounts[j]++
			copy(s.p[i][a*s.k:][:s.k], v[j*s.k:])
		}
	}
}

// averageGroups computes eq. (4.17) without the threshold. It adds to row j of V the entries for feature j of P + Y₃/μ,
// in all groups that contain j, and divides the sum by 1 + |H_j|, |H_j| being the number of these groups.
func (s *treeState) averageGroups(v []float64, mu float64) {
	for i, g := range s.groups {
		for a, j := range g {
			for c := range s.k {
				v[j*s.k+c] += s.p[i][a*s.k+c] + s.y[i][a*s.k+c]/mu
			}
		}
	}
	for j, h := range s.groupCounts {
		for c := range s.k {
			v[j*s.k+c] /= 1 + h
		}
	}
}

// updateGroups updates P by shrinking the groups of MV − Y₃/μ, and then Y₃, see treeState for P, M and Y₃. The norm of
// a group is the sum of the norms of its columns, Σ_c ‖v_G^c‖. The results are the sums of the norms of V and of P.
// residual becomes ‖P − MV‖.
func (s *treeState) updateGroups(v []float64, alpha, mu float64, residual *float64) (ofV, ofP float64) {
	k, gaps := s.k, 0.0
	for i, g := range s.groups {
		p, y := s.p[i], s.y[i]
		for c := range k {
			var own, norm float64
			for a, j := range g {
				x := v[j*k+c]
				q := x - y[a*k+c]/mu
				own += float64(x * x)
				norm += float64(q * q)
				p[a*k+c] = q
			}
			ofV += math.Sqrt(own)
			norm = math.Sqrt(norm)
			factor := 0.0
			if norm > alpha/mu {
				factor = 1 - alpha/mu/norm
				ofP += norm - alpha/mu
			}
			for a, j := range g {
				p[a*k+c] *= factor
				gap := p[a*k+c] - v[j*k+c]
				y[a*k+c] += mu * gap
				gaps += float64(gap * gap)
			}
		}
	}
	*residual = math.Sqrt(gaps)
	return ofV, ofP
}
