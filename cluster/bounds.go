package cluster

import "math"

// bounds holds, for every row, an upper bound on the distance from its centre and lower bounds on the distances from
// the other centres. So a row is searched again only when centres have moved far enough for its cluster to change. One
// bound on all other centres (Hamerly, Making k-means even faster, SDM 2010) is tried first. Then come the bounds of
// Elkan (Using the triangle inequality to accelerate k-means, ICML 2003), one for each of up to maxGroups centres. For
// more centres there is one bound for each group of centres with neighbouring numbers (Ding et al., Yinyang k-means,
// ICML 2015).
//
// A bound is stored minus (own) or plus (others) the path that its centres had moved when the bound was computed.
// Adding the current path when the bound is read brings it up to date. All bounds are in the store's scale, and
// rounded to the safe side by a share of 2⁻²⁰ to 2⁻²²: this is more than float32 loses, and far more than the rounding
// of exact distances. So a row whose bounds separate its centre from the other centres is in the same cluster as in
// Lloyd's iteration.
//
// bounds holds 8 bytes for each row and 4 more for each group of centres.
type bounds struct {
	own    []float32 // n: upper bound for the row's own centre, minus the path of this centre
	others []float32 // n: lower bound for all other centres, plus the longest path
	groups []float32 // n×count: lower bound for the other centres in a group, plus the path of the group

	width, count int       // centres in a group; number of groups
	path         []float32 // c: at least the sum of a centre's moves
	groupPath    []float32 // count: at least the sum of the longest moves in a group
	longestPath  float32   // at least the sum of the longest moves of all
}

// maxGroups bounds the memory: 256 bytes a row, as much as 64 columns of the narrow copy.
const maxGroups = 64

func newBounds(n, c int) *bounds {
	width := (c + maxGroups - 1) / maxGroups
	b := &bounds{width: width, count: (c + width - 1) / width}
	b.own, b.others, b.groups = make([]float32, n), make([]float32, n), make([]float32, n*b.count)
	b.path, b.groupPath = make([]float32, c), make([]float32, b.count)
	return b
}

// reset forgets all moves; the bounds are then invalid.
func (b *bounds) reset() {
	clear(b.path)
	clear(b.groupPath)
	b.longestPath = 0
}

const (
	safeMore = 1 + 0x1p-20 // raises upper bounds
	safeLess = 1 - 0x1p-20
)

func (b *bounds) recordMoves(steps []float64) {
	up := func(v float64) float32 { return float32(v * safeMore) }
	longest := 0.0
	for g := range b.groupPath {
		inGroup := 0.0
		for j := g * b.width; j < min((g+1)*b.width, len(steps)); j++ {
			if steps[j] > 0 {
				b.path[j] = up(float64(b.path[j]) + steps[j])
			}
			inGroup = max(inGroup, steps[j])
		}
		if inGroup > 0 {
			b.groupPath[g] = up(float64(b.groupPath[g]) + inGroup)
		}
		longest = max(longest, inGroup)
	}
	if longest > 0 {
		b.longestPath = up(float64(b.longestPath) + longest)
	}
}

func (b *bounds) isStillNearest(i int, cluster int32) bool {
	own := b.own[i] + b.path[cluster]
	if own < b.others[i]-b.longestPath {
		return true
	}
	least, paths := float32(math.MaxFloat32), b.groupPath
	for g, v := range b.groups[i*b.count:][:len(paths)] {
		if v -= paths[g]; v < least {
			least = v
		}
	}
	if own < least {
		b.others[i] = lowerBound(least, b.longestPath)
		return true
	}
	return false
}

// lowerBound returns a lower bound plus a path, with a margin for rounding here and when the bound is read.
func lowerBound(v, path float32) float32 {
	return (max(v, 0) + path) * safeLess
}

// setRow computes the bounds of row i, with square = ‖x‖², from the values of a search: own for its centre, other for
// the nearest other centre, and groups for the nearest centre of each group. A value may be wrong by slack.
func (b *bounds) setRow(i int, cluster int32, square, slack, own, other float32, groups []float32) {
	u := sqrtPositive(square + 2*own + slack)
	path := b.path[cluster]
	b.own[i] = u*safeMore - path + (u+path)*0x1p-21
	b.others[i] = lowerBound(sqrtPositive(square+2*other-slack), b.longestPath)
	to := b.groups[i*b.count:][:b.count]
	for g, v := range groups {
		to[g] = lowerBound(sqrtPositive(square+2*v-slack), b.groupPath[g])
	}
}

func sqrtPositive(v float32) float32 { return float32(math.Sqrt(float64(max(v, 0)))) }
