package subset

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// dependentShare is the share of a column's sum of squares below which its residual is considered rounding error, so
// that the column explains nothing more. It is the same bound as in greedy.
const dependentShare = 1e-8

// constantShare is the share of a column's sum of squares below which the centred rest is considered rounding error.
const constantShare = 1e-10

// Curve is the variance explained by columns that are taken in order, one after the other. Slices parallel to the order
// have one entry for each column taken.
type Curve struct {
	Total float64   // ‖X‖²: the trace of G
	Pivot []float64 // each column's residual square when it was taken; 0 if this is rounding error
	Left  []float64 // ‖X − P_S X‖² after each column

	// State while columns are taken.
	gram            *gram.Matrix
	columnBuffer    []float64 // a column of a factor's G
	d, capacity     int
	factor          []float64 // d×capacity, row-major: G ≈ LLᵀ, L lower in the order's rows
	residualSquares []float64 // d: residual square of each column
	squares         []float64 // d: the diagonal of G
	isTaken         []bool    // d
	mean            []float64 // centring subtracts weight·mean·meanᵀ from G; nil if centred
	weight          float64
	threads         int
}

// NewCurve begins a curve of columns of G, at most the given number, and only reads G. It needs [CurveBytes] of memory.
func NewCurve(g *gram.Matrix, most, threads int) *Curve { return newCurve(g, most, threads, nil, 0) }

// newCurve begins the curve of the centred columns, whose Gram matrix is G − weight·mean·meanᵀ. A nearly constant
// column leaves only rounding errors after centring, and is considered constant.
func newCurve(g *gram.Matrix, most, threads int, mean []float64, weight float64) *Curve {
	d := g.D
	if g.Check() != nil || most < 0 || most > d {
		panic(fmt.Sprintf("subset: a curve of %d of %d columns: %v", most, d, g.Check()))
	}
	c := &Curve{gram: g, d: d, capacity: most, threads: threads, factor: make([]float64, d*most), residualSquares: make([]float64, d), isTaken: make([]bool, d), mean: mean, weight: weight}
	if g.IsFactor() {
		c.columnBuffer = make([]float64, d)
	}
	c.squares = g.Diagonal(threads)
	for i, m := range mean {
		original := c.squares[i]
		if c.squares[i] -= weight * (m * m); c.squares[i] <= constantShare*original {
			c.squares[i] = 0
		}
	}
	copy(c.residualSquares, c.squares)
	c.Total = sum(c.residualSquares)
	return c
}

// CurveBytes returns the memory of a [Curve] of k of d columns.
func CurveBytes(d, k int) int64 { return 8 * (int64(d)*int64(k) + 4*int64(d) + 2*int64(k)) }

// taskColumns is the number of columns in a parallel task. It is fixed, and no sum crosses tasks.
const taskColumns = 256

// TakeColumn adds column p to the curve: a step of Cholesky's factorization with p as pivot, which costs 2·d·k flops
// for the k-th column,
//
//	ℓᵢ = (Gᵢₚ − Σ_t Lᵢₜ Lₚₜ) / √gₚ,  g ← g − ℓ∘ℓ
//
// with g the residual squares of the columns.
func (c *Curve) TakeColumn(p int) {
	t, pivot := len(c.Pivot), c.residualSquares[p]
	c.isTaken[p] = true
	if pivot <= dependentShare*c.squares[p] {
		c.Pivot, c.Left = append(c.Pivot, 0), append(c.Left, sum(c.residualSquares))
		c.residualSquares[p] = 0
		return
	}
	root := math.Sqrt(pivot)
	pivotRow, column := c.factor[p*c.capacity:][:t], c.gram.Row(c.threads, c.columnBuffer, p)
	kernel.Each(c.threads, (c.d+taskColumns-1)/taskColumns, func(b int) {
		for i := b * taskColumns; i < min(c.d, (b+1)*taskColumns); i++ {
			if i == p { // this row is read by all tasks
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
	c.Pivot, c.Left = append(c.Pivot, pivot), append(c.Left, sum(c.residualSquares))
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

// ExplainedShare returns the share of the trace of G that its chosen columns explain. It costs d·k² flops, and needs
// [CurveBytes] of memory. For a factor of r rows it costs r·k² + r²·k flops, if its dual exists already.
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

// explainedByDual computes Σ qᵀRRᵀq/tr(RRᵀ) for an orthonormal basis q of the chosen columns of R.
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

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
