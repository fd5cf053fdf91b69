package alike

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
)

// ClusterOptions say when a cluster is divided. A zero field means its default.
type ClusterOptions struct {
	// MaxEigen is how large a cluster's second eigenvalue may be: default 1, what one further column
	// by itself has.
	MaxEigen float64
	// Proportion is the least share of each of a cluster's columns that its component explains: default
	// DefaultProportion.
	Proportion float64
}

// The defaults of ClusterOptions. The second eigenvalue of two columns is 1 − |r|, which leaves any two together; the
// share of each is then (1 + |r|)/2.
const (
	DefaultMaxEigen   = 1
	DefaultProportion = 0.7
)

// WithDefaults fills in what is 0.
func (o ClusterOptions) WithDefaults() ClusterOptions {
	return ClusterOptions{MaxEigen: cmp.Or(o.MaxEigen, DefaultMaxEigen), Proportion: cmp.Or(o.Proportion, DefaultProportion)}
}

// Cluster is some columns and their component, the first principal component of their correlations.
type Cluster struct {
	Members        []Member // by R2Own, the representative first
	Representative int      // the column with the smallest ratio
	Explained      float64  // share of its columns' variance that the component explains
	Second         float64  // second eigenvalue
}

// Member is a column of a cluster.
type Member struct {
	Column int
	R2Own  float64 // squared correlation with its own component
	R2Next float64 // largest with that of another cluster
	Next   int     // which one; -1 where there is no other
	Ratio  float64 // (1 − R2Own)/(1 − R2Next); +Inf where another component is the column
}

// clusterRounds is how often columns move between clusters at most, as VARCLUS's MAXITER.
const clusterRounds = 10

// Clusters divides the columns, a variant of VARCLUS: a cluster whose second eigenvalue is above MaxEigen,
// or whose component explains less than Proportion of one of its columns, is divided by its two first
// components, turned by the quartimax criterion. Each column goes to the one it is the more correlated with by size,
// and then to the new cluster whose component it is nearest to, until none moves. When nothing
// is left to divide, columns move to the nearest component among all clusters, which are divided
// again where they must be, and two clusters whose union need not be divided become one.
//
// VARCLUS bounds the second eigenvalue or the mean of the shares, which both let a column of noise into a
// cluster of many. It moves columns among all clusters after each division, tries to move them
// one by one, and divides the cluster of the largest second eigenvalue first. Here each is
// divided by itself, so that the order does not matter, and no column is tried.
//
// A division costs 2m² flops for each of some 50 to 500 vectors, for a cluster of m columns. It holds one matrix of
// d×d.
func (m *Matrix) Clusters(ctx context.Context, opt ClusterOptions) ([]Cluster, error) {
	if m.D == 0 {
		return nil, nil
	}
	d := &division{Matrix: m, ClusterOptions: opt.WithDefaults(), room: room.Make[float64](m.D * m.D)}
	if err := d.divideAll(ctx, [][]int{places(m.D)}); err != nil {
		return nil, err
	}
	for range clusterRounds {
		moved, err := d.settle(ctx)
		if err != nil {
			return nil, err
		}
		merged, err := d.merge(ctx)
		if err != nil {
			return nil, err
		}
		if !moved && !merged {
			break
		}
	}
	return d.report(), nil
}

// division is a clustering under way.
type division struct {
	*Matrix
	ClusterOptions
	room []float64 // d×d
	done []part
}

// part is a cluster: its columns, ascending, and its first component.
type part struct {
	columns []int
	vector  []float64
	value   float64
	second  float64
}

// fits says that a cluster of so many columns need not be divided. The component explains λ₁v² of a column with the
// entry v.
func (d *division) fits(c components, size int) bool {
	return size == 1 || c.values[1] <= d.MaxEigen*(1+moves) &&
		!slices.ContainsFunc(c.vectors[0], func(v float64) bool { return c.values[0]*v*v < d.Proportion*(1-moves) })
}

func places(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// divideAll divides the open clusters until none is left to divide.
func (d *division) divideAll(ctx context.Context, open [][]int) error {
	for len(open) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		last := open[len(open)-1]
		open = open[:len(open)-1]
		parts, err := d.divide(last)
		if err != nil {
			return err
		}
		open = append(open, parts...)
	}
	return nil
}

// divide returns the two parts of a cluster, or keeps it.
func (d *division) divide(columns []int) ([][]int, error) {
	a, c, kept, err := d.tryKeep(columns)
	if err != nil || kept {
		return nil, err
	}
	side, near := turned(c)
	if err := d.sort(a, side, near); err != nil {
		return nil, err
	}
	var parts [2][]int
	for i, j := range columns {
		parts[side[i]] = append(parts[side[i]], j)
	}
	return parts[:], nil
}

