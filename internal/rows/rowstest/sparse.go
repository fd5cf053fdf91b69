package rowstest

import "github.com/ufs-stream/ufs-stream/internal/rows"

// SparseGraph returns the graph whose Laplacian is the given dense matrix.
func SparseGraph(laplacian [][]float64) *rows.Graph {
	g := &rows.Graph{Start: []int{0}}
	for i, row := range laplacian {
		for j, v := range row {
			if i == j {
				v--
			}
			if v != 0 {
				g.Index, g.Value = append(g.Index, int32(j)), append(g.Value, -v)
			}
		}
		g.Start = append(g.Start, len(g.Index))
	}
	return g
}
