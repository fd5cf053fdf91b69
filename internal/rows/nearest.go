package rows

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Neighbour is one of the nearest rows of a row.
type Neighbour struct {
	Index  int32
	Square float64 // the squared distance
}

const (
	// leastPoints is the number of rows that [LeastBytes] gathers at a time.
	leastPoints = 1024
	// widePoints is the number of points of a part where rows are long.
	widePoints = 64
	// NeighbourBytes is what [Nearest] and [Join] take for a neighbour of a row: lists,
	// edges both ways, and the graph.
	NeighbourBytes = 2*16 + 2*16 + 2*12
)

// PointBytes is what a gathered row takes: once as gathered, and once in kernel.Nearest,
// in float64 and in float32.
func PointBytes(d int) int64 { return 20*int64(d) + 128 }

// LeastBytes is the least room to give [Nearest]: less works, in too many passes.
func LeastBytes(d int) int64 { return leastPoints * PointBytes(d) }

// PartBytes is the room to give [Nearest] for n rows that are in memory already: for all of them at
// once or, where features outnumber rows, for parts, which cost no passes over anything else.
func PartBytes(n int64, d int) int64 { return partPoints(n, d) * PointBytes(d) }

func partPoints(n int64, d int) int64 {
	if 2*n <= int64(d) {
		n = min(n, widePoints)
	}
	return n
}

// SearchBytes bounds what [Nearest] holds on so many workers for the k nearest of n rows, with PartBytes
// of room.
func SearchBytes(n int64, d, k, workers int) int64 {
	points := partPoints(n, d)
	held := 8*points*int64(d) + kernel.NearestBytes(workers, int(points), d) + kernel.TeamBytes(1024, int(points)) + n*int64(k+1)*NeighbourBytes
	if points < n {
		held += PartBytes(n, d) // the part before may not be swept yet
	}
	return held
}

// PassFunc makes a pass over n×d rows: do gets block after block, each an h×d matrix
// (column-major is fastest) that is lent until the next, and the number of rows before it.
type PassFunc func(ctx context.Context, what string, do func(first int, x kernel.Matrix[float64]) error) error

// Nearest finds the k < n rows nearest to each row, itself left out; of equal distances the
// earlier row. As many rows as fit into room bytes are gathered at a time, and all rows
// pass by: two passes for each part. Distances come from kernel.Nearest, so that the
// answer does not depend on the parts. Cost 2·n²·d flops in float32.
func Nearest(ctx context.Context, team *kernel.Team, n, d, k int, room int64, pass PassFunc) ([]Neighbour, error) {
	best := make([]Neighbour, n*(k+1)) // k+1 a row once full: one may be the row itself
	found := make([]int, n)
	most := int(max(room/PointBytes(d), 1))
	var near *kernel.Nearest
	var index []int32
	var square []float64
	for from := 0; from < n && k > 0; from += most {
		points, err := gather(ctx, from, min(from+most, n), d, pass)
		if err != nil {
			return nil, err
		}
		count := min(k+1, points.Rows)
		if from == 0 {
			near = kernel.NewNearest(team, points, count)
		} else {
			near = near.Again(points, count)
		}
		points.Data = nil
		err = pass(ctx, "finding neighbours", func(first int, x kernel.Matrix[float64]) error {
			index, square = Room(index, x.Rows*count), Room(square, x.Rows*count)
			near.To(index, square, x)
			EachRun(team.Threads(), x.Rows, func(_, start, end int) {
				for i := start; i < end; i++ {
					row := first + i
					for e := i * count; e < (i+1)*count; e++ {
						found[row] = insert(best[row*(k+1):][:k+1], found[row], Neighbour{index[e] + int32(from), square[e]})
					}
				}
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([]Neighbour, 0, n*k)
	for i := range n {
		row := best[i*(k+1):][:found[i]]
		if at := slices.IndexFunc(row, func(o Neighbour) bool { return int(o.Index) == i }); at >= 0 {
			row = slices.Delete(row, at, at+1)
		}
		out = append(out, row[:k]...)
	}
	for _, o := range out {
		if o.Square-o.Square != 0 {
			return nil, stream.Dataf("", "squared distances between rows overflow; choose {scale} minmax")
		}
	}
	return out, nil
}

// gather copies rows [from, to).
func gather(ctx context.Context, from, to, d int, pass PassFunc) (kernel.Matrix[float64], error) {
	m := kernel.ColMajor(make([]float64, (to-from)*d), to-from, d, to-from)
	return m, pass(ctx, "gathering rows", func(first int, x kernel.Matrix[float64]) error {
		start, end := max(from, first), min(to, first+x.Rows)
		for j := range d {
			for i := start; i < end; i++ {
				m.Data[j*m.ColStride+i-from] = x.Data[j*x.ColStride+(i-first)*x.RowStride]
			}
		}
		return nil
	})
}

// insert keeps the nearest of a list with count entries, ascending, and returns how many
// there then are. Later parts have higher indices, so the earlier of equal distances stay.
func insert(list []Neighbour, count int, o Neighbour) int {
	at := count
	for at > 0 && list[at-1].Square > o.Square {
		at--
	}
	if at == len(list) {
		return count
	}
	count = min(count+1, len(list))
	copy(list[at+1:count], list[at:])
	list[at] = o
	return count
}
