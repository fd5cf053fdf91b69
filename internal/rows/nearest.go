package rows

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Neighbour is one of the rows that are nearest to a row.
type Neighbour struct {
	Index  int32
	Square float64 // squared distance
}

const (
	// minPoints is the number of rows that [FindNearest] copies to memory at a time if it has only the memory given by
	// [LeastBytes].
	minPoints = 1024
	// widePoints is the number of rows copied at a time if there are at least twice as many features as rows.
	widePoints = 64
	// NeighbourBytes is the memory of [FindNearest] and [JoinNeighbours] for each neighbour of a row: two lists, two
	// directed edges, and two entries of the graph.
	NeighbourBytes = 2*16 + 2*16 + 2*12
)

// PointBytes returns the memory of a gathered row of d features: the row itself, and the copies of it in kernel.Nearest
// in float64 and in float32.
func PointBytes(d int) int64 { return 20*int64(d) + 128 }

// LeastBytes returns the least memory that [FindNearest] should have. It also works with less memory, but then makes
// too many passes.
func LeastBytes(d int) int64 { return minPoints * PointBytes(d) }

// PartBytes returns the memory that [FindNearest] should have if the n rows are already in memory. With it FindNearest
// gathers all rows at once. If there are at least twice as many features as rows, it gathers only widePoints rows at a
// time. It then makes more passes, which are cheap over rows in memory.
func PartBytes(n int64, d int) int64 { return pointsPerPart(n, d) * PointBytes(d) }

func pointsPerPart(rows int64, features int) int64 {
	if 2*rows <= int64(features) {
		rows = min(rows, widePoints)
	}
	return rows
}

// SearchBytes returns an upper bound of the memory of [FindNearest] for the k nearest of n rows of d features,
// including the memory given by [PartBytes].
func SearchBytes(n int64, d, k, workers int) int64 {
	points := pointsPerPart(n, d)
	total := 8*points*int64(d) + kernel.NearestBytes(workers, int(points), d) + kernel.TeamBytes(1024, int(points)) + n*int64(k+1)*NeighbourBytes
	if points < n {
		total += PartBytes(n, d) // the previous part may not be garbage-collected yet
	}
	return total
}

// PassFunc makes a pass over n×d rows. Messages describe the pass by the given text. For each block of rows the
// function calls visit with the number of rows before the block and the h×d matrix of the rows in the block. The matrix
// may be row-major or column-major, which is faster, and is valid until the next call.
type PassFunc func(ctx context.Context, what string, visit func(first int, x kernel.Matrix[float64]) error) error

// FindNearest finds the k < n rows nearest to each row, not counting the row itself. If two distances are equal, the
// earlier row comes first. It gathers a part of the rows, as many as fit into room bytes of memory, and compares all
// rows with them. Each part needs two passes. The result does not depend on the division into parts, because
// kernel.Nearest computes the distances. It costs 2·n²·d flops in float32.
func FindNearest(ctx context.Context, team *kernel.Team, n, d, k int, room int64, pass PassFunc) ([]Neighbour, error) {
	best := make([]Neighbour, n*(k+1)) // k+1 for each row, because one of its nearest rows may be itself
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
			index, square = ResizeSlice(index, x.Rows*count), ResizeSlice(square, x.Rows*count)
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
			return nil, stream.Dataf("", "squared distances between rows overflow; choose {scale minmax}")
		}
	}
	return out, nil
}

func gatherRows(ctx context.Context, from, to, features int, pass PassFunc) (kernel.Matrix[float64], error) {
	m := kernel.ColMajor(make([]float64, (to-from)*features), to-from, features, to-from)
	return m, pass(ctx, "gathering rows", func(first int, x kernel.Matrix[float64]) error {
		start, end := max(from, first), min(to, first+x.Rows)
		for j := range features {
			for i := start; i < end; i++ {
				m.Data[j*m.ColStride+i-from] = x.Data[j*x.ColStride+(i-first)*x.RowStride]
			}
		}
		return nil
	})
}

// insertNeighbour inserts o into the ascending list of the nearest rows, which has `count` entries, and returns the new
// count. If distances are equal, the row that is already in the list stays, because rows of later parts have higher
// indices.
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
