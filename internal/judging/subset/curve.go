package subset

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// dependentShare is a share of a column's sum of squares. If the columns taken before leave less than this share
// unexplained, the residual is considered rounding error, and taking the column explains nothing more. Package greedy
// uses the same bound.
const dependentShare = 1e-8

// constantShare is a share of a column's sum of squares. If less than this share remains after centring, the rest is
// considered rounding error, and the column constant.
const constantShare = 1e-10

// Curve holds the variance explained by columns that are taken one after the other. Slices have one entry for each
// column taken, in the order of taking.
type Curve struct {
	Total float64   // ‖X‖²: the trace of G
	Pivot []float64 // residual sum of squares of each column when it was taken; 0 if it is rounding error
	Left  []float64 // residual ‖X − P_S X‖² after each column, P_S projecting on the columns S taken so far

	// State while columns are taken.
	gram            *gram.Matrix
	columnBuffer    []float64 // one column of G, if G is given by a factor
	d, capacity     int
	factor          []float64 // L of G ≈ LLᵀ, d×capacity, row-major; lower triangular if rows are in the order of taking
	residualSquares []float64 // d: residual square of each column
	squares         []float64 // d: the diagonal of G
	isTaken         []bool    // d
	mean            []float64 // centring subtracts weight·mean·meanᵀ from G; nil if the columns are centred already
	weight          float64
	threads         int
}

// NewCurve returns a Curve, the variance explained by columns taken one after the other, before the first of at most
// maxColumns columns is taken. It does not change the Gram matrix g of the columns. It needs the memory given by
// [CurveBytes].
func NewCurve(g *gram.Matrix, maxColumns, threads int) *Curve {
	return newCurve(g, maxColumns, threads, nil, 0)
}

// newCurve does the same as NewCurve for columns that are not centred: it subtracts weight·mean·meanᵀ from their Gram
// matrix G. If only rounding errors are left of a column after centring, the column is considered constant.
func newCurve(g *gram.Matrix, maxColumns, threads int, mean []float64, weight float64) *Curve {
	d := g.D
	if g.Check() != nil || maxColumns < 0 || maxColumns > d {
		panic(fmt.Sprintf("subset: a curve of %d of %d columns: %v", maxColumns, d, g.Check()))
	}
	c := &Curve{gram: g, d: d, capacity: maxColumns, threads: threads, mean: mean, weight: weight}
	c.layOut(nil, d, maxColumns, g.IsFactor())
	c.squares = g.Diagonal(threads)
	for i, m := range mean {
		original := c.squares[i]
		if c.squares[i] -= weight * (m * m); c.squares[i] <= constantShare*original {
			c.squares[i] = 0
		}
	}
	copy(c.residualSquares, c.squares)
	c.Total = sumValues(c.residualSquares)
	return c
}

func (c *Curve) layOut(l *room.Layout, d, k int, isFactor bool) {
	c.factor = room.Slice[float64](l, d*k)
	c.residualSquares, c.isTaken = room.Slice[float64](l, d), room.Slice[bool](l, d)
	c.Pivot, c.Left = room.Slice[float64](l, k)[:0], room.Slice[float64](l, k)[:0]
	if isFactor {
		c.columnBuffer = room.Slice[float64](l, d)
	}
	l.Add(8 * int64(d)) // squares, by [gram.Matrix.Diagonal]
}

// CurveBytes returns the memory of a [Curve] of at most k of d columns, and of a model of unrelated columns to compare
// it with.
func CurveBytes(d, k int) int64 {
	return room.Measure(func(l *room.Layout) {
		new(Curve).layOut(l, d, k, true)
		layOutNullModel(l, d)
	})
}

// taskColumns is the number of columns in a parallel task. It is fixed, so that sums do not depend on threads.
const taskColumns = 256

