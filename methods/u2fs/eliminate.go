package u2fs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
)

const (
	// ridgeShare is λ divided by the mean sum of squares of a feature. Even for dependent features, utilities then have
	// half of the digits of float64.
	ridgeShare = 1e-8
	// tieTolerance is the relative difference up to which two utilities are considered equal. With dependent features the
	// condition number of XᵀX + λI is 1/ridgeShare, and the relative error of utilities is about 2⁻⁵³/ridgeShare. In
	// tests, utilities of equal columns differed by up to 5e-7.
	tieTolerance = 1e-6
	// blockFeatures is the number of features that are removed before P is updated. Larger blocks make the update a
	// fast matrix product, but each removal costs up to blockFeatures·d.
	blockFeatures = 64
)

// elimination removes features one by one from a least squares regression. With P = (XᵀX + λI)⁻¹ for the remaining
// features and W = PXᵀU, the removal of feature i adds ‖wᵢ‖²/P_ii to the error, and gives
//
//	P' = P − p pᵀ/P_ii   W' = W − p wᵢᵀ/P_ii   p = column i of P.
//
// A block is a sequence of removals within which the stored P is not updated. The vectors v = p/√P_ii of the features
// removed in the block are stored instead, so that the current p is a column of P − Σvvᵀ.
type elimination struct {
	team    *kernel.Team
	g       *anchor.Graph
	inverse featureInverse
	full    *fullInverse // the inverse in use when few features remain
	c       int

	remaining            []int     // features, ascending
	diag                 []float64 // current P_ii
	w                    []float64 // current W, n×c for n features at the start of the block
	removedRow           []float64 // row of W of the feature that is being removed
	v                    []float64 // vectors v of the removed features, blockFeatures×n
	currentUtilities     []float64 // utilities of the remaining features
	isRemoved            []bool    // for each remaining feature: whether it was removed in this block
	removedCount         int       // number of features removed in this block
	stay                 []int     // indices of the features that remain after this block
	remainingAtRecompute int       // number of remaining features when P was last computed from G

	order     []int
	utilities []float64
}

func newElimination(team *kernel.Team, g *anchor.Graph, mean float64, e *spectral.Embedding) *elimination {
	x := &elimination{team: team, g: g, c: len(e.Values)}
	x.layOut(nil, g.D, x.c)
	x.full.team, x.full.g, x.full.lambda = team, g.G, ridgeShare*mean
	liftEigenvectors(team, x.full.targets, kernel.RowMajor(g.C, g.M, g.D, g.D).Trans(), e) // XᵀU = CᵀVΣ^(−1/2)
	x.inverse = x.full
	if isWide(g.G.Rank, g.D) {
		rows := &rowInverse{team: team, g: g.G, lambda: ridgeShare * mean}
		rows.layOut(nil, g.D, g.G.Rank, x.c)
		liftEigenvectors(team, rows.u, kernel.RowMajor(g.B(team.Threads()), g.G.Rank, g.M, g.M), e)
		x.inverse = rows
	}
	for i := range g.D {
		x.remaining[i] = i
	}
	return x
}

func (x *elimination) layOut(l *room.Layout, d, c int) {
	x.full = &fullInverse{targets: kernel.NewMatrix[float64](l, d, c)}
	x.remaining, x.stay, x.isRemoved = room.Slice[int](l, d), room.Slice[int](l, d), room.Slice[bool](l, d)
	x.diag, x.currentUtilities = room.Slice[float64](l, d), room.Slice[float64](l, d)
	x.w, x.removedRow = room.Slice[float64](l, d*c), room.Slice[float64](l, c)
	x.v = room.Slice[float64](l, blockFeatures*d)
	x.order, x.utilities = room.Slice[int](l, d)[:0], room.Slice[float64](l, d)[:0]
}

