package u2fs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
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
	inverse inverse
	full    *inFull // what inverse is, or will be once few features are left
	c       int

	left  []int     // features, ascending
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

func newElimination(team *kernel.Team, g *anchor.Graph, mean float64, e *spectral.Embedding) *elimination {
	to := targets(team, g, e)
	x := &elimination{team: team, g: g, c: to.Cols, v: make([]float64, block*g.D), now: make([]float64, g.D)}
	x.full = &inFull{team: team, g: g.G, lambda: ridge * mean, targets: to}
	x.inverse = x.full
	if isWide(g.G, g.D) {
		x.inverse = &byRows{team: team, g: g.G, lambda: ridge * mean, u: vectors(team, g, e)}
	}
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
		size := x.size()
		for x.count < size {
			at, utility := x.least()
			if !x.remove(at) {
				break
			}
			x.order, x.utilities = append(x.order, x.left[at]), append(x.utilities, utility)
		}
		if x.count == 0 {
			return fmt.Errorf("u2fs: regression on %d features: %w", len(x.left), linalg.ErrNotPositiveDefinite)
		}
		stuck := x.count < size
		if err := x.settle(); err != nil {
			return err
		}
		narrow := x.inverse != inverse(x.full) && !isWide(x.g.G, len(x.left))
		if narrow {
			x.inverse = x.full
		}
		// Updates of P lose digits slowly: it is made anew from G for every half.
		if len(x.left) > 0 && (stuck || narrow || 2*len(x.left) <= x.since) {
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

// size is how many features go in the next block: by rows no more than leave twice as many as rows.
func (x *elimination) size() int {
	if x.inverse == inverse(x.full) {
		return min(block, len(x.left))
	}
	return min(block, len(x.left)-2*x.g.G.Rank)
}

// renew makes P and W of the features left from G.
func (x *elimination) renew() (err error) {
	x.since = len(x.left)
	x.diag, x.w, err = x.inverse.renew(x.left)
	x.begin()
	return err
}

// begin starts a block.
func (x *elimination) begin() { x.gone, x.count = make([]bool, len(x.left)), 0 }

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
	x.inverse.columnTo(v, at)
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

// settle ends a block.
func (x *elimination) settle() (err error) {
	var stay []int
	for i, gone := range x.gone {
		if !gone {
			stay = append(stay, i)
		}
	}
	x.diag, err = x.inverse.settle(kernel.RowMajor(x.v, x.count, len(x.left), len(x.left)), stay, x.diag)
	left, w := make([]int, len(stay)), make([]float64, len(stay)*x.c)
	for a, i := range stay {
		left[a] = x.left[i]
		copy(w[a*x.c:][:x.c], x.w[i*x.c:][:x.c])
	}
	x.left, x.w = left, w
	x.begin()
	return err
}