// TakeColumn adds column p to the columns whose explained variance the curve holds. This is a step of Cholesky's
// factorization with p as pivot, and costs 2·d·k flops for the k-th column:
//
//	ℓᵢ = (Gᵢₚ − Σ_t Lᵢₜ Lₚₜ) / √gₚ,  g ← g − ℓ∘ℓ
//
// g contains the residual squares of the columns, and ℓ becomes the next column of L.
func (c *Curve) TakeColumn(p int) {
	t, pivot := len(c.Pivot), c.residualSquares[p]
	c.isTaken[p] = true
	if pivot <= dependentShare*c.squares[p] {
		c.Pivot, c.Left = append(c.Pivot, 0), append(c.Left, sumValues(c.residualSquares))
		c.residualSquares[p] = 0
		return
	}
	root := math.Sqrt(pivot)
	pivotRow, column := c.factor[p*c.capacity:][:t], c.gram.Row(c.threads, c.columnBuffer, p)
	kernel.Each(c.threads, (c.d+taskColumns-1)/taskColumns, func(b int) {
		for i := b * taskColumns; i < min(c.d, (b+1)*taskColumns); i++ {
			if i == p { // all tasks read row p, so none may change it
				continue
			}
			row, entry := c.factor[i*c.capacity:][:t+1], column[i]
			if c.mean != nil {
				entry -= c.weight * (c.mean[i] * c.mean[p])
			}
			row[t] = (entry - kernel.Dot(row[:t], pivotRow)) / root
			c.residualSquares[i] = max(c.residualSquares[i]-row[t]*row[t], 0)
		}
	})
	c.factor[p*c.capacity+t] = root
	c.residualSquares[p] = 0
	c.Pivot, c.Left = append(c.Pivot, pivot), append(c.Left, sumValues(c.residualSquares))
}

// ExplainedShare returns the share of ‖X‖² that the columns taken so far explain, or 1 if ‖X‖ = 0.
func (c *Curve) ExplainedShare() float64 {
	switch n := len(c.Left); {
	case c.Total <= 0:
		return 1
	case n == 0:
		return 0
	default:
		return min(max(1-c.Left[n-1]/c.Total, 0), 1)
	}
}

// ExplainedShare returns the share of the trace of G that the chosen columns explain. For k chosen columns it costs
// d·k² flops, and needs the memory given by [CurveBytes]. If G is given by a factor of r rows, and [gram.Matrix.Dual]
// was called before, it costs r·k² + r²·k flops.
func ExplainedShare(g *gram.Matrix, chosen []int, threads int) float64 {
	if g.IsFactor() {
		return explainedByDual(g, chosen, threads)
	}
	c := NewCurve(g, len(chosen), threads)
	for _, p := range chosen {
		c.TakeColumn(p)
	}
	return c.ExplainedShare()
}

// explainedByDual computes the share that the chosen columns explain from the dual RRᵀ of the factor R of G. The share
// is Σ qᵀRRᵀq/tr(RRᵀ). The sum is over an orthonormal basis of vectors q of the space of R's chosen columns.
func explainedByDual(g *gram.Matrix, chosen []int, threads int) float64 {
	r := g.Rank
	dual := g.Dual(threads)
	total, share := 0.0, 0.0
	for i := range r {
		total += dual[i*r+i]
	}
	if total <= 0 {
		return 1
	}
	var basis [][]float64
	times := make([]float64, r)
	for _, p := range chosen {
		q := make([]float64, r)
		copy(q, g.Feature(q, p))
		square := kernel.Dot(q, q)
		for range 2 {
			for _, v := range basis {
				kernel.Axpy(-kernel.Dot(v, q), v, q)
			}
		}
		residual := kernel.Dot(q, q)
		if residual <= dependentShare*square {
			continue
		}
		clear(times)
		kernel.Gemv(threads, r, r, dual, r, q, times)
		share += kernel.Dot(q, times) / residual
		for i := range q {
			q[i] /= math.Sqrt(residual)
		}
		basis = append(basis, q)
	}
	return min(max(share/total, 0), 1)
}

func sumValues(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
