package greedy

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Target is the matrix B to be reconstructed from the chosen columns, seen from the
// features: H = BᵀX.
type Target struct {
	Rows int       // c, the columns of B
	H    []float64 // c×d row-major; Hᵢ column i is Bᵀxᵢ
	// Own says that column j of B is made of feature j alone: it leaves the target of a second
	// layer with the feature. Other targets stay whole.
	Own bool
}

// target is H as the engine works with it, c×d in the form LU.
//
// Where G and H are in full L is the identity and U is H itself. Where G = RᵀR is a factor, no
// d×d matrix is made: all that the algorithm takes from H are products of its columns, HᵀH = UᵀKU,
// and K = LᵀL is a small matrix.
//
//	H = G        U = R    K = RRᵀ                   G² = Rᵀ(RRᵀ)R
//	H = BᵀX      U = R    K = Σ bbᵀ, b = Σ rᵢ over the features of a group (Algorithm 2)
//	H = CᵀS^(t−1)C    U = C    K = S^(t−1)CCᵀS^(t−1)    (graph greedy; see [anchor.Graph.Smooth])
type target struct {
	rows int                    // c: of L
	full int                    // rows of H in full: what is made of them must not depend on the form
	r    *gram.Matrix           // whose R is U; nil where u is there
	u    kernel.Matrix[float64] // Uᵀ, its rows are features
	thin *thinColumns           // U by its columns in place of u; nil of others
	root kernel.Matrix[float64] // L; without a dual it is the identity
	// order has the row of U that each column of root is for: in the order of pivots, so that root is 0 below
	// its diagonal, and a product with many columns half the work.
	order []int
	same  bool // H = G in full: υ = ω
	self  bool // H = G, in full or as factors
	own   bool // of features, which leave it with a layer
	// dual is K of the features that are not out, where there is a root and a layer changes it.
	dual func(out []bool) kernel.Matrix[float64]

	unit    float64 // of H in the form LU where G is not there: that of the rows
	without []bool  // rows of H that belong to features of earlier layers, where it is in full; nil for none
	scratch []float64
}

// fullTarget is H = G in full.
func fullTarget(g *gram.Matrix) *target {
	return &target{rows: g.D, full: g.D, u: kernel.RowMajor(g.Sym, g.D, g.D, g.D), same: true, self: true, own: true}
}

// targetOf is H in full.
func (t *Target) target(d int) *target {
	return &target{rows: t.Rows, full: t.Rows, u: kernel.RowMajor(t.H, t.Rows, d, d).Trans(), own: t.Own}
}

// factoredTarget is H = G where G is a factor.
func factoredTarget(team *kernel.Team, g *gram.Matrix) (*target, error) {
	t := &target{full: g.D, r: g, self: true, own: true}
	t.dual = func(out []bool) kernel.Matrix[float64] {
		if out == nil {
			return kernel.RowMajor(slices.Clone(g.Dual(team.Threads())), g.Rank, g.Rank, g.Rank)
		}
		k := kernel.RowMajor(make([]float64, g.Rank*g.Rank), g.Rank, g.Rank, g.Rank)
		g.Panels(team.Threads(), func(from, n int, features []float64) {
			addDual(team, k, kernel.RowMajor(features, n, g.Rank, g.Rank), out[from:])
		})
		kernel.Mirror(team.Threads(), k)
		return k
	}
	return t, t.begin(team, nil)
}

// groupTarget is H = BᵀX for the sums of groups of features, where G is a factor. Columns of group
// -1 are in none. H itself is made where there are no more groups than rows.
func groupTarget(team *kernel.Team, g *gram.Matrix, groups []int) (*target, error) {
	c, r := groupCount(groups), g.Rank
	sums := kernel.RowMajor(make([]float64, c*r), c, r, r)
	room := make([]float64, r)
	for i, j := range groups {
		if j >= 0 {
			floats.Add(sums.Data[j*r:(j+1)*r], g.Feature(room, i))
		}
	}
	if c <= r {
		t := Target{Rows: c, H: make([]float64, c*g.D)}
		g.AddUps(team.Threads(), c, sums.Data, t.H)
		return t.target(g.D), nil
	}
	t := &target{full: c, r: g, dual: func([]bool) kernel.Matrix[float64] { return dualOf(team, sums, nil) }}
	return t, t.begin(team, nil)
}

// dualOf is Σ uuᵀ over the rows u of U that are not out.
func dualOf(team *kernel.Team, u kernel.Matrix[float64], out []bool) kernel.Matrix[float64] {
	k := kernel.RowMajor(make([]float64, u.Cols*u.Cols), u.Cols, u.Cols, u.Cols)
	addDual(team, k, u, out)
	kernel.Mirror(team.Threads(), k)
	return k
}

// addDual adds to the upper triangle of k.
func addDual(team *kernel.Team, k, u kernel.Matrix[float64], out []bool) {
	for from := 0; from < u.Rows; {
		for from < u.Rows && out != nil && out[from] {
			from++
		}
		to := from
		for to < u.Rows && (out == nil || !out[to]) {
			to++
		}
		if to > from {
			kernel.Syrk(team, 1, u.Sub(from, 0, to-from, u.Cols).Trans(), k)
		}
		from = to
	}
}

// width is the number of rows of U.
func (t *target) width() int {
	switch {
	case t.thin != nil:
		return t.thin.M
	case t.r != nil:
		return t.r.Rank
	}
	return t.u.Cols
}