func (x *elimination) eliminateAll(ctx context.Context, progress func(int, float64)) error {
	if err := x.recomputeInverseFromGram(); err != nil {
		return err
	}
	for len(x.remaining) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := x.blockSize()
		for x.removedCount < size {
			at, utility := x.leastUsefulFeature()
			if !x.removeFeature(at) {
				break
			}
			x.order, x.utilities = append(x.order, x.remaining[at]), append(x.utilities, utility)
		}
		if x.removedCount == 0 {
			return fmt.Errorf("u2fs: regression on %d features: %w", len(x.remaining), linalg.ErrNotPositiveDefinite)
		}
		stuck := x.removedCount < size
		if err := x.applyRemovals(); err != nil {
			return err
		}
		narrow := x.inverse != featureInverse(x.full) && !isWide(x.g.G.Rank, len(x.remaining))
		if narrow {
			x.inverse = x.full
		}
		// Updates of P slowly lose precision. Therefore P is recomputed from G whenever the number of features has halved.
		if len(x.remaining) > 0 && (stuck || narrow || 2*len(x.remaining) <= x.remainingAtRecompute) {
			if err := x.recomputeInverseFromGram(); err != nil {
				return err
			}
		}
		if progress != nil {
			progress(len(x.remaining), x.utilities[len(x.utilities)-1])
		}
	}
	slices.Reverse(x.order)
	slices.Reverse(x.utilities)
	return nil
}

// blockSize returns the number of features to remove in the next block. With a rowInverse, at least twice as many
// features as rows must remain.
func (x *elimination) blockSize() int {
	if x.inverse == featureInverse(x.full) {
		return min(blockFeatures, len(x.remaining))
	}
	return min(blockFeatures, len(x.remaining)-2*x.g.G.Rank)
}

func (x *elimination) recomputeInverseFromGram() error {
	x.remainingAtRecompute = len(x.remaining)
	err := x.inverse.computeForFeatures(x.remaining, x.diag, x.w)
	x.startRemovalBlock()
	return err
}

func (x *elimination) startRemovalBlock() {
	x.isRemoved, x.removedCount = x.isRemoved[:len(x.remaining)], 0
	clear(x.isRemoved)
}

func (x *elimination) leastUsefulFeature() (index int, utility float64) {
	best := math.Inf(1)
	utilities := x.currentUtilities[:len(x.remaining)]
	for i := range x.remaining {
		row := x.w[i*x.c:][:x.c]
		utilities[i] = kernel.Dot(row, row) / x.diag[i]
		if !x.isRemoved[i] {
			best = min(best, utilities[i])
		}
	}
	index = -1
	for i, u := range utilities {
		// If a utility is NaN, removeFeature ends the run.
		if !x.isRemoved[i] && (index < 0 || u <= best*(1+tieTolerance)) {
			index = i
		}
	}
	return index, utilities[index]
}

// removeFeature removes the feature whose index among the remaining features is the parameter `at`. If the feature's
// diagonal entry P_ii consists only of rounding error, it returns false and changes nothing.
func (x *elimination) removeFeature(at int) bool {
	n := len(x.remaining)
	v := x.v[x.removedCount*n:][:n]
	x.inverse.copyColumnTo(v, at)
	for s := range x.removedCount {
		earlier := x.v[s*n:][:n]
		kernel.Axpy(-earlier[at], earlier, v)
	}
	pivot := v[at]
	if !(pivot > 0 && x.diag[at] > 0) {
		return false
	}
	root := math.Sqrt(pivot)
	copy(x.removedRow, x.w[at*x.c:])
	for i := range v {
		v[i] /= root
		x.diag[i] -= v[i] * v[i]
		kernel.Axpy(-v[i]/root, x.removedRow, x.w[i*x.c:][:x.c])
	}
	x.isRemoved[at] = true
	x.removedCount++
	return true
}

func (x *elimination) applyRemovals() error {
	n, stay := len(x.remaining), x.stay[:0]
	for i, removed := range x.isRemoved {
		if !removed {
			stay = append(stay, i)
		}
	}
	err := x.inverse.keepFeatures(kernel.RowMajor(x.v, x.removedCount, n, n), stay, x.diag)
	for a, i := range stay { // no entry is overwritten before it is moved
		x.remaining[a] = x.remaining[i]
		copy(x.w[a*x.c:][:x.c], x.w[i*x.c:])
	}
	x.remaining = x.remaining[:len(stay)]
	x.startRemovalBlock()
	return err
}
