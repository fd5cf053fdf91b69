package cluster

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// halving groups rows by balanced 2-means, again and again (Zhu, Nie and Li, "Fast spectral clustering with anchor
// graph", ICASSP 2018: BKHK). A group of rows is parted by two centres. The rows that are nearer to the first centre
// than to the second by the largest differences of squared distances become its half, and then the centres move to the
// means of the halves. The sum of squared distances falls until the halves stay the same.
//
// The paper parts groups in equal halves, so that the number of clusters is a power of two. Here a group that is to
// become c clusters is parted into ⌊c/2⌋ and ⌈c/2⌉ shares of c, for any c.
type halving struct {
	threads, maxIter int
	seed             uint64
	rows             matrix    // row-major copy
	order, before    []int32   // rows, group by group; the first half of a group before its rows move
	side             []float64 // of each row in the order of a group: x·(first centre − second centre)
	first, second    []float64
	difference       []float64
	result           *Result
}

func layOutHalving(l *room.Layout, n, k, clusters int) *halving {
	h := &halving{result: new(Result)}
	h.rows = kernel.NewMatrix[float64](l, n, k)
	h.order, h.before, h.side = room.Slice[int32](l, n), room.Slice[int32](l, n), room.Slice[float64](l, n)
	h.first, h.second, h.difference = room.Slice[float64](l, k), room.Slice[float64](l, k), room.Slice[float64](l, k)
	h.result.Centers, h.result.Labels, h.result.Sizes = Matrix(kernel.NewMatrix[float64](l, clusters, k)), room.Slice[int32](l, n), room.Slice[int64](l, clusters)
	return h
}

func runHalving(ctx context.Context, x matrix, opt Options) (*Result, error) {
	h := layOutHalving(nil, x.Rows, x.Cols, opt.Clusters)
	h.threads, h.maxIter, h.seed, h.result.Converged = opt.Threads, opt.MaxIter, opt.Seed, true
	kernel.Copy(h.rows, x)
	for i := range h.order {
		h.order[i] = int32(i)
	}
	if err := h.splitGroup(ctx, 0, x.Rows, 0, opt.Clusters); err != nil {
		return nil, err
	}
	return h.result, nil
}

func (h *halving) valuesOf(i int32) []float64 { return h.rows.Data[int(i)*h.rows.Cols:][:h.rows.Cols] }

// splitGroup groups the rows in order[from:to] into clusters, of which the first has the given number.
func (h *halving) splitGroup(ctx context.Context, from, to, number, clusters int) error {
	if clusters == 1 {
		return h.closeCluster(from, to, number)
	}
	left := clusters / 2
	middle := from + int(int64(to-from)*int64(left)/int64(clusters))
	group := h.order[from:to]
	draw := rand.New(rand.NewPCG(h.seed, uint64(from)<<32|uint64(to)))
	copy(h.first, h.valuesOf(group[draw.IntN(len(group))]))
	copy(h.second, h.valuesOf(group[draw.IntN(len(group))]))
	stable := false
	for i := range h.maxIter {
		if err := ctx.Err(); err != nil {
			return err
		}
		if moved := h.moveRows(group, middle-from); i > 0 && !moved {
			stable = true
			break
		}
		h.computeMean(h.first, h.order[from:middle])
		h.computeMean(h.second, h.order[middle:to])
	}
	h.result.Converged = h.result.Converged && stable
	if err := h.splitGroup(ctx, from, middle, number, left); err != nil {
		return err
	}
	return h.splitGroup(ctx, middle, to, number+left, clusters-left)
}

// moveRows puts the rows of the first half first, and reports whether any row has changed its half. Equal differences go by
// the numbers of the rows, and each half is in the order of these numbers.
func (h *halving) moveRows(group []int32, half int) bool {
	const run = 256
	for j := range h.difference {
		h.difference[j] = h.first[j] - h.second[j]
	}
	kernel.Each(h.threads, (len(group)+run-1)/run, func(t int) {
		for _, i := range group[t*run : min(len(group), (t+1)*run)] {
			h.side[i] = kernel.Dot(h.valuesOf(i), h.difference)
		}
	})
	before := h.before[:half]
	copy(before, group)
	slices.SortFunc(group, func(a, b int32) int { return cmp.Or(cmp.Compare(h.side[b], h.side[a]), cmp.Compare(a, b)) })
	slices.Sort(group[:half])
	slices.Sort(group[half:])
	return !slices.Equal(before, group[:half])
}

func (h *halving) computeMean(mean []float64, group []int32) {
	const run = 64
	kernel.Each(h.threads, (len(mean)+run-1)/run, func(t int) {
		part := mean[t*run : min(len(mean), (t+1)*run)]
		clear(part)
		for _, i := range group {
			kernel.Axpy(1/float64(len(group)), h.valuesOf(i)[t*run:][:len(part)], part)
		}
	})
}

func (h *halving) closeCluster(from, to, number int) error {
	center := h.result.Centers.Data[number*h.rows.Cols:][:h.rows.Cols]
	h.computeMean(center, h.order[from:to])
	h.result.Sizes[number] = int64(to - from)
	for _, i := range h.order[from:to] {
		h.result.Labels[i] = int32(number)
		for j, x := range h.valuesOf(i) {
			h.result.Inertia += (x - center[j]) * (x - center[j])
		}
	}
	if !(h.result.Inertia <= math.MaxFloat64) {
		return ErrOverflow
	}
	return nil
}
