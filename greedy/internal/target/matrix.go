package target

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// ResidualColumns is the number of columns of the residual target that are computed together.
	ResidualColumns = 128
)

// UnitScale returns the power of 4 by which x must be multiplied, so that its largest absolute value is in [1/2, 2).
func UnitScale(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		if v = math.Abs(v); v > largest && v <= math.MaxFloat64 {
			largest = v
		}
	}
	_, e := math.Frexp(largest)
	// 2^1022 is the largest power of 4. If it does not scale `largest` to 1/2, the scaled value is smaller.
	return math.Ldexp(1, max(min(-(e&^1), 1022), -1022))
}

// Matrix is the c×d matrix H = BᵀX for a target B and the data X, in the form of a product LU.
//
// If G and H are full matrices, L is the identity and U is H itself. If G = RᵀR is given by its factor R, no d×d matrix
// is made, and LU replaces H. The algorithm uses only HᵀH = UᵀKU, with a small matrix K = LᵀL.
//
//	H = G        U = R    K = RRᵀ                   G² = Rᵀ(RRᵀ)R
//	H = BᵀX      U = R    K = Σ bbᵀ over the groups, b = Σ rᵢ over the features of a group (Algorithm 2)
//	H = CᵀS^(t−1)C    U = C    K = S^(t−1)CCᵀS^(t−1)    (graph greedy; see [anchor.Graph.Smooth])
type Matrix struct {
	Height     int                    // c, the number of rows of L
	FullHeight int                    // rows of H in full, for rules that must not depend on the form
	factor     *gram.Matrix           // factor whose R is U; nil if the field U is used
	U          kernel.Matrix[float64] // Uᵀ, its rows are features
	thin       *thinColumns           // U by the entries of its columns, in place of the field U; else nil
	Root       kernel.Matrix[float64] // L; without a dual it is the identity
	// pivotOrder[i] is the row of U that belongs to column i of Root. Columns are in the order of pivots, so that Root
	// is 0 below its diagonal and products with several columns cost half the work.
	pivotOrder   []int
	IsGram       bool // H = G in full: υ = ω
	IsSelf       bool // H = G, in full or as factors
	OwnsFeatures bool // rows of H belong to features, and leave the target together with these features
	// Dual returns K without the excluded features. It is nil if L is the identity.
	Dual func(excluded []bool) kernel.Matrix[float64]

	Unit         float64 // if there is no G, the scale factor of H in the form LU, equal to the reader's unit
	excludedRows []bool  // rows of H that belong to features of earlier layers, if H is in full; may be nil
	scratch      []float64
}

// NewGram returns the target H = G for a G in full.
func NewGram(g *gram.Matrix) *Matrix {
	return &Matrix{Height: g.D, FullHeight: g.D, U: kernel.RowMajor(g.Sym, g.D, g.D, g.D), IsGram: true, IsSelf: true, OwnsFeatures: true}
}

// NewGiven returns the target with the matrix H given by t, for d features.
func NewGiven(t selection.Target, d int) *Matrix {
	return &Matrix{Height: t.Rows, FullHeight: t.Rows, U: kernel.RowMajor(t.H, t.Rows, d, d).Trans(), OwnsFeatures: t.Own}
}

// NewFactored returns the target H = G for a factor G = RᵀR. It costs r²d flops for r rows of R.
func NewFactored(team *kernel.Team, g *gram.Matrix) (*Matrix, error) {
	t := &Matrix{FullHeight: g.D, factor: g, IsSelf: true, OwnsFeatures: true}
	t.Dual = func(excluded []bool) kernel.Matrix[float64] {
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
	return t, t.StartLayer(team, nil)
}

// groupTarget returns H = BᵀX if G is a factor. The columns of B are the sums of groups of features, and features of
// group -1 are in no group. H itself is computed if there are at most as many groups as rows of the factor.
func groupTarget(team *kernel.Team, g *gram.Matrix, groups []int) (*Matrix, error) {
	c, r := GroupCount(groups), g.Rank
	sums := kernel.RowMajor(make([]float64, c*r), c, r, r)
	room := make([]float64, r)
	for i, j := range groups {
		if j >= 0 {
			floats.Add(sums.Data[j*r:(j+1)*r], g.Feature(room, i))
		}
	}
	if c <= r {
		t := selection.Target{Rows: c, H: make([]float64, c*g.D)}
		g.AddUps(team.Threads(), c, sums.Data, t.H)
		return NewGiven(t, g.D), nil
	}
	t := &Matrix{FullHeight: c, factor: g, Dual: func([]bool) kernel.Matrix[float64] { return dualMatrix(team, sums, nil) }}
	return t, t.StartLayer(team, nil)
}

// dualMatrix returns Σ uuᵀ over the rows of the parameter u that are not excluded.
func dualMatrix(team *kernel.Team, u kernel.Matrix[float64], excluded []bool) kernel.Matrix[float64] {
	k := kernel.RowMajor(make([]float64, u.Cols*u.Cols), u.Cols, u.Cols, u.Cols)
	addToDualMatrix(team, k, u, excluded)
	kernel.MirrorUpper(team.Threads(), k)
	return k
}

func addToDualMatrix(team *kernel.Team, dual, features kernel.Matrix[float64], excluded []bool) {
	for from := 0; from < features.Rows; {
		for from < features.Rows && excluded != nil && excluded[from] {
			from++
		}
		to := from
		for to < features.Rows && (excluded == nil || !excluded[to]) {
			to++
		}
		if to > from {
			kernel.Syrk(team, 1, features.Sub(from, 0, to-from, features.Cols).Trans(), dual)
		}
		from = to
	}
}

// RootWidth returns the number of columns of L, which is the number of rows of U.
func (t *Matrix) RootWidth() int {
	switch {
	case t.thin != nil:
		return t.thin.M
	case t.factor != nil:
		return t.factor.Rank
	}
	return t.U.Cols
}

// CopyFeatureTo writes unit times column j of U to row.
func (t *Matrix) CopyFeatureTo(row []float64, unit float64, j int) {
	if t.factor != nil {
		floats.ScaleTo(row, unit, t.factor.Feature(row, j))
		return
	}
	feature := t.U.Data[j*t.U.RowStride:]
	if t.U.ColStride == 1 {
		floats.ScaleTo(row, unit, feature[:len(row)])
		return
	}
	for r := range row {
		row[r] = unit * feature[r*t.U.ColStride]
	}
}

// StartLayer takes the excluded features, if H has rows or columns of them, out of the target.
func (t *Matrix) StartLayer(team *kernel.Team, excluded []bool) error {
	if !t.OwnsFeatures {
		excluded = nil
	}
	if t.Dual == nil {
		t.excludedRows = excluded
		return nil
	}
	if t.Height > 0 && !t.OwnsFeatures {
		return nil // unchanged
	}
	return t.SetRoot(team, t.Dual(excluded))
}

// SetRoot computes L with LᵀL = K. It overwrites K.
func (t *Matrix) SetRoot(team *kernel.Team, k kernel.Matrix[float64]) error {
	unit := UnitScale(k.Data)
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
	kernel.Each(team.Threads(), tasks.TaskCount(root.Rows, tasks.RowsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.RowsPerTask, root.Rows)
		room := make([]float64, n)
		for i := from; i < to; i++ {
			row := root.Data[i*n:][:n]
			for c, j := range pivots {
				room[c] = row[j]
			}
			copy(row, room)
		}
	})
	t.Root, t.pivotOrder, t.Height = root, pivots, root.Rows
	return nil
}

