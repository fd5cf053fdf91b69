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
	Square float64 // squared distance
}

const (
	// leastPoints is the number of rows that [LeastBytes] allows to gather at a time.
	leastPoints = 1024
	// widePoints is the number of points in a part if rows are long.
	widePoints = 64
	// NeighbourBytes is the memory of [Nearest] and [Join] for a neighbour of a row: lists, edges both ways,
	// and the graph.
	NeighbourBytes = 2*16 + 2*16 + 2*12
)

// PointBytes returns the memory of a gathered row: once as gathered, and once in kernel.Nearest, in float64 and
// in float32.
func PointBytes(d int) int64 { return 20*int64(d) + 128 }

// LeastBytes returns the least memory to give [Nearest]: less works, in too many passes.
func LeastBytes(d int) int64 { return leastPoints * PointBytes(d) }

// PartBytes returns the memory to give [Nearest] for n rows that are in memory already: for all of them at once
// or, if features outnumber rows, for parts, which cost no extra passes over a source.
func PartBytes(n int64, d int) int64 { return partPoints(n, d) * PointBytes(d) }

func partPoints(n int64, d int) int64 {
	if 2*n <= int64(d) {
		n = min(n, widePoints)
	}
	return n
}

// SearchBytes bounds the memory of [Nearest] for the k nearest of n rows, including PartBytes of room.
func SearchBytes(n int64, d, k, workers int) int64 {
	points := partPoints(n, d)
	total := 8*points*int64(d) + kernel.NearestBytes(workers, int(points), d) + kernel.TeamBytes(1024, int(points)) + n*int64(k+1)*NeighbourBytes
	if points < n {
		total += PartBytes(n, d) // the part before may not be collected yet
	}
	return total
}

// PassFunc makes a pass over n×d rows: it calls visit with one block after the other, an h×d matrix (column-major
// is fastest) that is lent until the next call, and the number of rows before it.
type PassFunc func(ctx context.Context, what string, visit func(first int, x kernel.Matrix[float64]) error) error

// FindNearest finds the k < n rows nearest to each row, without the row itself; of equal distances the earlier row.
// It gathers as many rows at a time as fit into room bytes, and compares all rows with them: two passes for
// each part. Distances come from kernel.Nearest, so that the result does not depend on the parts. Cost 2·n²·d
// flops in float32.
func FindNearest(ctx context.Context, team *kernel.Team, n, d, k int, room int64, pass PassFunc) ([]Neighbour, error) {
	best := make([]Neighbour, n*(k+1)) // k+1 a row when full: one may be the row itself
	counts := make([]int, n)
	partRows := int(max(room/PointBytes(d), 1))
	var near *kernel.Nearest
	var index []int32
	var square []float64
	for from := 0; from < n && k > 0; from += partRows {
		points, err := gatherRows(ctx, from, min(from+partRows, n), d, pass)
		if err != nil {
			return nil, err
		}
		count := min(k+1, points.Rows)
		if from == 0 {
			near = kernel.NewNearest(team, points, count)
		} else {
			near = near.Rebuild(points, count)
		}
		points.Data = nil
		err = pass(ctx, "finding neighbours", func(first int, x kernel.Matrix[float64]) error {
			index, square = Resize(index, x.Rows*count), Resize(square, x.Rows*count)
			near.SearchTo(index, square, x)
			EachRun(team.Threads(), x.Rows, func(_, start, end int) {
				for i := start; i < end; i++ {
					row := first + i
					for e := i * count; e < (i+1)*count; e++ {
						counts[row] = insertNeighbour(best[row*(k+1):][:k+1], counts[row], Neighbour{index[e] + int32(from), square[e]})
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
		row := best[i*(k+1):][:counts[i]]
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

func gatherRows(ctx context.Context, from, to, d int, pass PassFunc) (kernel.Matrix[float64], error) {
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

// insertNeighbour inserts o into a list of the nearest, ascending, with count entries, and returns the new
// count. Later parts have higher indices, so the earlier of equal distances stay.
func insertNeighbour(list []Neighbour, count int, o Neighbour) int {
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
