package alike

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// ClusterOptions sets the limits beyond which a cluster is divided. A zero field means its default.
type ClusterOptions struct {
	// MaxEigen is the largest second eigenvalue of a cluster. The default is 1, the eigenvalue of a single column.
	MaxEigen float64
	// Proportion is the least share of each column's variance that the component of its cluster must explain. The
	// default is DefaultProportion.
	Proportion float64
}

// Defaults of ClusterOptions. The second eigenvalue of a cluster of two columns with correlation r is 1 − |r| ≤ 1. So
// the default of MaxEigen never divides such a cluster. Its component explains the share (1 + |r|)/2 of each of the two
// columns.
const (
	DefaultMaxEigen   = 1
	DefaultProportion = 0.7
)

// WithDefaults replaces zero fields with their defaults.
func (o ClusterOptions) WithDefaults() ClusterOptions {
	return ClusterOptions{MaxEigen: cmp.Or(o.MaxEigen, DefaultMaxEigen), Proportion: cmp.Or(o.Proportion, DefaultProportion)}
}

// Cluster is a group of columns with its component, the first principal component of their correlations.
type Cluster struct {
	Members        []Member // by descending R2Own, but the representative first
	Representative int      // the column with the smallest Member.Ratio
	Explained      float64  // share of the variance of the columns that the component explains
	Second         float64  // second eigenvalue of the correlations of the columns
}

// Member is a column of a cluster.
type Member struct {
	Column int
	R2Own  float64 // squared correlation with its own component
	R2Next float64 // largest squared correlation with the component of another cluster
	Next   int     // the cluster of R2Next; -1 if there is only one cluster
	Ratio  float64 // (1 − R2Own)/(1 − R2Next); +Inf if another component equals the column
}

// clusterRounds is the largest number of rounds in which columns are moved between clusters, like VARCLUS's MAXITER.
const clusterRounds = 10

// FindClusters divides the columns into clusters by a variant of VARCLUS. It divides a cluster whose second eigenvalue
// is above MaxEigen, or whose component explains less than Proportion of one of its columns. The first two components
// of the cluster are rotated by the quartimax criterion. Each column is assigned to the component with the larger
// absolute correlation. Then columns are moved to the new cluster with the nearer component until no column moves. When
// no cluster need be divided, columns are moved to the nearest component of all clusters, changed clusters are divided
// again if necessary, and two clusters are merged if their union need not be divided.
//
// VARCLUS limits either the second eigenvalue or the mean explained share. With only these limits a column of noise may
// enter a large cluster. VARCLUS also moves columns among all clusters after each division, tries to move single
// columns, and divides the cluster with the largest second eigenvalue first. Here each cluster is divided
// independently, so that the order does not matter, and columns are not moved by trial.
//
// Dividing a cluster of m columns multiplies its m×m matrix of correlations by about 50 to 500 vectors, each of which
// costs 2m² flops. FindClusters allocates one d×d matrix.
func (m *Matrix) FindClusters(ctx context.Context, opt ClusterOptions) ([]Cluster, error) {
	if m.D == 0 {
		return nil, nil
	}
	d := &clusterer{Matrix: m, options: opt.WithDefaults()}
	d.layOut(nil, m.D)
	d.search.team = m.team
	if err := d.divideClusters(ctx, [][]int{integersBelow(m.D)}); err != nil {
		return nil, err
	}
	for range clusterRounds {
		moved, err := d.moveColumnsToNearest(ctx)
		if err != nil {
			return nil, err
		}
		merged, err := d.mergeClusters(ctx)
		if err != nil {
			return nil, err
		}
		if !moved && !merged {
			break
		}
	}
	return d.sortedClusters(), nil
}

// clusterer divides the columns of a Matrix into clusters.
type clusterer struct {
	*Matrix
	options ClusterOptions
	room    []float64 // scratch memory of d×d numbers
	search  krylovSearch
	done    []finishedCluster // clusters that need not be divided
}

