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

// Target is the matrix B to be reconstructed from the chosen columns. It is given by its products H = BᵀX with X.
type Target struct {
	Rows int       // c, the columns of B
	H    []float64 // c×d row-major; column i is Bᵀxᵢ
	// Own means that column j of B is made of feature j alone. Such a column leaves the target of a second layer
	// together with the feature. Other targets stay whole.
	Own bool
}

// target is H, c×d, in the form LU.
//
// If G and H are full matrices, L is the identity and U is H itself. If G = RᵀR is given by its factor R, no d×d matrix
// is made, and LU replaces H. The algorithm uses only HᵀH = UᵀKU, with a small matrix K = LᵀL.
//
//	H = G        U = R    K = RRᵀ                   G² = Rᵀ(RRᵀ)R
//	H = BᵀX      U = R    K = Σ bbᵀ over the groups, b = Σ rᵢ over the features of a group (Algorithm 2)
//	H = CᵀS^(t−1)C    U = C    K = S^(t−1)CCᵀS^(t−1)    (graph greedy; see [anchor.Graph.Smooth])
type target struct {
	height     int                    // c, the number of rows of L
	fullHeight int                    // rows of H in full, for rules that must not depend on the form
	factor     *gram.Matrix           // factor whose R is U; nil if u is used
	u          kernel.Matrix[float64] // Uᵀ, its rows are features
	thin       *thinColumns           // U by the entries of its columns, in place of u; else nil
	root       kernel.Matrix[float64] // L; without a dual it is the identity
	// pivotOrder[i] is the row of U that belongs to column i of root. Columns are in the order of pivots, so that root
	// is 0 below its diagonal and products with several columns cost half the work.
	pivotOrder   []int
	isGram       bool // H = G in full: υ = ω
	isSelf       bool // H = G, in full or as factors
	ownsFeatures bool // rows of H belong to features, and leave the target together with these features
	// dual returns K without the excluded features. It is nil if there is no root.
	dual func(excluded []bool) kernel.Matrix[float64]

	unit         float64 // if there is no G, the scale factor of H in the form LU, equal to the reader's unit
	excludedRows []bool  // rows of H that belong to features of earlier layers, if H is in full; may be nil
	scratch      []float64
}

func gramTarget(g *gram.Matrix) *target {
	return &target{height: g.D, fullHeight: g.D, u: kernel.RowMajor(g.Sym, g.D, g.D, g.D), isGram: true, isSelf: true, ownsFeatures: true}
}

func (t *Target) toTarget(d int) *target {
	return &target{height: t.Rows, fullHeight: t.Rows, u: kernel.RowMajor(t.H, t.Rows, d, d).Trans(), ownsFeatures: t.Own}
}

func factoredTarget(team *kernel.Team, g *gram.Matrix) (*target, error) {
	t := &target{fullHeight: g.D, factor: g, isSelf: true, ownsFeatures: true}
	t.dual = func(excluded []bool) kernel.Matrix[float64] {
		if excluded == nil {
			return kernel.RowMajor(slices.Clone(g.Dual(team.Threads())), g.Rank, g.Rank, g.Rank)
		}
		k := kernel.RowMajor(make([]float64, g.Rank*g.Rank), g.Rank, g.Rank, g.Rank)
		g.Panels(team.Threads(), func(from, n int, features []float64) {
			addToDualMatrix(team, k, kernel.RowMajor(features, n, g.Rank, g.Rank), excluded[from:])
		})
		kernel.MirrorUpper(team.Threads(), k)
		return k
	}
	return t, t.startLayer(team, nil)
}

// groupTarget returns H = BᵀX if G is a factor. The columns of B are the sums of groups of features, and features of
// group -1 are in no group. H itself is computed if there are at most as many groups as rows of the factor.
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
		return t.toTarget(g.D), nil
	}
	t := &target{fullHeight: c, factor: g, dual: func([]bool) kernel.Matrix[float64] { return dualMatrix(team, sums, nil) }}
	return t, t.startLayer(team, nil)
}

// dualMatrix returns Σ uuᵀ over the rows of the parameter u that are not excluded.
func dualMatrix(team *kernel.Team, u kernel.Matrix[float64], excluded []bool) kernel.Matrix[float64] {
	k := kernel.RowMajor(make([]float64, u.Cols*u.Cols), u.Cols, u.Cols, u.Cols)
	addToDualMatrix(team, k, u, excluded)
	kernel.MirrorUpper(team.Threads(), k)
	return k
}

func addToDualMatrix(team *kernel.Team, k, u kernel.Matrix[float64], excluded []bool) {
	for from := 0; from < u.Rows; {
		for from < u.Rows && excluded != nil && excluded[from] {
			from++
		}
		to := from
		for to < u.Rows && (excluded == nil || !excluded[to]) {
			to++
		}
		if to > from {
			kernel.Syrk(team, 1, u.Sub(from, 0, to-from, u.Cols).Trans(), k)
		}
		from = to
	}
}

func (t *target) rootWidth() int {
	switch {
	case t.thin != nil:
		return t.thin.M
	case t.factor != nil:
		return t.factor.Rank
	}
	return t.u.Cols
}