// OrderByPivotsTo writes unit·u, one number for each row of U, to dst in the order of the columns of Root.
func (t *Matrix) OrderByPivotsTo(dst []float64, unit float64, u []float64) {
	for c, j := range t.pivotOrder {
		dst[c] = unit * u[j]
	}
}

// WriteColumns writes columns of unit·H to the rows of dst, n×c. If list is nil, these are consecutive columns,
// beginning with column `from`, and otherwise the columns of the listed features.
func (t *Matrix) WriteColumns(team *kernel.Team, dst kernel.Matrix[float64], unit float64, list []int, from int) {
	if t.thin != nil {
		t.thin.writeColumns(team, dst, unit, list, from)
		return
	}
	to, width := dst, t.RootWidth()
	if t.Dual != nil {
		if need := dst.Rows * width; len(t.scratch) < need {
			t.scratch = make([]float64, need)
		}
		to = kernel.RowMajor(t.scratch, dst.Rows, width, width)
	}
	kernel.Each(team.Threads(), tasks.TaskCount(dst.Rows, tasks.RowsPerTask), func(task int) {
		first, end := tasks.TaskRange(task, tasks.RowsPerTask, dst.Rows)
		var room []float64
		if t.Dual != nil {
			room = make([]float64, width)
		}
		for i := first; i < end; i++ {
			j := from + i
			if list != nil {
				j = list[i]
			}
			row := to.Data[i*to.RowStride:][:width]
			if t.Dual != nil {
				t.CopyFeatureTo(room, 1, j)
				t.OrderByPivotsTo(row, unit, room)
				continue
			}
			t.CopyFeatureTo(row, unit, j)
			for r, gone := range t.excludedRows {
				if gone {
					row[r] = 0
				}
			}
		}
	})
	if t.Dual == nil {
		return
	}
	clear(dst.Data[:dst.Rows*dst.RowStride])
	if dst.Rows == 1 { // this reads L once, while a product would pack it
		kernel.Gemv(team.Threads(), t.Height, width, t.Root.Data, width, to.Data, dst.Data)
		return
	}
	for at := 0; at < t.Height; at += rootRows {
		n := min(rootRows, t.Height-at)
		kernel.Gemm(team, 1, to.Sub(0, at, dst.Rows, width-at), t.Root.Sub(at, at, n, width-at).Trans(), dst.Sub(0, at, dst.Rows, n))
	}
}

// rootRows is the number of rows of L that are multiplied at a time, without the zeros below their diagonal.
const rootRows = 256

// RootTransposeProductTo writes Lᵀx to z, one number for each row of U.
func (t *Matrix) RootTransposeProductTo(workers int, z, x []float64) {
	ordered := make([]float64, len(z))
	kernel.Each(workers, tasks.TaskCount(len(z), tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, len(z))
		for i, v := range x[:min(to, len(x))] { // further rows are 0 in these columns
			kernel.Axpy(v, t.Root.Data[i*len(z)+from:i*len(z)+to], ordered[from:to])
		}
		for c := from; c < to; c++ {
			z[t.pivotOrder[c]] = ordered[c]
		}
	})
}

// AddTransposeProduct adds Hᵀx to the d numbers of h.
func (t *Matrix) AddTransposeProduct(workers int, h, x []float64) {
	if t.Dual != nil {
		z := make([]float64, t.RootWidth())
		t.RootTransposeProductTo(workers, z, x)
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
	if t.U.ColStride == 1 {
		kernel.Gemv(workers, t.U.Rows, t.U.Cols, t.U.Data, t.U.RowStride, x, h)
		return
	}
	kernel.Each(workers, tasks.TaskCount(len(h), tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, len(h))
		for r, v := range x {
			kernel.Axpy(v, t.U.Data[r*t.U.ColStride+from:r*t.U.ColStride+to], h[from:to])
		}
	})
}