func (d *clusterer) layOut(l *room.Layout, columns int) {
	d.room = room.Slice[float64](l, columns*columns)
	d.search.layOut(l, columns)
}

// finishedCluster is a cluster that need not be divided: its columns, ascending, and its component, given by the first
// eigenvector of their correlations and the eigenvalue, the field value. second is the second eigenvalue.
type finishedCluster struct {
	columns []int
	vector  []float64
	value   float64
	second  float64
}

// isCohesive reports whether a cluster of `size` columns with the leading components c need not be divided. Its second
// eigenvalue must be at most MaxEigen, and its first component must explain at least the share Proportion of the
// variance of each column, which is λ₁v² for the first eigenvalue λ₁ and the column's entry v in its eigenvector.
func (d *clusterer) isCohesive(c eigenpairs, size int) bool {
	return size == 1 || c.values[1] <= d.options.MaxEigen*(1+tieMargin) &&
		!slices.ContainsFunc(c.vectors[0], func(v float64) bool { return c.values[0]*v*v < d.options.Proportion*(1-tieMargin) })
}

func integersBelow(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func (d *clusterer) divideClusters(ctx context.Context, undivided [][]int) error {
	for len(undivided) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		last := undivided[len(undivided)-1]
		undivided = undivided[:len(undivided)-1]
		parts, err := d.splitCluster(last)
		if err != nil {
			return err
		}
		undivided = append(undivided, parts...)
	}
	return nil
}

// splitCluster returns the two parts of a cluster. A cluster that need not be divided is added to done instead.
func (d *clusterer) splitCluster(columns []int) ([][]int, error) {
	a, c, isKept, err := d.keepIfCohesive(columns)
	if err != nil || isKept {
		return nil, err
	}
	side, near := splitByQuartimax(c)
	if err := d.reassignSides(a, side, near); err != nil {
		return nil, err
	}
	var parts [2][]int
	for i, j := range columns {
		parts[side[i]] = append(parts[side[i]], j)
	}
	return parts[:], nil
}

// keepIfCohesive adds the cluster to done if it need not be divided. It returns the correlations a of its columns,
// which use the memory d.room, and its leading components c.
func (d *clusterer) keepIfCohesive(columns []int) (a kernel.Matrix[float64], c eigenpairs, isKept bool, err error) {
	a = d.gatherCorrelations(d.room, columns)
	all := integersBelow(len(columns))
	if c, err = d.search.findLeadingComponents(a, all, nil, divisionGoal()); err != nil || !d.isCohesive(c, len(columns)) {
		return a, c, false, err
	}
	p := finishedCluster{columns: columns}
	if len(c.values) > 1 {
		p.second = c.values[1]
	}
	if c, err = d.search.findLeadingComponents(a, all, c.vectors, finalGoal()); err != nil {
		return a, c, false, err
	}
	p.vector, p.value = c.vectors[0], c.values[0]
	d.done = append(d.done, p)
	return a, c, true, nil
}

