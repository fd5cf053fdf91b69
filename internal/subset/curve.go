package subset

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// dependent is the share of a column's sum of squares below which what is left of it is
// rounding: such a column explains nothing more. It is greedy's own bound.
const dependent = 1e-8

// constantShare is the share of a column's sum of squares up to which what centring leaves of it is rounding.
const constantShare = 1e-10

// Curve is what the columns of an order explain, one after the other. Slices that are
// parallel to the order have one entry a column of it.
type Curve struct {
	Total float64   // ‖X‖²: the trace of G
	Pivot []float64 // what was left of each column at its turn; 0 where that is rounding
	Left  []float64 // ‖X − P_S X‖² after each

	// walk, while the columns are taken
	g       *gram.Matrix
	column  []float64 // room for one of a factor
	d, most int
	factor  []float64 // d×most, row-major: G ≈ LLᵀ, L lower where the order is followed
	rest    []float64 // d: what is left of each column
	full    []float64 // d: the diagonal of G
	taken   []bool    // d
	mean    []float64 // what centring takes off G is weight·mean·meanᵀ; nil where it is centred
	weight  float64
	threads int
}

// NewCurve begins a curve of at most so many columns of G, which it only reads. It holds
// [CurveBytes].
func NewCurve(g *gram.Matrix, most, threads int) *Curve { return newCurve(g, most, threads, nil, 0) }

// newCurve is the curve of the centred columns, where G − weight·mean·meanᵀ is their Gram matrix. What
// centring leaves of a column that is all but constant is rounding: it counts as constant.
func newCurve(g *gram.Matrix, most, threads int, mean []float64, weight float64) *Curve {
	d := g.D
	if g.Check() != nil || most < 0 || most > d {
		panic(fmt.Sprintf("subset: a curve of %d of %d columns: %v", most, d, g.Check()))
	}
	c := &Curve{g: g, d: d, most: most, threads: threads, factor: make([]float64, d*most), rest: make([]float64, d), taken: make([]bool, d), mean: mean, weight: weight}
	if g.IsFactor() {
		c.column = make([]float64, d)
	}
	c.full = g.Diagonal(threads)
	for i, m := range mean {
		whole := c.full[i]
		if c.full[i] -= weight * (m * m); c.full[i] <= constantShare*whole {
			c.full[i] = 0
		}
	}
	copy(c.rest, c.full)
	c.Total = sum(c.rest)
	return c
}

// CurveBytes is what a [Curve] of k of d columns holds.
func CurveBytes(d, k int) int64 { return 8 * (int64(d)*int64(k) + 4*int64(d) + 2*int64(k)) }

// block is the number of columns in a task. It is fixed, and no sum crosses tasks.
const block = 256

// Take adds column p to the columns of the curve: a step of Cholesky's factorization with p
// as pivot, 2·d·k flops for the k-th,
//
//	ℓᵢ = (Gᵢₚ − Σ_t Lᵢₜ Lₚₜ) / √gₚ,  g ← g − ℓ∘ℓ
//
// where g is what is left of each column.
func (c *Curve) Take(p int) {
	t, pivot := len(c.Pivot), c.rest[p]
	c.taken[p] = true
	if pivot <= dependent*c.full[p] {
		c.Pivot, c.Left = append(c.Pivot, 0), append(c.Left, sum(c.rest))
		c.rest[p] = 0
		return
	}
	root := math.Sqrt(pivot)
	own, column := c.factor[p*c.most:][:t], c.g.Row(c.threads, c.column, p)
	kernel.Each(c.threads, (c.d+block-1)/block, func(b int) {
		for i := b * block; i < min(c.d, (b+1)*block); i++ {
			if i == p { // its row is read by all others
				continue
			}
			row, entry := c.factor[i*c.most:][:t+1], column[i]
			if c.mean != nil {
				entry -= c.weight * (c.mean[i] * c.mean[p])
			}
			row[t] = (entry - kernel.Dot(row[:t], own)) / root
			c.rest[i] = max(c.rest[i]-row[t]*row[t], 0)
		}
	})
	c.factor[p*c.most+t] = root
	c.rest[p] = 0
	c.Pivot, c.Left = append(c.Pivot, pivot), append(c.Left, sum(c.rest))
}

// Explained is the share of ‖X‖² that the columns taken so far explain; 1 of nothing.
func (c *Curve) Explained() float64 {
	switch n := len(c.Left); {
	case c.Total <= 0:
		return 1
	case n == 0:
		return 0
	default:
		return min(max(1-c.Left[n-1]/c.Total, 0), 1)
	}
}

// Explained is the share of the trace of G that its chosen columns explain. Costs d·k² flops, and
// holds [CurveBytes]; of a factor of r rows r·k² + r²·k, once its dual is there.
func Explained(g *gram.Matrix, chosen []int, threads int) float64 {
	if g.IsFactor() {
		return explainedByDual(g, chosen, threads)
	}
	c := NewCurve(g, len(chosen), threads)
	for _, p := range chosen {
		c.Take(p)
	}
	return c.Explained()
}

// explainedByDual is Σ qᵀRRᵀq/tr(RRᵀ) for an orthonormal basis q of the chosen columns of R.
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
		whole := kernel.Dot(q, q)
		for range 2 {
			for _, v := range basis {
				kernel.Axpy(-kernel.Dot(v, q), v, q)
			}
		}
		left := kernel.Dot(q, q)
		if left <= dependent*whole {
			continue
		}
		clear(times)
		kernel.Gemv(threads, r, r, dual, r, q, times)
		share += kernel.Dot(q, times) / left
		for i := range q {
			q[i] /= math.Sqrt(left)
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
