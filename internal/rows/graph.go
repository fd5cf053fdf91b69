package rows

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Graph is a sparse symmetric n×n matrix A. Entries Start[i] to Start[i+1]−1 of Value are the values in row i, and the
// same entries of Index their columns, ascending. The Laplacian of the graph is L = I − A, or L = D − A if Degree, the
// diagonal of D, is not nil.
type Graph struct {
	Start  []int
	Index  []int32
	Value  []float64
	Degree []float64
}

// JoinNeighbours returns the graph that connects two rows if one of them is among the nearest rows of the other. The
// parameter `near` contains the neighbours of row 0, then of row 1 and so on, equally many for each of the n rows. The
// values of the graph are squared distances.
func JoinNeighbours(near []Neighbour, n int) *Graph {
	k := len(near) / max(n, 1)
	g := &Graph{Start: make([]int, n+1)}
	for i, o := range near {
		g.Start[i/k+1]++
		g.Start[o.Index+1]++
	}
	for i := range n {
		g.Start[i+1] += g.Start[i]
	}
	edges, next := make([]Neighbour, 2*len(near)), slices.Clone(g.Start)
	for e, o := range near {
		i := e / k
		edges[next[i]], edges[next[o.Index]] = o, Neighbour{int32(i), o.Square}
		next[i]++
		next[o.Index]++
	}
	to := 0
	for i := range n {
		row := edges[g.Start[i]:next[i]]
		slices.SortFunc(row, func(a, b Neighbour) int { return int(a.Index) - int(b.Index) })
		row = slices.CompactFunc(row, func(a, b Neighbour) bool { return a.Index == b.Index })
		g.Start[i] = to
		to += copy(edges[to:], row)
	}
	g.Start[n] = to
	g.Index, g.Value = make([]int32, to), make([]float64, to)
	for e, o := range edges[:to] {
		g.Index[e], g.Value[e] = o.Index, o.Square
	}
	return g
}

// JoinWeights returns the graph of S + Sᵀ with its degrees, for the weights S_ij of each row i on its neighbours j. The
// parameter `weights` has a weight for each element of `near`, which is that of [JoinNeighbours].
func JoinWeights(near []Neighbour, weights []float64, n int) *Graph {
	k, g := len(near)/max(n, 1), JoinNeighbours(near, n)
	weight := func(i, j int) float64 {
		at := slices.IndexFunc(near[i*k:][:k], func(o Neighbour) bool { return int(o.Index) == j })
		if at < 0 {
			return 0
		}
		return weights[i*k+at]
	}
	g.MapValues(func(i, j int, _ float64) float64 { return weight(min(i, j), max(i, j)) + weight(max(i, j), min(i, j)) })
	g.SetDegrees()
	return g
}

// MapValues replaces the value v of every entry (i, j) by to(i, j, v), row after row.
func (g *Graph) MapValues(to func(i, j int, v float64) float64) {
	for i := range len(g.Start) - 1 {
		for e := g.Start[i]; e < g.Start[i+1]; e++ {
			g.Value[e] = to(i, int(g.Index[e]), g.Value[e])
		}
	}
}

// SetDegrees makes L = D − A, D being the diagonal matrix of the row sums of A.
func (g *Graph) SetDegrees() {
	g.Degree = make([]float64, len(g.Start)-1)
	for i := range g.Degree {
		for _, v := range g.Value[g.Start[i]:g.Start[i+1]] {
			g.Degree[i] += v
		}
	}
}

// LaplacianTo computes h rows of the product L·X, beginning with row `first`, and writes them to dst. x contains the
// n×c matrix X. X and the h×c matrix dst are row-major.
func (g *Graph) LaplacianTo(workers int, dst, x []float64, first, h, c int) {
	EachRun(workers, h, func(_, from, to int) {
		for i := from; i < to; i++ {
			row := dst[i*c:][:c]
			copy(row, x[(first+i)*c:])
			if g.Degree != nil {
				for k := range row {
					row[k] *= g.Degree[first+i]
				}
			}
			for e := g.Start[first+i]; e < g.Start[first+i+1]; e++ {
				v := g.Value[e]
				for k, y := range x[int(g.Index[e])*c:][:c] {
					row[k] -= float64(v * y)
				}
			}
		}
	})
}

// WriteLaplacian writes L to the n×n matrix dst, row-major without gaps.
func (g *Graph) WriteLaplacian(dst kernel.Matrix[float64]) {
	clear(dst.Data)
	for i := range dst.Rows {
		for e := g.Start[i]; e < g.Start[i+1]; e++ {
			dst.Data[i*dst.Cols+int(g.Index[e])] = -g.Value[e]
		}
		dst.Data[i*(dst.Cols+1)]++
		if g.Degree != nil {
			dst.Data[i*(dst.Cols+1)] += g.Degree[i] - 1
		}
	}
}

// FindComponents returns the connected components of the graph: lists of rows, each ascending, by falling size. Of two
// components of equal size, the first has the lower row. Entries that are 0 do not connect rows.
func (g *Graph) FindComponents() (parts [][]int32) {
	seen := make([]bool, len(g.Start)-1)
	for first := range seen {
		if seen[first] {
			continue
		}
		seen[first] = true
		part := []int32{int32(first)}
		for at := 0; at < len(part); at++ {
			for e := g.Start[part[at]]; e < g.Start[part[at]+1]; e++ {
				if j := g.Index[e]; g.Value[e] != 0 && !seen[j] {
					seen[j] = true
					part = append(part, j)
				}
			}
		}
		slices.Sort(part)
		parts = append(parts, part)
	}
	slices.SortStableFunc(parts, func(a, b []int32) int { return cmp.Compare(len(b), len(a)) })
	return parts
}