// splitByQuartimax rotates the first two eigenvectors by raw quartimax, which maximizes Σ(x⁴ + y⁴) over the rows (x, y)
// of the vectors. With u = x² − y² and v = 2xy the angle is ¼·atan2(2Σuv, Σ(u² − v²)). It returns the rotated vectors,
// and for each column the side, i.e. the number of the component that has the larger correlation with it.
func splitByQuartimax(c eigenpairs) (side []int, vectors [2][]float64) {
	var uv, squares float64
	for i, x := range c.vectors[0] {
		y := c.vectors[1][i]
		u, v := x*x-y*y, 2*x*y
		uv, squares = uv+2*u*v, squares+u*u-v*v
	}
	sin, cos := math.Sincos(math.Atan2(uv, squares) / 4)
	// s₁ and s₂ are the components of the cluster. first and second are the variances of the rotated components cos·s₁
	// + sin·s₂ and −sin·s₁ + cos·s₂. The covariances of the rotated components with column i are λ₁x·cos + λ₂y·sin and
	// −λ₁x·sin + λ₂y·cos, λ₁ = p and λ₂ = q being the eigenvalues.
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

// reassignSides moves columns between the two sides until each column is on the side of the nearer component. Neither
// side becomes empty. a contains the correlations of the columns. The search for the components of the two sides begins
// at the two vectors of last.
func (d *clusterer) reassignSides(a kernel.Matrix[float64], side []int, last [2][]float64) error {
	n := len(side)
	split := func() (in [2][]int) {
		for i, s := range side {
			in[s] = append(in[s], i)
		}
		return in
	}
	in := split()
	for s := range in { // if one side has all columns, move the column that has least in common with the rest
		if len(in[s]) == n {
			c, err := d.search.findLeadingComponents(a, in[s], nil, finalGoal())
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
			c, err := d.search.findLeadingComponents(a, in[s], [][]float64{start}, sortingGoal())
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
		previous := slices.Clone(side)
		for i, s := range side {
			if near[1-s][i] > near[s][i]*(1+tieMargin) {
				side[i] = 1 - s
			}
		}
		if in = split(); len(in[0]) == 0 || len(in[1]) == 0 {
			copy(side, previous)
			return nil
		}
		if slices.Equal(side, previous) {
			return nil
		}
	}
	return nil
}

// tieMargin is the relative margin by which a number must exceed another number to be considered larger. It is larger
// than rounding errors, so that these do not decide between equal numbers.
const tieMargin = 1e-9

// UncorrelatedChoice is a choice of columns of which no two have an absolute correlation above a threshold.
type UncorrelatedChoice struct {
	Kept    []int // ascending
	Dropped []Drop
}

// Drop is a column that was dropped because its correlation with the kept column For is above the threshold.
type Drop struct {
	Column, For int
	Correlation float64
}

// ChooseUncorrelated chooses columns so that no two kept columns have an absolute correlation above the threshold, and
// every dropped column has an absolute correlation above the threshold with a kept column. So the kept columns are a
// maximal independent set of the graph that joins pairs above the threshold. Again and again it keeps the undecided
// column with the most undecided neighbours, or of several such columns the first by name, and drops these neighbours.
// Drop.For is the kept column whose correlation with the dropped column is largest. ChooseUncorrelated costs O(d²).
//
// In contrast, findCorrelation of the R package caret examines the pairs in column order and drops the column with the
// larger mean correlation. It may drop columns that are not correlated with a kept column above the threshold.
func (m *Matrix) ChooseUncorrelated(threshold float64) UncorrelatedChoice {
	above := func(r float64) bool { return math.Abs(r) > threshold }
	degree, state := make([]int, m.D), make([]byte, m.D)
	const open, kept, gone = 0, 1, 2
	for i := range m.D {
		for j, r := range m.correlationsOf(i) {
			if i != j && above(r) {
				degree[i]++
			}
		}
	}
	remove := func(i int) {
		for j, r := range m.correlationsOf(i) {
			if i != j && above(r) {
				degree[j]--
			}
		}
	}
	for {
		best := -1
		for i, s := range state {
			if s == open && (best < 0 || degree[i] > degree[best]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		state[best] = kept
		remove(best)
		for j, r := range m.correlationsOf(best) {
			if state[j] == open && above(r) {
				state[j] = gone
				remove(j)
			}
		}
	}
	var a UncorrelatedChoice
	for i, s := range state {
		if s == kept {
			a.Kept = append(a.Kept, i)
			continue
		}
		d := Drop{Column: i, For: -1}
		for j, r := range m.correlationsOf(i) {
			if state[j] == kept && (d.For < 0 || math.Abs(r) > math.Abs(d.Correlation)) {
				d.For, d.Correlation = j, r
			}
		}
		a.Dropped = append(a.Dropped, d)
	}
	return a
}
