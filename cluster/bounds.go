package cluster

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// bounds holds, for every row, an upper bound on the distance from its own centre and lower bounds on the distances
// from the other centres. A row is searched again only when centres have moved far enough for its cluster to change.
// First, one lower bound for all other centres is tried (Hamerly, Making k-means even faster, SDM 2010). Then come the
// bounds of Elkan (Using the triangle inequality to accelerate k-means, ICML 2003), one for each centre, if there are
// at most maxGroups centres. More centres are divided into groups with neighbouring numbers, with one bound for each
// group (Ding et al., Yinyang k-means, ICML 2015).
//
// The path of a centre is the sum of its moves so far. An upper bound is stored minus the path of its centre at the
// time when it was computed, and a lower bound plus this path. When the bound is read, the current path brings it up to
// date. All bounds are distances multiplied by the store's scale. They are rounded to the safe side by a share of 2⁻²⁰
// to 2⁻²², which is more than the rounding of float32, and far more than the rounding of exact distances. So if a row's
// bounds separate its centre from the other centres, the row is in the same cluster as in Lloyd's iteration.
//
// bounds holds 8 bytes for each row and 4 more for each group of centres.
type bounds struct {
	own    []float32 // n: upper bound for the row's own centre, minus this centre's path
	others []float32 // n: lower bound for all other centres, plus longestPath
	groups []float32 // n×count: lower bound for the other centres of a group, plus the group's path

	width, count int       // number of centres in a group; number of groups
	path         []float32 // c: at least the sum of each centre's moves
	groupPath    []float32 // count: at least the sum of the longest move in the group at each step
	longestPath  float32   // at least the sum of the longest move of all centres at each step
}

// maxGroups limits bounds to 256 bytes a row, as much as 64 columns of the narrow copy of the rows (see store).
const maxGroups = 64

func layOutBounds(l *room.Layout, rowCount, centerCount int) *bounds {
	width := (centerCount + maxGroups - 1) / maxGroups
	b := &bounds{width: width, count: (centerCount + width - 1) / width}
	b.own, b.others, b.groups = room.Slice[float32](l, rowCount), room.Slice[float32](l, rowCount), room.Slice[float32](l, rowCount*b.count)
	b.path, b.groupPath = room.Slice[float32](l, centerCount), room.Slice[float32](l, b.count)
	return b
}

func (b *bounds) resetBounds() {
	clear(b.path)
	clear(b.groupPath)
	b.longestPath = 0
}

const (
	safeMore = 1 + 0x1p-20 // raises upper bounds
	safeLess = 1 - 0x1p-20 // lowers lower bounds
)

func (b *bounds) addMovesToPaths(distances []float64) {
	up := func(v float64) float32 { return float32(v * safeMore) }
	longest := 0.0
	for g := range b.groupPath {
		inGroup := 0.0
		for j := g * b.width; j < min((g+1)*b.width, len(distances)); j++ {
			if distances[j] > 0 {
				b.path[j] = up(float64(b.path[j]) + distances[j])
			}
			inGroup = max(inGroup, distances[j])
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

func (b *bounds) isOwnCenterStillNearest(row int, cluster int32) bool {
	own := b.own[row] + b.path[cluster]
	if own < b.others[row]-b.longestPath {
		return true
	}
	least, paths := float32(math.MaxFloat32), b.groupPath
	for g, v := range b.groups[row*b.count:][:len(paths)] {
		if v -= paths[g]; v < least {
			least = v
		}
	}
	if own < least {
		b.others[row] = lowerBound(least, b.longestPath)
		return true
	}
	return false
}

// lowerBound adds a path to the lower bound v, and subtracts a margin for rounding in this addition and in the later
// subtraction of the path.
func lowerBound(v, path float32) float32 {
	return (max(v, 0) + path) * safeLess
}

// setRow computes the bounds of row i, which is in the given cluster. square is ‖x‖² of the row x. own, other and
// groups are values that a search has computed (see screen): own for the cluster's centre, other for the nearest other
// centre, and groups for the nearest centre of each group. slack bounds the error of a value.
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

func sqrtPositive(square float32) float32 { return float32(math.Sqrt(float64(max(square, 0)))) }
