package alike

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// nearestTwo holds a column's squared correlations with its own and with the nearest other component.
type nearestTwo struct {
	own, next   float64
	nextCluster int // -1 if there is no other cluster
}

// findNearestComponents returns the nearestTwo of every column. It costs 2d² flops for d columns. Every column is in
// exactly one cluster, so each of the d² correlations is used once.
func (d *clusterer) findNearestComponents() []nearestTwo {
	clusterOf, weight := make([]int, d.D), make([]float64, d.D)
	for k, p := range d.done {
		for i, j := range p.columns {
			clusterOf[j], weight[j] = k, p.vector[i]
		}
	}
	list := make([]nearestTwo, d.D)
	const run = 64
	kernel.Each(d.team.Threads(), (d.D+run-1)/run, func(t int) {
		sums := make([]float64, len(d.done))
		for j := t * run; j < min((t+1)*run, d.D); j++ {
			clear(sums)
			for i, r := range d.correlationsOf(j) {
				sums[clusterOf[i]] += r * weight[i]
			}
			n := nearestTwo{nextCluster: -1}
			for k, s := range sums {
				share := min(s*s/d.done[k].value, 1)
				if k == clusterOf[j] {
					n.own = share
				} else if n.nextCluster < 0 || share > n.next {
					n.next, n.nextCluster = share, k
				}
			}
			list[j] = n
		}
	})
	return list
}

func (d *clusterer) moveColumnsToNearest(ctx context.Context) (moved bool, err error) {
	for range clusterRounds {
		if err := ctx.Err(); err != nil {
			return moved, err
		}
		near := d.findNearestComponents()
		columns, changed := make([][]int, len(d.done)), make([]bool, len(d.done))
		for k, p := range d.done {
			for _, j := range p.columns {
				to := k
				if n := near[j]; n.next > n.own*(1+tieMargin) {
					to = n.nextCluster
					changed[k], changed[to] = true, true
				}
				columns[to] = append(columns[to], j)
			}
		}
		if !slices.Contains(changed, true) {
			return moved, nil
		}
		moved = true
		before := d.done
		d.done = nil
		var open [][]int
		for k, list := range columns {
			switch {
			case len(list) == 0:
			case changed[k]:
				slices.Sort(list)
				open = append(open, list)
			default:
				d.done = append(d.done, before[k])
			}
		}
		if err := d.divideClusters(ctx, open); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// mergeClusters merges pairs of clusters whose union need not be divided, and reports whether it merged any. It begins
// with the pairs whose components are most correlated.
func (d *clusterer) mergeClusters(ctx context.Context) (merged bool, err error) {
	type pair struct {
		a, b  int
		share float64
	}
	near := d.findNearestComponents()
	var pairs []pair
	for k, p := range d.done { // pair each cluster with the cluster to which most of its columns are next (R2Next)
		votes := make(map[int]float64)
		for _, j := range p.columns {
			if near[j].nextCluster >= 0 {
				votes[near[j].nextCluster] += near[j].next
			}
		}
		best := -1
		for _, o := range sortedKeys(votes) {
			if best < 0 || votes[o] > votes[best] {
				best = o
			}
		}
		if best < 0 {
			continue
		}
		pairs = append(pairs, pair{min(k, best), max(k, best), votes[best] / float64(len(p.columns))})
	}
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.share, x.share), slices.Compare(d.done[x.a].columns, d.done[y.a].columns), slices.Compare(d.done[x.b].columns, d.done[y.b].columns))
	})
	count := len(d.done)
	gone := make([]bool, count)
	for _, p := range pairs {
		if gone[p.a] || gone[p.b] || p.share < d.options.Proportion/2 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return merged, err
		}
		union := slices.Sorted(slices.Values(slices.Concat(d.done[p.a].columns, d.done[p.b].columns)))
		_, _, kept, err := d.keepIfCohesive(union)
		if err != nil {
			return merged, err
		}
		if kept {
			gone[p.a], gone[p.b], merged = true, true, true
		}
	}
	kept := d.done[:0]
	for k, p := range d.done {
		if k >= count || !gone[k] {
			kept = append(kept, p)
		}
	}
	d.done = kept
	return merged, nil
}

func sortedKeys(byKey map[int]float64) []int {
	keys := make([]int, 0, len(byKey))
	for k := range byKey {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (d *clusterer) sortedClusters() []Cluster {
	near := d.findNearestComponents()
	clusters := make([]Cluster, len(d.done))
	for k, p := range d.done {
		c := Cluster{Explained: p.value / float64(len(p.columns)), Second: p.second}
		for _, j := range p.columns {
			n := near[j]
			if len(p.columns) == 1 {
				n.own = 1
			}
			c.Members = append(c.Members, Member{Column: j, R2Own: n.own, R2Next: n.next, Next: n.nextCluster, Ratio: ownToNextRatio(n)})
		}
		best := c.Members[0]
		for _, m := range c.Members {
			if m.Ratio < best.Ratio*(1-tieMargin) {
				best = m
			}
		}
		c.Representative = best.Column
		slices.SortFunc(c.Members, func(a, b Member) int {
			if first := (a.Column == best.Column); first != (b.Column == best.Column) {
				if first {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(b.R2Own, a.R2Own), cmp.Compare(a.Column, b.Column))
		})
		clusters[k] = c
	}
	order := integersBelow(len(clusters))
	slices.SortFunc(order, func(a, b int) int {
		x, y := clusters[a], clusters[b]
		return cmp.Or(cmp.Compare(len(y.Members), len(x.Members)), cmp.Compare(x.Representative, y.Representative))
	})
	place := make([]int, len(order))
	sorted := make([]Cluster, len(order))
	for to, from := range order {
		place[from], sorted[to] = to, clusters[from]
	}
	for _, c := range sorted {
		for i, m := range c.Members {
			if m.Next >= 0 {
				c.Members[i].Next = place[m.Next]
			}
		}
	}
	return sorted
}

func ownToNextRatio(n nearestTwo) float64 {
	own, next := max(1-n.own, 0), 1-n.next
	switch {
	case next > 0:
		return own / next
	case own == 0:
		return 1
	}
	return math.Inf(1)
}