// featureTo writes column j of unit·U to row.
func (t *target) featureTo(row []float64, unit float64, j int) {
	if t.r != nil {
		floats.ScaleTo(row, unit, t.r.Feature(row, j))
		return
	}
	feature := t.u.Data[j*t.u.RowStride:]
	if t.u.ColStride == 1 {
		floats.ScaleTo(row, unit, feature[:len(row)])
		return
	}
	for r := range row {
		row[r] = unit * feature[r*t.u.ColStride]
	}
}

// begin makes the root for a layer without the features that are out.
func (t *target) begin(team *kernel.Team, out []bool) error {
	if !t.own {
		out = nil
	}
	if t.dual == nil {
		t.without = out
		return nil
	}
	if t.rows > 0 && !t.own {
		return nil // as it was
	}
	return t.rootOf(team, t.dual(out))
}

// rootOf makes the root of K, which it uses up.
func (t *target) rootOf(team *kernel.Team, k kernel.Matrix[float64]) error {
	unit := unitOf(k.Data)
	floats.Scale(unit, k.Data)
	root, pivots, err := linalg.Root(team, k)
	if err != nil {
		return stream.Dataf("", "the products of the rows are not finite; scale the columns")
	}
	floats.Scale(1/math.Sqrt(unit), root.Data)
	if t.thin != nil {
		t.thin.turn(root)
	}
	n, taken := root.Cols, make([]bool, root.Cols)
	for _, j := range pivots {
		taken[j] = true
	}
	for j := range n {
		if !taken[j] {
			pivots = append(pivots, j)
		}
	}
	kernel.Each(team.Threads(), tasks(root.Rows, rowsPerTask), func(task int) {
		from, to := span(task, rowsPerTask, root.Rows)
		room := make([]float64, n)
		for i := from; i < to; i++ {
			row := root.Data[i*n:][:n]
			for c, j := range pivots {
				room[c] = row[j]
			}
			copy(row, room)
		}
	})
	t.root, t.order, t.rows = root, pivots, root.Rows
	return nil
}

// ordered writes unit·u, one number for each row of U, to dst in the order of root's columns.
func (t *target) ordered(dst []float64, unit float64, u []float64) {
	for c, j := range t.order {
		dst[c] = unit * u[j]
	}
}

// rowsTo writes columns of unit·H as the rows of dst, n×c: those of the features listed, or from
// `from` on where the list is nil.
func (t *target) rowsTo(team *kernel.Team, dst kernel.Matrix[float64], unit float64, list []int, from int) {
	if t.thin != nil {
		t.thin.rowsTo(team, dst, unit, list, from)
		return
	}
	to, width := dst, t.width()
	if t.dual != nil {
		if need := dst.Rows * width; len(t.scratch) < need {
			t.scratch = make([]float64, need)
		}
		to = kernel.RowMajor(t.scratch, dst.Rows, width, width)
	}
	kernel.Each(team.Threads(), tasks(dst.Rows, rowsPerTask), func(task int) {
		first, end := span(task, rowsPerTask, dst.Rows)
		room := make([]float64, width)
		for i := first; i < end; i++ {
			j := from + i
			if list != nil {
				j = list[i]
			}
			row := to.Data[i*to.RowStride:][:width]
			if t.dual != nil {
				t.featureTo(room, 1, j)
				t.ordered(row, unit, room)
				continue
			}
			t.featureTo(row, unit, j)
			for r, gone := range t.without {
				if gone {
					row[r] = 0
				}
			}
		}
	})
	if t.dual == nil {
		return
	}
	clear(dst.Data[:dst.Rows*dst.RowStride])
	if dst.Rows == 1 { // one reading of L, where a product packs it
		kernel.Gemv(team.Threads(), t.rows, width, t.root.Data, width, to.Data, dst.Data)
		return
	}
	for at := 0; at < t.rows; at += rootRows {
		n := min(rootRows, t.rows-at)
		kernel.Gemm(team, 1, to.Sub(0, at, dst.Rows, width-at), t.root.Sub(at, at, n, width-at).Trans(), dst.Sub(0, at, dst.Rows, n))
	}
}

// rootRows of L are multiplied at a time, by what is not 0 in them.
const rootRows = 256

// downTo writes Lᵀx to z, as long as U is high.
func (t *target) downTo(workers int, z, x []float64) {
	ordered := make([]float64, len(z))
	kernel.Each(workers, tasks(len(z), colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, len(z))
		for i, v := range x[:min(to, len(x))] { // further rows are 0 there
			kernel.Axpy(v, t.root.Data[i*len(z)+from:i*len(z)+to], ordered[from:to])
		}
		for c := from; c < to; c++ {
			z[t.order[c]] = ordered[c]
		}
	})
}

// addTimes adds Hᵀx to h, d numbers.
func (t *target) addTimes(workers int, h, x []float64) {
	if t.dual != nil {
		z := make([]float64, t.width())
		t.downTo(workers, z, x)
		x = z
	}
	switch {
	case t.thin != nil:
		t.thin.AddProduct(workers, x, h)
		return
	case t.r != nil:
		t.r.AddUp(workers, x, h)
		return
	}
	if t.u.ColStride == 1 {
		kernel.Gemv(workers, t.u.Rows, t.u.Cols, t.u.Data, t.u.RowStride, x, h)
		return
	}
	kernel.Each(workers, tasks(len(h), colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, len(h))
		for r, v := range x {
			kernel.Axpy(v, t.u.Data[r*t.u.ColStride+from:r*t.u.ColStride+to], h[from:to])
		}
	})
}
