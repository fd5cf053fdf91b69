package u2fs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

const (
	// ridge is λ as a share of a feature's mean sum of squares: of dependent features it leaves
	// half of float64's digits for utilities.
	ridge = 1e-8
	// alike is the relative difference up to which two utilities count as equal. Dependent features
	// make the condition of XᵀX + λI 1/ridge, and utilities known to some 2⁻⁵³/ridge: of equal
	// columns they differed by up to 5e-7.
	alike = 1e-6
	// block is how many features go before P is brought up to date: its products then run at
	// the speed of matrix products, and a step costs no more than block·d.
	block = 64
)

// elimination takes one feature after the other away from a least squares regression. With
// P = (XᵀX + λI)⁻¹ of the features left and W = PXᵀU, feature i adds ‖wᵢ‖²/P_ii to the error as it
// goes, and leaves
//
//	P' = P − p pᵀ/P_ii   W' = W − p wᵢᵀ/P_ii   p = column i of P.
//
// Within a block P stays as it is, and the v = p/√P_ii of the features gone are kept: p is then a
// row of P − Σvvᵀ.
type elimination struct {
	team    *kernel.Team
	g       *anchor.Graph
	lambda  float64
	targets []float64 // XᵀU, d×c
	c       int

	left  []int     // features, ascending
	p     []float64 // of those left when it was brought up to date, n×n
	diag  []float64 // P_ii now
	w     []float64 // n×c now
	v     []float64 // block×n
	now   []float64 // utilities
	gone  []bool    // of the n, in this block
	count int       // of them
	since int       // features that were left when P was made anew

	order     []int
	utilities []float64
}

func newElimination(team *kernel.Team, g *anchor.Graph, mean float64, targets []float64) *elimination {
	x := &elimination{team: team, g: g, lambda: ridge * mean, targets: targets, c: len(targets) / g.D,
		v: make([]float64, block*g.D), now: make([]float64, g.D), p: make([]float64, g.D*g.D)}
	for i := range g.D {
		x.left = append(x.left, i)
	}
	return x
}

// run eliminates all features.
func (x *elimination) run(ctx context.Context, progress func(int, float64)) error {
	if err := x.renew(); err != nil {
		return err
	}
	for len(x.left) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for x.count < min(block, len(x.left)) {
			at, utility := x.least()
			if !x.remove(at) {
				break
			}
			x.order, x.utilities = append(x.order, x.left[at]), append(x.utilities, utility)
		}
		if x.count == 0 {
			return fmt.Errorf("u2fs: regression on %d features: %w", len(x.left), linalg.ErrNotPositiveDefinite)
		}
		stuck := x.count < min(block, len(x.left))
		x.settle()
		// Updates of P lose digits slowly: it is made anew from G for every half.
		if len(x.left) > 0 && (stuck || 2*len(x.left) <= x.since) {
			if err := x.renew(); err != nil {
				return err
			}
		}
		if progress != nil {
			progress(len(x.left), x.utilities[len(x.utilities)-1])
		}
	}
	slices.Reverse(x.order)
	slices.Reverse(x.utilities)
	return nil
}

// renew makes P and W of the features left from G.
func (x *elimination) renew() error {
	n, d := len(x.left), x.g.D
	x.since = n
	a := kernel.RowMajor(make([]float64, n*n), n, n, n)
	for i, f := range x.left {
		for j, h := range x.left {
			a.Data[i*n+j] = x.g.G.Sym[f*d+h]
		}
		a.Data[i*n+i] += x.lambda
	}
	var chol linalg.Cholesky
	if err := chol.Factor(x.team, a); err != nil {
		return fmt.Errorf("u2fs: regression on %d features: %w", n, err)
	}
	clear(a.Data)
	for i := range n {
		a.Data[i*n+i] = 1
	}
	chol.HalfSolveTo(x.team, a, a)
	x.p = x.p[:n*n]
	clear(x.p)
	p := kernel.RowMajor(x.p, n, n, n)
	kernel.Syrk(x.team, 1, a.Trans(), p)
	kernel.Mirror(x.team.Threads(), p)
	x.w = make([]float64, n*x.c)
	for i, f := range x.left {
		copy(x.w[i*x.c:][:x.c], x.targets[f*x.c:][:x.c])
	}
	w := kernel.RowMajor(x.w, n, x.c, x.c)
	chol.SolveTo(x.team, w, w)
	x.begin()
	return nil
}

// begin starts a block.
func (x *elimination) begin() {
	n := len(x.left)
	x.diag, x.gone, x.count = make([]float64, n), make([]bool, n), 0
	for i := range n {
		x.diag[i] = x.p[i*n+i]
	}
}

// least returns the feature of least utility; of equal ones the last.
func (x *elimination) least() (at int, utility float64) {
	best := math.Inf(1)
	utilities := x.now[:len(x.left)]
	for i := range x.left {
		row := x.w[i*x.c:][:x.c]
		utilities[i] = kernel.Dot(row, row) / x.diag[i]
		if !x.gone[i] {
			best = min(best, utilities[i])
		}
	}
	at = -1
	for i, u := range utilities {
		// A utility that is not a number ends the run in remove.
		if !x.gone[i] && (at < 0 || u <= best*(1+alike)) {
			at = i
		}
	}
	return at, utilities[at]
}

// remove takes feature at away. It reports false, with nothing changed, where rounding has
// used up the pivot.
func (x *elimination) remove(at int) bool {
	n := len(x.left)
	v := x.v[x.count*n:][:n]
	copy(v, x.p[at*n:][:n])
	for s := range x.count {
		earlier := x.v[s*n:][:n]
		kernel.Axpy(-earlier[at], earlier, v)
	}
	pivot := v[at]
	if !(pivot > 0 && x.diag[at] > 0) {
		return false
	}
	root := math.Sqrt(pivot)
	own := slices.Clone(x.w[at*x.c:][:x.c])
	for i := range v {
		v[i] /= root
		x.diag[i] -= v[i] * v[i]
		kernel.Axpy(-v[i]/root, own, x.w[i*x.c:][:x.c])
	}
	x.gone[at] = true
	x.count++
	return true
}

// settle ends a block: P of the features left, in the same memory.
func (x *elimination) settle() {
	n := len(x.left)
	v := kernel.RowMajor(x.v, x.count, n, n)
	kernel.Syrk(x.team, -1, v.Trans(), kernel.RowMajor(x.p, n, n, n))
	var stay []int
	for i := range n {
		if !x.gone[i] {
			stay = append(stay, i)
		}
	}
	most := len(stay)
	left, w := make([]int, most), make([]float64, most*x.c)
	for a, i := range stay { // places only move towards the front
		left[a] = x.left[i]
		copy(w[a*x.c:][:x.c], x.w[i*x.c:][:x.c])
		for b, j := range stay[a:] {
			x.p[a*most+a+b] = x.p[i*n+j]
		}
	}
	x.left, x.w, x.p = left, w, x.p[:most*most]
	kernel.Mirror(x.team.Threads(), kernel.RowMajor(x.p, most, most, most))
	x.begin()
}