func (t *target) copyFeatureTo(row []float64, unit float64, j int) {
	if t.factor != nil {
		floats.ScaleTo(row, unit, t.factor.Feature(row, j))
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

func (t *target) startLayer(team *kernel.Team, excluded []bool) error {
	if !t.ownsFeatures {
		excluded = nil
	}
	if t.dual == nil {
		t.excludedRows = excluded
		return nil
	}
	if t.height > 0 && !t.ownsFeatures {
		return nil // unchanged
	}
	return t.setRoot(team, t.dual(excluded))
}

// setRoot computes L with LᵀL = K. It overwrites K.
func (t *target) setRoot(team *kernel.Team, k kernel.Matrix[float64]) error {
	unit := unitScale(k.Data)
	floats.Scale(unit, k.Data)
	root, pivots, err := linalg.PivotedRoot(team, k)
	if err != nil {
		return stream.Dataf("", "the products of the rows are not finite; scale the columns")
	}
	floats.Scale(1/math.Sqrt(unit), root.Data)
	if t.thin != nil {
		t.thin.setRoot(root)
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
	kernel.Each(team.Threads(), taskCount(root.Rows, rowsPerTask), func(task int) {
		from, to := taskRange(task, rowsPerTask, root.Rows)
		room := make([]float64, n)
		for i := from; i < to; i++ {
			row := root.Data[i*n:][:n]
			for c, j := range pivots {
				room[c] = row[j]
			}
			copy(row, room)
		}
	})
	t.root, t.pivotOrder, t.height = root, pivots, root.Rows
	return nil
}

// orderByPivotsTo writes unit·u, one number for each row of U, to dst in the order of root's columns.
func (t *target) orderByPivotsTo(dst []float64, unit float64, u []float64) {
	for c, j := range t.pivotOrder {
		dst[c] = unit * u[j]
	}
}

// writeColumns writes columns of unit·H to the rows of dst, n×c. If list is nil, these are consecutive columns,
// beginning with column `from`, and otherwise the columns of the listed features.
func (t *target) writeColumns(team *kernel.Team, dst kernel.Matrix[float64], unit float64, list []int, from int) {
	if t.thin != nil {
		t.thin.writeColumns(team, dst, unit, list, from)
		return
	}
	to, width := dst, t.rootWidth()
	if t.dual != nil {
		if need := dst.Rows * width; len(t.scratch) < need {
			t.scratch = make([]float64, need)
		}
		to = kernel.RowMajor(t.scratch, dst.Rows, width, width)
	}
	kernel.Each(team.Threads(), taskCount(dst.Rows, rowsPerTask), func(task int) {
		first, end := taskRange(task, rowsPerTask, dst.Rows)
		room := make([]float64, width)
		for i := first; i < end; i++ {
			j := from + i
			if list != nil {
				j = list[i]
			}
			row := to.Data[i*to.RowStride:][:width]
			if t.dual != nil {
				t.copyFeatureTo(room, 1, j)
				t.orderByPivotsTo(row, unit, room)
				continue
			}
			t.copyFeatureTo(row, unit, j)
			for r, gone := range t.excludedRows {
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
	if dst.Rows == 1 { // this reads L once, while a product would pack it
		kernel.Gemv(team.Threads(), t.height, width, t.root.Data, width, to.Data, dst.Data)
		return
	}
	for at := 0; at < t.height; at += rootRows {
		n := min(rootRows, t.height-at)
		kernel.Gemm(team, 1, to.Sub(0, at, dst.Rows, width-at), t.root.Sub(at, at, n, width-at).Trans(), dst.Sub(0, at, dst.Rows, n))
	}
}

// rootRows is the number of rows of L that are multiplied at a time, without the zeros below their diagonal.
const rootRows = 256

// rootTransposeProductTo writes Lᵀx to z, one number for each row of U.
func (t *target) rootTransposeProductTo(workers int, z, x []float64) {
	ordered := make([]float64, len(z))
	kernel.Each(workers, taskCount(len(z), colsPerTask), func(task int) {
		from, to := taskRange(task, colsPerTask, len(z))
		for i, v := range x[:min(to, len(x))] { // further rows are 0 in these columns
			kernel.Axpy(v, t.root.Data[i*len(z)+from:i*len(z)+to], ordered[from:to])
		}
		for c := from; c < to; c++ {
			z[t.pivotOrder[c]] = ordered[c]
		}
	})
}

// addTransposeProduct adds Hᵀx to the d numbers of h.
func (t *target) addTransposeProduct(workers int, h, x []float64) {
	if t.dual != nil {
		z := make([]float64, t.rootWidth())
		t.rootTransposeProductTo(workers, z, x)
		x = z
	}
	switch {
	case t.thin != nil:
		t.thin.AddProduct(workers, x, h)
		return
	case t.factor != nil:
		t.factor.AddUp(workers, x, h)
		return
	}
	if t.u.ColStride == 1 {
		kernel.Gemv(workers, t.u.Rows, t.u.Cols, t.u.Data, t.u.RowStride, x, h)
		return
	}
	kernel.Each(workers, taskCount(len(h), colsPerTask), func(task int) {
		from, to := taskRange(task, colsPerTask, len(h))
		for r, v := range x {
			kernel.Axpy(v, t.u.Data[r*t.u.ColStride+from:r*t.u.ColStride+to], h[from:to])
		}
	})
}
