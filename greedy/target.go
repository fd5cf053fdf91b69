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
	u    kernel.Matrix[float64] // Uᵀ, its rows are features
	thin *thinColumns           // U by its columns in place of u; nil of others
	root kernel.Matrix[float64] // L; without a dual it is the identity
	same bool                   // H = G in full: υ = ω
	self bool                   // H = G, in full or as factors
	own  bool                   // of features, which leave it with a layer
	// dual is K of the features that are not out, where there is a root and a layer changes it.
	dual func(out []bool) kernel.Matrix[float64]

	unit    float64 // of H in the form LU where G is not there: that of the rows
	without []bool  // rows of H that belong to features of earlier layers, where it is in full; nil for none
	scratch []float64
}

// factorOf is Rᵀ, d×r: the features as rows.
func factorOf(g *gram.Matrix) kernel.Matrix[float64] {
	return kernel.RowMajor(g.R, g.D, g.Rank, g.Rank)
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
	t := &target{full: g.D, u: factorOf(g), self: true, own: true}
	t.dual = func(out []bool) kernel.Matrix[float64] {
		if out == nil {
			return kernel.RowMajor(slices.Clone(g.Dual(team.Threads())), g.Rank, g.Rank, g.Rank)
		}
		return dualOf(team, t.u, out)
	}
	return t, t.begin(team, nil)
}

// groupTarget is H = BᵀX for the sums of groups of features, where G is a factor. Columns of group
// -1 are in none. H itself is made where there are no more groups than rows.
func groupTarget(team *kernel.Team, g *gram.Matrix, groups []int) (*target, error) {
	c, r := groupCount(groups), g.Rank
	sums := kernel.RowMajor(make([]float64, c*r), c, r, r)
	for i, j := range groups {
		if j >= 0 {
			floats.Add(sums.Data[j*r:(j+1)*r], g.R[i*r:(i+1)*r])
		}
	}
	if c <= r {
		t := Target{Rows: c, H: make([]float64, c*g.D)}
		kernel.Gemm(team, 1, sums, factorOf(g).Trans(), kernel.RowMajor(t.H, c, g.D, g.D))
		return t.target(g.D), nil
	}
	t := &target{full: c, u: factorOf(g), dual: func([]bool) kernel.Matrix[float64] { return dualOf(team, sums, nil) }}
	return t, t.begin(team, nil)
}

// dualOf is Σ uuᵀ over the rows u of U that are not out.
func dualOf(team *kernel.Team, u kernel.Matrix[float64], out []bool) kernel.Matrix[float64] {
	k := kernel.RowMajor(make([]float64, u.Cols*u.Cols), u.Cols, u.Cols, u.Cols)
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
	kernel.Mirror(team.Threads(), k)
	return k
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
	k := t.dual(out)
	unit := unitOf(k.Data)
	floats.Scale(unit, k.Data)
	root, err := linalg.Root(team, k)
	if err != nil {
		return stream.Dataf("", "the products of the rows are not finite; scale the columns")
	}
	floats.Scale(1/math.Sqrt(unit), root.Data)
	t.root, t.rows = root, root.Rows
	if t.thin != nil {
		t.thin.turn(root)
	}
	return nil
}

// rowsTo writes columns of unit·H as the rows of dst, n×c: those of the features listed, or from
// `from` on where the list is nil.
func (t *target) rowsTo(team *kernel.Team, dst kernel.Matrix[float64], unit float64, list []int, from int) {
	if t.thin != nil {
		t.thin.rowsTo(team, dst, unit, list, from)
		return
	}
	to, width := dst, t.u.Cols
	if t.dual != nil {
		if need := dst.Rows * width; len(t.scratch) < need {
			t.scratch = make([]float64, need)
		}
		to = kernel.RowMajor(t.scratch, dst.Rows, width, width)
	}
	kernel.Each(team.Threads(), dst.Rows, func(i int) {
		j := from + i
		if list != nil {
			j = list[i]
		}
		row, feature := to.Data[i*to.RowStride:][:width], t.u.Data[j*t.u.RowStride:]
		if t.u.ColStride == 1 {
			floats.ScaleTo(row, unit, feature[:width])
		} else {
			for r := range row {
				row[r] = unit * feature[r*t.u.ColStride]
			}
		}
		for r, gone := range t.without {
			if gone {
				row[r] = 0
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
	kernel.Gemm(team, 1, to, t.root.Trans(), dst)
}

// downTo writes Lᵀx to z, as long as U is high.
func (t *target) downTo(workers int, z, x []float64) {
	clear(z)
	kernel.Each(workers, tasks(len(z), colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, len(z))
		for i, v := range x {
			kernel.Axpy(v, t.root.Data[i*len(z)+from:i*len(z)+to], z[from:to])
		}
	})
}

// addTimes adds Hᵀx to h, d numbers.
func (t *target) addTimes(workers int, h, x []float64) {
	if t.dual != nil {
		z := make([]float64, t.root.Cols)
		t.downTo(workers, z, x)
		x = z
	}
	if t.thin != nil {
		t.thin.AddProduct(workers, x, h)
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
