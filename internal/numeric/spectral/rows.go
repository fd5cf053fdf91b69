package spectral

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// RowEmbedding contains the c eigenvectors of the Laplacian L = D − A of n rows that have the smallest eigenvalues.
type RowEmbedding struct {
	Vectors    kernel.Matrix[float64] // n×c, orthonormal columns
	Values     []float64              // c, ascending
	Components int                    // number of connected components of the graph, which is that of eigenvalues 0
	// Tied is true if eigenvalue c+1 equals eigenvalue c to rounding, unless both are 0. Other eigenvectors are then as
	// good as these.
	Tied bool
}

// EmbedRows returns c ≤ n eigenvectors of the graph's Laplacian, which must have Degree. The first are the indicators of
// the connected components, by falling size, as vectors of length 1. So if the graph has c components or more, these
// are the c largest. It costs the eigenpairs of an n×n matrix otherwise, and needs the memory given by
// [EmbedRowsBytes].
func EmbedRows(team *kernel.Team, g *rows.Graph, c int) (*RowEmbedding, error) {
	n, parts := len(g.Start)-1, g.FindComponents()
	e := &RowEmbedding{Components: len(parts)}
	e.Vectors, e.Values = layOutRowEmbedding(nil, n, c)
	for k, part := range parts[:min(c, len(parts))] {
		for _, i := range part {
			e.Vectors.Data[int(i)*c+k] = 1 / math.Sqrt(float64(len(part)))
		}
	}
	wanted := min(c-len(parts)+1, n-len(parts)) // one more shows whether the last is unique
	if c <= len(parts) {
		return e, nil
	}
	// The eigenvalues of L are at most twice the largest degree. This value moves the components out of the way.
	top := 0.0
	for _, v := range g.Degree {
		top = max(top, 2*v)
	}
	l := kernel.NewMatrix[float64](nil, n, n)
	g.WriteLaplacian(l)
	for _, part := range parts {
		for _, i := range part {
			for _, j := range part {
				l.Data[int(i)*n+int(j)] += top / float64(len(part))
			}
		}
	}
	filter := &linalg.Filter{Top: top, Product: func(dst, x kernel.Matrix[float64]) {
		g.LaplacianTo(team.Threads(), dst.Data, x.Data, 0, n, x.Cols)
		addComponentProjections(dst, x, parts, top)
	}}
	found, err := linalg.NewSmallest(team, n, wanted, linalg.EigenOptions{Filter: filter}).Solve(l, kernel.Matrix[float64]{})
	if err != nil {
		return nil, fmt.Errorf("eigenvectors of the graph of the rows: %w", err)
	}
	count := c - len(parts)
	kernel.Copy(e.Vectors.Sub(0, len(parts), n, count), found.Vectors.Sub(0, 0, n, count))
	copy(e.Values[len(parts):], found.Values)
	e.Tied = wanted > count && found.Values[count]-found.Values[count-1] <= tieTolerance*top
	return e, nil
}

func addComponentProjections(dst, x kernel.Matrix[float64], parts [][]int32, top float64) {
	c := x.Cols
	sum := make([]float64, c)
	for _, part := range parts {
		clear(sum)
		for _, i := range part {
			kernel.Axpy(top/float64(len(part)), x.Data[int(i)*c:][:c], sum)
		}
		for _, i := range part {
			kernel.Axpy(1, sum, dst.Data[int(i)*c:][:c])
		}
	}
}

func layOutRowEmbedding(l *room.Layout, n, c int) (vectors kernel.Matrix[float64], values []float64) {
	return kernel.NewMatrix[float64](l, n, c), room.Slice[float64](l, c)
}

// EmbedRowsBytes bounds the memory of EmbedRows for c eigenvectors of n rows, including the result.
func EmbedRowsBytes(n, c int) int64 {
	return room.Measure(func(l *room.Layout) {
		layOutRowEmbedding(l, n, c)
		l.Add(componentBytes * int64(n))
		kernel.NewMatrix[float64](l, n, n)
		l.Add(linalg.SmallestBytes(n, min(c+1, n), linalg.EigenOptions{Filter: &linalg.Filter{}}))
	})
}
