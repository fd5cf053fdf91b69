package eufs

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// levelShare: each level of a correlation tree has a quarter as many groups as the next finer level, as in a
	// quad-tree. If all merges were levels, a tree in which each merge adds one feature would have d²/2 entries.
	levelShare = 4
)

// CorrelationTree groups correlated features. The groups are clusters of the average linkage on the distances 1 −
// |corr|, cut at d/4, d/16, … clusters. sym is the d×d Gram matrix of centred columns (for other columns, cosines
// replace correlations), and is overwritten. It takes O(d²) time, by chains of nearest neighbours (Murtagh 1983).
func CorrelationTree(sym []float64, d int) (*Tree, error) {
	if d < 1 || len(sym) != d*d {
		return nil, stream.Usagef("{tree} correlation: there are no features")
	}
	toDistances(sym, d)
	merges := averageLinkage(sym, d)
	// Merges are found along chains, and not in the order of height.
	slices.SortStableFunc(merges, func(a, b clusterMerge) int { return cmp.Compare(a.height, b.height) })
	root := &Tree{Features: allFeatures(d)}
	parent := allFeatures(d) // a forest, the lowest feature of a cluster being its root
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	clusters, next := d, 0
	var nodes []*Tree // of the finest level so far
	for want := d / levelShare; want > 1; want /= levelShare {
		for ; clusters > want; clusters-- {
			a, b := find(merges[next].a), find(merges[next].b)
			parent[max(a, b)] = min(a, b)
			next++
		}
		level := make(map[int]*Tree)
		var order []*Tree
		for j := range d {
			r := find(j)
			if level[r] == nil {
				level[r] = &Tree{}
				order = append(order, level[r])
			}
			level[r].Features = append(level[r].Features, j)
		}
		for _, n := range nodes {
			level[find(n.Features[0])].addChild(n)
		}
		nodes = nodes[:0]
		for _, n := range order {
			if len(n.Features) > 1 { // one feature is a group by itself already: its row of V
				nodes = append(nodes, n)
			}
		}
	}
	for _, n := range nodes {
		root.addChild(n)
	}
	return root, nil
}

// CorrelationEntries returns an upper bound of [Tree.Entries] of the CorrelationTree of d features: the number of its
// levels times d, because a level has every feature at most once.
func CorrelationEntries(d int) int {
	levels := 1 // the root
	for want := d / levelShare; want > 1; want /= levelShare {
		levels++
	}
	return d * levels
}

// toDistances turns sym into 1 − |corr|, d×d. A column of length 0 is at distance 1 from all other columns.
func toDistances(sym []float64, d int) {
	length := make([]float64, d)
	for i := range d {
		length[i] = math.Sqrt(sym[i*d+i])
	}
	for i := range d {
		for j := range d {
			v := &sym[i*d+j]
			if own := length[i] * length[j]; own > 0 {
				*v = 1 - min(1, math.Abs(*v)/own)
			} else {
				*v = 1
			}
		}
	}
}

// clusterMerge joins the clusters of features a and b.
type clusterMerge struct {
	a, b   int
	height float64
}

// averageLinkage merges clusters until only one is left. Apart from the order of merges, it merges the same pairs as if
// the pair with the least average distance were always merged first. It follows a chain of nearest neighbours until two
// clusters are each other's nearest. Such a pair may be merged at once, because merges of other clusters bring no
// cluster nearer to either of the two. dist, d×d, is overwritten. Among clusters at equal distance, the nearest is the
// previous cluster of the chain, or else the cluster with the lowest feature.
func averageLinkage(dist []float64, d int) []clusterMerge {
	size := make([]float64, d)
	alive := make([]int, 0, d) // clusters, named by their lowest feature
	for i := range d {
		size[i] = 1
		alive = append(alive, i)
	}
	merges := make([]clusterMerge, 0, d-1)
	var chain []int
	for len(alive) > 1 {
		if len(chain) == 0 {
			chain = append(chain, alive[0])
		}
		a := chain[len(chain)-1]
		best, at := -1, math.Inf(1)
		if len(chain) > 1 {
			best = chain[len(chain)-2]
			at = dist[a*d+best]
		}
		for _, b := range alive {
			if b != a && dist[a*d+b] < at {
				best, at = b, dist[a*d+b]
			}
		}
		if len(chain) == 1 || best != chain[len(chain)-2] {
			chain = append(chain, best)
			continue
		}
		chain = chain[:len(chain)-2]
		keep, gone := min(a, best), max(a, best)
		merges = append(merges, clusterMerge{keep, gone, at})
		alive = slices.DeleteFunc(alive, func(c int) bool { return c == gone })
		for _, c := range alive {
			if c == keep {
				continue
			}
			v := (size[keep]*dist[keep*d+c] + size[gone]*dist[gone*d+c]) / (size[keep] + size[gone])
			dist[keep*d+c], dist[c*d+keep] = v, v
		}
		size[keep] += size[gone]
	}
	return merges
}
