package cpufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// weigher gives rows their weights on anchors: rows of Z with count entries.
type weigher interface {
	anchors() (m, count int)
	// to writes the anchors of each row of a block, and the weights, row by row.
	to(index []int32, weight []float64, b *block) error
}

// nearestAnchors weighs by eq. (2.13) of SFUFS, on the K nearest of m points.
type nearestAnchors struct {
	near     *kernel.Nearest
	m, k     int
	index    []int32
	distance []float64
}

func newNearestAnchors(team *kernel.Team, points kernel.Matrix[float64], k int) *nearestAnchors {
	return &nearestAnchors{near: kernel.NewNearest(team, points, k+1), m: points.Rows, k: k}
}

func (a *nearestAnchors) anchors() (m, count int) { return a.m, a.k }

func (a *nearestAnchors) to(index []int32, weight []float64, b *block) error {
	h := b.x.Rows
	a.index, a.distance = grow(a.index, h*(a.k+1)), grow(a.distance, h*(a.k+1))
	a.near.To(a.index, a.distance, b.x)
	for i := range h {
		copy(index[i*a.k:][:a.k], a.index[i*(a.k+1):])
		if !anchor.Weights(weight[i*a.k:][:a.k], a.distance[i*(a.k+1):][:a.k+1]) {
			return stream.Dataf("", "squared distances between rows and anchors overflow; choose {scale} minmax")
		}
	}
	return nil
}

// factor is B = ZΔ^(−1/2), Δ = diag(Zᵀ1): n×m with count entries a row, which are state
// of the rows: the number of the anchor beside the value.
type factor struct {
	weigher
	m, count int
	pairs    *state
	delta    []float64 // m

	index []int32
	value []float64
}

func newFactor(w weigher, scratch stream.Scratch, height []int) (*factor, error) {
	f := &factor{weigher: w}
	f.m, f.count = w.anchors()
	f.delta = make([]float64, f.m)
	var err error
	f.pairs, err = newState(scratch, "the anchor graph", 2*f.count, height)
	return f, err
}

// weigh writes the rows of Z of a block to its pairs, and returns them.
func (f *factor) weigh(b *block, pairs []float64) (kernel.Sparse, error) {
	n := len(pairs) / 2
	f.index, f.value = grow(f.index, n), grow(f.value, n)
	if err := f.to(f.index, f.value, b); err != nil {
		return kernel.Sparse{}, err
	}
	for e, j := range f.index {
		pairs[2*e], pairs[2*e+1] = float64(j), f.value[e]
		f.delta[j] += f.value[e]
	}
	return f.sparse(n), nil
}

func (f *factor) sparse(entries int) kernel.Sparse {
	return kernel.Sparse{Rows: entries / f.count, Cols: f.m, Count: f.count, Index: f.index, Value: f.value}
}

// root is Δ^(−1/2), and 0 for an anchor that no row uses.
func (f *factor) root() []float64 {
	r := make([]float64, f.m)
	for j, v := range f.delta {
		if v > 0 {
			r[j] = 1 / math.Sqrt(v)
		}
	}
	return r
}

// rows returns a block's rows of B, lent until the next call.
func (f *factor) rows(pairs []float64) kernel.Sparse {
	n := len(pairs) / 2
	f.index, f.value = grow(f.index, n), grow(f.value, n)
	for e := range n {
		f.index[e], f.value[e] = int32(pairs[2*e]), pairs[2*e+1]
	}
	return f.sparse(n)
}

// axpySparse adds alpha·B·S to x: B h×m, S m×c, x h×c, both row-major.
func axpySparse(workers int, alpha float64, b kernel.Sparse, s, x []float64, c int) {
	eachRun(workers, b.Rows, func(_, from, to int) {
		for i := from; i < to; i++ {
			row := x[i*c:][:c]
			for e := i * b.Count; e < (i+1)*b.Count; e++ {
				v := alpha * b.Value[e]
				for k, y := range s[int(b.Index[e])*c:][:c] {
					row[k] += v * y
				}
			}
		}
	})
}