// tryKeep keeps a cluster that need not be divided. The correlations of the columns are in room afterwards.
func (d *division) tryKeep(columns []int) (a kernel.Matrix[float64], c components, kept bool, err error) {
	a = d.gather(d.room, columns)
	all := places(len(columns))
	if c, err = leading(d.team, a, all, nil, two()); err != nil || !d.fits(c, len(columns)) {
		return a, c, false, err
	}
	p := part{columns: columns}
	if len(c.values) > 1 {
		p.second = c.values[1]
	}
	if c, err = leading(d.team, a, all, c.vectors, fine()); err != nil {
		return a, c, false, err
	}
	p.vector, p.value = c.vectors[0], c.values[0]
	d.done = append(d.done, p)
	return a, c, true, nil
}

// turned says for each column which of the two first eigenvectors, turned by raw quartimax, makes the
// component it is more correlated with. Quartimax makes Σ(x⁴ + y⁴) over the rows (x, y) of the vectors largest: with
// u = x² − y², v = 2xy the angle is ¼·atan2(2Σuv, Σ(u² − v²)).
// The two turned vectors come with it.
func turned(c components) (side []int, vectors [2][]float64) {
	var uv, squares float64
	for i, x := range c.vectors[0] {
		y := c.vectors[1][i]
		u, v := x*x-y*y, 2*x*y
		uv, squares = uv+2*u*v, squares+u*u-v*v
	}
	sin, cos := math.Sincos(math.Atan2(uv, squares) / 4)
	// Components s = cos·s₁ + sin·s₂ and −sin·s₁ + cos·s₂ have these variances, and column i the
	// covariances λ₁x·cos + λ₂y·sin and −λ₁x·sin + λ₂y·cos with them.
	p, q := c.values[0], max(c.values[1], 0)
	first, second := p*cos*cos+q*sin*sin, p*sin*sin+q*cos*cos
	side = make([]int, len(c.vectors[0]))
	for i, x := range c.vectors[0] {
		y := c.vectors[1][i]
		a, b := p*x*cos+q*y*sin, -p*x*sin+q*y*cos
		if b*b*first > a*a*second {
			side[i] = 1
		}
		vectors[0], vectors[1] = append(vectors[0], x*cos+y*sin), append(vectors[1], -x*sin+y*cos)
	}
	return side, vectors
}

// sort moves columns between the two sides until each is on that whose component it is nearest to. Neither becomes
// empty. last are vectors near these components.
func (d *division) sort(a kernel.Matrix[float64], side []int, last [2][]float64) error {
	n := len(side)
	split := func() (in [2][]int) {
		for i, s := range side {
			in[s] = append(in[s], i)
		}
		return in
	}
	in := split()
	for s := range in { // where one has all, the column that has least in common with the others goes by itself
		if len(in[s]) == n {
			c, err := leading(d.team, a, in[s], nil, fine())
			if err != nil {
				return err
			}
			least := 0
			for i, x := range c.vectors[0] {
				if math.Abs(x) < math.Abs(c.vectors[0][least]) {
					least = i
				}
			}
			side[least] = 1 - s
			return nil
		}
	}
	for range clusterRounds {
		var near [2][]float64
		for s := range in {
			start := make([]float64, len(in[s]))
			for i, at := range in[s] {
				start[i] = last[s][at]
			}
			c, err := leading(d.team, a, in[s], [][]float64{start}, sorting())
			if err != nil {
				return err
			}
			full := make([]float64, n)
			for i, at := range in[s] {
				full[at] = c.vectors[0][i]
			}
			last[s] = full
			near[s] = make([]float64, n)
			kernel.Gemv(d.team.Threads(), n, n, a.Data, a.RowStride, full, near[s])
			for i, v := range near[s] {
				near[s][i] = v * v / c.values[0]
			}
		}
		before := slices.Clone(side)
		for i, s := range side {
			if near[1-s][i] > near[s][i]*(1+moves) {
				side[i] = 1 - s
			}
		}
		if in = split(); len(in[0]) == 0 || len(in[1]) == 0 {
			copy(side, before)
			return nil
		}
		if slices.Equal(side, before) {
			return nil
		}
	}
	return nil
}

// moves is the share by which one number must exceed another one to count as larger: more than rounding, so that
// equal ones stay.
const moves = 1e-9
